"""The run times of an execution's partitions: estimated from earlier runs, partition by partition.

Partitions of one execution are not independent: some are always larger than others, and a week with more data makes all
of them longer. So the estimate has three components: the relative size of each partition, one distribution for all of
them, and the share of its variance that the partitions of a run have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, median

from punctual.domain.forecasts.run_history import MIN_RUNS
from punctual.domain.forecasts.run_time import (
    NORMAL_P95,
    Empirical,
    RunTime,
    RunTimeSource,
    drifts,
    run_time_of,
    run_time_source,
    unrounded,
    without_drift,
)
from punctual.domain.long_lane.part import COLLECT, PARTITION, PARTITIONS

MIN_SIZED_RUNS = 3
"""With fewer recorded runs of as many partitions, all partitions count as equally large."""
UNKNOWN_CORRELATION = 0.5
"""The share of variance in common, if it is unknown. A wrong ``expected_seconds`` is wrong for all partitions."""
UNKNOWN_WEIGHT = 1
"""How many recorded runs ``UNKNOWN_CORRELATION`` counts for."""
MAX_CORRELATION = 0.95
COLLECT_SHARE = 0.1
"""The assumed run time of a collector that was never recorded, as a share of a partition's."""

Runs = list[list[float]]
"""Per run, one number per partition."""


@dataclass(frozen=True)
class PartitionTimes:
    typical: RunTime
    """Of a partition of size 1."""
    sizes: tuple[float, ...]
    """By the number of the partition."""
    correlation: float
    """The share of the variance that the partitions of a run have in common."""
    source: RunTimeSource

    @property
    def spread(self) -> float:
        """The standard deviation of the logarithm of a run time."""
        return log(self.typical.quantile(0.95) / self.typical.quantile(0.05)) / (2 * NORMAL_P95)


def partition_times_of(
    history: Mapping[str, Sequence[int]], count: int, declared: int | None, timeout: int
) -> PartitionTimes:
    """Estimate the run times of ``count`` partitions. ``declared`` and ``timeout`` are those of one partition."""
    seconds, source = history.get(PARTITION, ()), run_time_source(history.get(PARTITION, ()), declared)
    runs = _logs_by_run(history, count)
    if source is not RunTimeSource.HISTORY:
        return PartitionTimes(run_time_of((), declared, timeout), (1.0,) * count, UNKNOWN_CORRELATION, source)
    if len(runs) < MIN_SIZED_RUNS:
        logs = sorted(log(one) for one in unrounded(seconds))
        return PartitionTimes(RunTime(Empirical.of(logs), timeout), (1.0,) * count, UNKNOWN_CORRELATION, source)
    levels = [fmean(run) for run in runs]
    sizes = _log_sizes(runs, levels)
    rests = _without_sizes(runs, levels, sizes)
    if len(runs) >= MIN_RUNS and drifts(levels):
        levels = without_drift(levels)
    logs = sorted(level + rest for level, run in zip(levels, rests, strict=True) for rest in run)
    typical = RunTime(Empirical.of(logs), timeout)
    return PartitionTimes(typical, tuple(map(exp, sizes)), _correlation(levels, rests), source)


def collect_time_of(history: Mapping[str, Sequence[int]], partition: RunTime, timeout: int) -> RunTime:
    """Estimate the run time of the collector: with few recorded runs from their median, else from a partition's."""
    recorded = history.get(COLLECT, ())
    assumed = max(recorded, default=round(COLLECT_SHARE * partition.quantile(0.5)))
    return run_time_of(recorded, max(assumed, 1), timeout)


def _logs_by_run(history: Mapping[str, Sequence[int]], count: int) -> Runs:
    """The logarithms of the recorded run times, run by run, of the complete runs with ``count`` partitions."""
    logs = [log(seconds) for seconds in unrounded(history.get(PARTITION, ()))]
    runs, end = [], len(logs)
    for recorded in reversed(history.get(PARTITIONS, ())):
        if recorded > end:
            break
        if recorded == count:
            runs.append(logs[end - recorded : end])
        end -= recorded
    return runs[::-1]


def _log_sizes(runs: Runs, levels: Sequence[float]) -> list[float]:
    """The logarithm of the relative size of each partition, shrunk towards 0 as far as chance may explain it."""
    distances = [[run[n] - level for run, level in zip(runs, levels, strict=True)] for n in range(len(runs[0]))]
    sizes = [median(one) for one in distances]
    by_chance = fmean(map(_variance, distances)) / len(runs)
    found = fmean(size**2 for size in sizes) - fmean(sizes) ** 2
    share = max(1 - by_chance / found, 0.0) if found > 0 else 0.0
    return [share * size for size in sizes]


def _without_sizes(runs: Runs, levels: Sequence[float], sizes: Sequence[float]) -> Runs:
    """The distance of each partition from the level of its run, beyond its size.

    Sizes and levels were fitted to these very runs, so the distances are widened to those of a run that was not.
    """
    wider = 1 / (1 - 1 / len(runs))
    return [
        [wider * (one - level - size) for one, size in zip(run, sizes, strict=True)]
        for run, level in zip(runs, levels, strict=True)
    ]


def _correlation(levels: Sequence[float], rests: Runs) -> float:
    runs, count = len(rests), len(rests[0])
    own = fmean(rest**2 for run in rests for rest in run)
    common = max(_variance(levels) - own / count, 0.0)
    found = common / (common + own) if common + own else UNKNOWN_CORRELATION
    return min((runs * found + UNKNOWN_WEIGHT * UNKNOWN_CORRELATION) / (runs + UNKNOWN_WEIGHT), MAX_CORRELATION)


def _variance(numbers: Sequence[float]) -> float:
    middle = fmean(numbers)
    return sum((one - middle) ** 2 for one in numbers) / (len(numbers) - 1)
