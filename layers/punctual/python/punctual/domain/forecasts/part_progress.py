"""The progress of the partitions of a run as its deadline checks have seen it: it shows how uneven partitions are.

A single partition is often checked only once or twice, so the samples of all of them are taken together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from punctual.domain.executions.deadline_outlook import PartSample
from punctual.domain.forecasts.pace import UNEVENNESS_DEVIATION, Point, variation
from punctual.domain.forecasts.partition_forecast import RunningPartition

MAX_SAMPLED_PARTITIONS = 8
"""Of the running partitions: those with the lowest numbers."""
MAX_PARTITION_SAMPLES = 4
MAX_SAMPLES = MAX_SAMPLED_PARTITIONS * MAX_PARTITION_SAMPLES
"""Of all partitions, to bound the stored record. The oldest are dropped first."""
PRIOR_WEIGHT = 0.1
"""How many samples ``UNEVENNESS_DEVIATION`` counts for."""
DOUBT = 1.5
"""The variance that a single sample shows is raised by this share of it, and that of many by less."""


def kept_samples(before: Sequence[PartSample], running: Sequence[RunningPartition]) -> tuple[PartSample, ...]:
    """The samples ``before``, and one of each running partition whose newest sample is old enough.

    The samples of a partition are spread over its run: if there are too many, every second one is dropped.
    """
    sampled = {one.number: one for one in _reporting(running)[:MAX_SAMPLED_PARTITIONS]}
    kept = _by_number(before)
    for number, one in sampled.items():
        kept[number] = _with_sample([sample for sample in kept.pop(number, []) if sample.elapsed < one.elapsed], one)
    return tuple(chain.from_iterable(kept.values()))[-MAX_SAMPLES:]


def unevenness_of(
    samples: Sequence[PartSample], running: Sequence[RunningPartition], ended: Iterable[tuple[int, float]]
) -> float | None:
    """The variance of the time that the work of a partition takes, per share of it.

    Estimated from the samples of the partitions that have ended or report progress; ``None`` without any.
    """
    reporting = _reporting(running)
    latest = {number: (seconds, 1.0) for number, seconds in ended}
    latest |= {one.number: (one.elapsed, one.pace.fraction) for one in reporting if one.pace}
    precision = max((one.pace.precision for one in reporting if one.pace), default=0.0)
    runs = list(_runs(samples, latest))
    count = sum(len(points) - 1 for points in runs)
    if not count:
        return None
    found = sum(variation(points, precision) for points in runs)
    return (PRIOR_WEIGHT * UNEVENNESS_DEVIATION**2 + (1 + DOUBT / count) * max(found, 0.0)) / (PRIOR_WEIGHT + count)


def _runs(samples: Sequence[PartSample], latest: Mapping[int, Point]) -> Iterator[list[Point]]:
    for number, kept in _by_number(samples).items():
        last = latest.get(number)
        points = [(one.elapsed, one.percent / 100) for one in kept if last and one.elapsed < last[0]]
        if last and points:
            yield [*points, last]


def _reporting(running: Sequence[RunningPartition]) -> list[RunningPartition]:
    return sorted((one for one in running if one.pace and one.elapsed > 0), key=lambda one: one.number)


def _with_sample(kept: list[PartSample], one: RunningPartition) -> list[PartSample]:
    assert one.pace is not None
    if kept and one.elapsed - kept[-1].elapsed < one.elapsed / (2 * MAX_PARTITION_SAMPLES):
        return kept
    samples = [*kept, PartSample(one.number, round(one.elapsed), round(100 * one.pace.fraction, 2))]
    return samples if len(samples) <= MAX_PARTITION_SAMPLES else samples[::2]


def _by_number(samples: Iterable[PartSample]) -> dict[int, list[PartSample]]:
    found: dict[int, list[PartSample]] = {}
    for one in samples:
        found.setdefault(one.number, []).append(one)
    return found
