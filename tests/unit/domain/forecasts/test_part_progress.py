"""How uneven the partitions of a run progress, learned from the samples of their deadline checks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from punctual.domain.executions.deadline_outlook import PartSample
from punctual.domain.forecasts.pace import UNEVENNESS_DEVIATION, Pace
from punctual.domain.forecasts.part_progress import (
    MAX_PARTITION_SAMPLES,
    MAX_SAMPLED_PARTITIONS,
    MAX_SAMPLES,
    kept_samples,
    unevenness_of,
)
from punctual.domain.forecasts.partition_forecast import RunningPartition


def reporting(number: int, elapsed: float, fraction: float) -> RunningPartition:
    return RunningPartition(number=number, elapsed=elapsed, pace=Pace(fraction=fraction, elapsed=elapsed))


def samples_after(running: Sequence[Sequence[RunningPartition]]) -> tuple[PartSample, ...]:
    samples: tuple[PartSample, ...] = ()
    for one in running:
        samples = kept_samples(samples, one)
    return samples


def test_one_sample_of_each_of_several_steady_partitions_shows_that_they_are_steady() -> None:
    samples = [PartSample(number, 1000, 25) for number in range(7)]
    found = unevenness_of(samples, [reporting(number, 2000, 0.5) for number in range(7)], ())
    assert found is not None
    assert found < UNEVENNESS_DEVIATION**2 / 20


def test_partitions_that_progress_by_fits_and_starts_are_uneven() -> None:
    samples = [PartSample(number, 1000, 15 if number % 2 else 35) for number in range(7)]
    found = unevenness_of(samples, [reporting(number, 2000, 0.5) for number in range(7)], ())
    assert found is not None
    assert found > UNEVENNESS_DEVIATION**2


def test_a_partition_that_has_ended_still_shows_how_uneven_it_was() -> None:
    running = [reporting(1, 100, 0.1)]
    even, uneven = (unevenness_of([PartSample(0, 500, percent)], running, [(0, 1000.0)]) for percent in (50, 90))
    assert even is not None
    assert uneven is not None
    assert even < uneven / 100


def test_without_samples_the_unevenness_is_unknown() -> None:
    assert unevenness_of((), [reporting(0, 1000, 0.5)], [(1, 1000.0)]) is None


def test_samples_of_an_interrupted_attempt_are_dropped_when_the_partition_starts_again() -> None:
    samples = [PartSample(0, 1000, 50), PartSample(0, 2000, 90)]
    assert kept_samples(samples, [reporting(0, 500, 0.1)]) == (PartSample(0, 500, 10),)


def test_samples_of_a_partition_are_spread_over_its_run() -> None:
    kept = samples_after([[reporting(0, 60 * minute, minute / 100)] for minute in range(1, 101)])
    assert 2 <= len(kept) <= MAX_PARTITION_SAMPLES
    assert kept[-1].elapsed > 4000
    assert kept[0].elapsed < 3000


def test_the_samples_of_a_run_are_bounded_and_the_oldest_are_dropped_first() -> None:
    checks = [[reporting(number, 100 * (check + 1), 0.1) for check in range(1)] for number in range(3 * MAX_SAMPLES)]
    kept = samples_after(checks)
    assert len(kept) == MAX_SAMPLES
    assert kept[-1].number == 3 * MAX_SAMPLES - 1


def test_only_some_of_many_running_partitions_are_sampled() -> None:
    running = [reporting(number, 1000, 0.5) for number in range(100)]
    assert len(kept_samples((), running)) == MAX_SAMPLED_PARTITIONS


@pytest.mark.parametrize("pace", [None, Pace(fraction=0.0, elapsed=0.0)])
def test_a_silent_partition_has_no_samples(pace: Pace | None) -> None:
    assert kept_samples((), [RunningPartition(number=0, elapsed=0.0, pace=pace)]) == ()
