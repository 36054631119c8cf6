"""The forecast of a partitioned execution: its partitions run in waves, as slots and ``at_once`` allow.

A quantile of the end is not a sum of quantiles, so the end is simulated: each scenario draws a run time for every
partition that has not ended, and replays when it gets a slot. The random numbers depend on nothing but the number of
the partition. So the same inputs give the same forecast, and two successive checks differ only because the execution,
or the lane, has changed.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import repeat
from math import erfc, exp, log, sqrt
from statistics import NormalDist, median
from typing import TypeVar

from punctual.domain.forecasts.forecast import LOGISTIC_SCALE, NO_WAIT, Wait, remaining
from punctual.domain.forecasts.pace import Pace
from punctual.domain.forecasts.partition_times import PartitionTimes
from punctual.domain.forecasts.run_time import NORMAL_P95, RunTime
from punctual.domain.forecasts.slot_simulation import COLLECTOR, Scenario, SlotPlan, end_of, spans_of

D = TypeVar("D")

MAX_SCENARIOS, MIN_SCENARIOS, MAX_DRAWS = 128, 40, 6000
MAX_SECONDS = 10 * 366 * 86_400.0
"""The end of an execution that never gets the slots that it needs."""
OTHERS_SPREAD = log(1.5) / NORMAL_P95
"""The P95 of the run times of other executions is 1.5 times the expected one."""
MAX_USUAL_DEVIATION = 2.0
"""Standard deviations beyond which a run is taken to differ from all earlier ones."""


@dataclass(frozen=True, kw_only=True)
class RunningPartition:
    number: int
    elapsed: float
    """As of the last report."""
    pace: Pace | None = None
    reported_ago: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PendingPartition:
    number: int
    not_before: float = 0.0
    elapsed: float = 0.0
    """How long it ran before it was interrupted, if it resumes from a checkpoint."""


@dataclass(frozen=True, kw_only=True)
class PartitionedWork:
    """What an execution has done, and what it still has to do. Times are seconds, instants count from now."""

    times: PartitionTimes
    ended: Sequence[tuple[int, float]] = ()
    """Number and run time of each partition that has succeeded."""
    running: Sequence[RunningPartition] = ()
    pending: Sequence[PendingPartition] = ()
    """In the order in which they are started."""
    collect: RunTime | None = None
    """The run time of the collector, unless there is none or it has ended."""
    collector_runs: bool = False
    start_delay: float = 0.0
    """How long a container takes to start."""
    wait: Wait = NO_WAIT
    """Added to ``not_before``."""
    has_failed: bool = False
    """Whether a partition has ended without success."""

    def from_scratch(self) -> PartitionedWork:
        """All of the work, before any of it was done."""
        pending = [PendingPartition(number=number) for number in range(len(self.times.sizes))]
        collect = replace(self.collect, elapsed=0.0) if self.collect else None
        return PartitionedWork(times=self.times, pending=pending, collect=collect, start_delay=self.start_delay)


@dataclass(frozen=True)
class SimulatedEnd:
    """The distribution of the end, or of the whole run time, as equally likely samples in seconds."""

    ends: tuple[float, ...]
    """Ascending."""
    successes: tuple[float, ...]
    """Ascending: the ends of the scenarios in which all partitions succeed."""

    def quantile(self, p: float) -> float:
        place = min(max(p * (len(self.ends) + 1) - 1, 0.0), len(self.ends) - 1.0)
        low = int(place)
        high = min(low + 1, len(self.ends) - 1)
        return self.ends[low] + (self.ends[high] - self.ends[low]) * (place - low)

    def success_probability(self, seconds: float) -> float:
        """The probability that the execution succeeds within ``seconds``."""
        return bisect_right(self.successes, seconds) / len(self.ends)

    def survival(self, seconds: float) -> float:
        return 1 - bisect_right(self.ends, seconds) / len(self.ends)

    def inverse_survival(self, probability: float) -> float:
        return self.quantile(1 - probability)


def simulate(work: PartitionedWork, plan: SlotPlan) -> SimulatedEnd:
    """Forecast the end of the execution in the lane of ``plan``."""
    draws = _Draws.of(work)
    ends = [min(end_of(scenario, plan), MAX_SECONDS) for scenario in _scenarios(work, draws)]
    possible = [] if work.has_failed else [end for n, end in enumerate(ends) if n not in draws.stopped]
    successes = [end for end in possible if end < MAX_SECONDS]
    return SimulatedEnd(tuple(sorted(ends)), tuple(sorted(successes)))


def expected_spans(work: PartitionedWork, plan: SlotPlan) -> dict[int, tuple[float, float]]:
    """The expected start and end of each partition that has not ended, by its number, and of the ``COLLECTOR``.

    One simulation with the median of each run time. A part that holds a slot starts at 0.
    """
    draws = _Draws.of(work)
    running = [
        (one.number, max(median(seconds) - one.reported_ago, 0.0))
        for one, seconds in zip(work.running, draws.running, strict=True)
    ]
    pending = [
        (one.not_before + median(draws.wait), median(seconds) + work.start_delay)
        for one, seconds in zip(work.pending, draws.pending, strict=True)
    ]
    collect = median(draws.collect)
    if work.collector_runs:
        return {number: (0.0, end) for number, end in [*running, (COLLECTOR, collect)]}
    scenario = Scenario([end for _, end in running], pending, collect + work.start_delay if work.collect else 0.0)
    spans = spans_of(scenario, plan)
    placed = {number if number == COLLECTOR else work.pending[number].number: span for number, span in spans.items()}
    return {number: (0.0, end) for number, end in running} | placed


@dataclass(frozen=True, kw_only=True)
class _Draws:
    """Random remaining seconds, one per scenario."""

    count: int
    running: list[list[float]]
    """Per running partition."""
    pending: list[list[float]]
    """Per pending partition."""
    stopped: set[int]
    """The scenarios in which the timeout stops a partition."""
    collect: list[float]
    wait: list[float]
    stretch: list[float]

    @classmethod
    def of(cls, work: PartitionedWork) -> _Draws:
        count = max(min(MAX_SCENARIOS, MAX_DRAWS // max(len(work.running) + len(work.pending), 1)), MIN_SCENARIOS)
        model, common = _Model.of(work), _normals("run", count)
        running = [model.draw_running(one, common) for one in work.running]
        pending = [model.draw_pending(one, common) for one in work.pending]
        limits = [model.timeout - one.elapsed for one in work.running]
        limits += [model.timeout - one.elapsed for one in work.pending]
        drawn = list(zip((*running, *pending), limits, strict=True))
        return cls(
            count=count,
            running=[[min(one, limit) for one in seconds] for seconds, limit in drawn[: len(running)]],
            pending=[[min(one, limit) for one in seconds] for seconds, limit in drawn[len(running) :]],
            stopped={n for seconds, limit in drawn for n, one in enumerate(seconds) if one >= limit},
            collect=_draw_collect(work.collect, count),
            wait=_draw_wait(work.wait, count),
            stretch=_stretches(count),
        )


def _draw_wait(wait: Wait, count: int) -> list[float]:
    if wait == NO_WAIT:
        return [0.0] * count
    return [wait.quantile(p) for p in _probabilities("wait", count)]


def _draw_collect(collect: RunTime | None, count: int) -> list[float]:
    if collect is None:
        return [0.0] * count
    return [seconds - collect.elapsed for seconds in collect.quantiles(_probabilities("collect", count))]


def _scenarios(work: PartitionedWork, draws: _Draws) -> Iterator[Scenario]:
    delay, collects = work.start_delay, work.collect is not None
    pending = _by_scenario(
        [
            [(one.not_before + wait, drawn + delay) for drawn, wait in zip(seconds, draws.wait, strict=True)]
            for one, seconds in zip(work.pending, draws.pending, strict=True)
        ],
        draws.count,
    )
    running = _by_scenario(
        [
            [max(drawn - one.reported_ago, 0.0) for drawn in seconds]
            for one, seconds in zip(work.running, draws.running, strict=True)
        ],
        draws.count,
    )
    for held, waiting, collect, stretch in zip(running, pending, draws.collect, draws.stretch, strict=True):
        if work.collector_runs:
            yield Scenario((*held, collect), waiting)
        else:
            yield Scenario(held, waiting, collect + delay if collects else 0.0, stretch)


def _by_scenario(draws: Sequence[Sequence[D]], count: int) -> Iterable[tuple[D, ...]]:
    """Turn the draws of each partition into those of each scenario."""
    return zip(*draws, strict=True) if draws else repeat((), count)


@dataclass(frozen=True)
class _Model:
    """The run times of the partitions of this run, given its ended partitions and the reported progress."""

    times: PartitionTimes
    level: float
    """How much longer than usual this run takes, as far as it is known."""
    common: float
    """The weight of the unknown part of it, in standard deviations of a run time."""
    own: float
    """The weight of what is particular to each partition."""

    @classmethod
    def of(cls, work: PartitionedWork) -> _Model:
        """Estimate the level of this run: the mean of what is known, corrected towards the usual one by its error."""
        times, variance = work.times, work.times.spread**2
        known = list(_known_levels(work))
        weight = sum(one for one, _ in known)
        common, own = times.correlation * variance, (1 - times.correlation) * variance
        if not weight or not variance:
            return cls(times, 1.0, sqrt(times.correlation), sqrt(1 - times.correlation))
        found = sum(one * deviation for one, deviation in known) / weight
        unusual = max(found**2 - MAX_USUAL_DEVIATION**2 * (common + own / weight), 0.0)
        trust = (common + unusual) / (common + unusual + own / weight)
        rest = own / weight / (common + own / weight)
        return cls(times, exp(trust * found), sqrt(times.correlation * rest), sqrt(1 - times.correlation))

    @property
    def timeout(self) -> float:
        return self.times.typical.timeout

    def draw_pending(self, one: PendingPartition, common: Sequence[float]) -> list[float]:
        factor = self.level * self.times.sizes[one.number]
        if one.elapsed:
            return _rest(self._run_time(one.number), one.elapsed, self._mixed(one.number, common))
        table = self._quantiles
        return [factor * seconds for seconds in _interpolated(table, self._mixed(one.number, common))]

    def draw_running(self, one: RunningPartition, common: Sequence[float]) -> list[float]:
        usual, numbers = self._run_time(one.number), self._mixed(one.number, common)
        if one.pace is None:
            return _rest(usual, one.elapsed, numbers)
        rest, scale = remaining(usual, one.elapsed, one.pace), sqrt(self.common**2 + self.own**2)
        return [rest.quantile(_logistic_cdf(z / scale)) for z in numbers]

    @cached_property
    def _quantiles(self) -> list[float]:
        """The quantiles of a usual partition, as if it had no timeout, at the steps of ``TABLE``."""
        return [self.times.typical.distribution.inverse_survival(probability) for probability in TABLE]

    def _run_time(self, number: int) -> RunTime:
        return self.times.typical.scaled(self.level * self.times.sizes[number])

    def _mixed(self, number: int, common: Sequence[float]) -> list[float]:
        own = _normals(f"partition {number}", len(common))
        return [self.common * shared + self.own * alone for shared, alone in zip(common, own, strict=True)]


def _known_levels(work: PartitionedWork) -> list[tuple[float, float]]:
    """For each partition that has ended or reports progress: a weight, and the logarithm of its share of the usual."""
    middle, sizes = work.times.typical.quantile(0.5), work.times.sizes
    known = [(1.0, seconds, number) for number, seconds in work.ended if seconds > 0]
    for one in work.running:
        if one.pace is not None and one.pace.fraction >= one.pace.precision and one.elapsed > 0:
            known.append((one.pace.done, one.elapsed / one.pace.done, one.number))
    return [(weight, log(seconds / sizes[number] / middle)) for weight, seconds, number in known]


def _rest(usual: RunTime, elapsed: float, numbers: Sequence[float]) -> list[float]:
    """The remaining seconds of a partition that has run for ``elapsed``, for each standard normal number."""
    seconds = usual.given(elapsed).quantiles([_cdf(z) for z in numbers])
    return [max(one - elapsed, 0.0) for one in seconds]


def _interpolated(table: Sequence[float], numbers: Iterable[float]) -> Iterator[float]:
    """Interpolate in a table of quantiles, for each standard normal number."""
    last = len(table) - 1.001
    for z in numbers:
        place = min(max((z + TABLE_END) / TABLE_STEP, 0.0), last)
        low = int(place)
        yield table[low] + (table[low + 1] - table[low]) * (place - low)


def _cdf(z: float) -> float:
    return 0.5 * erfc(-z / sqrt(2))


TABLE_STEP, TABLE_END = 0.1, 4.0
TABLE = tuple(_cdf(TABLE_END - TABLE_STEP * step) for step in range(round(2 * TABLE_END / TABLE_STEP) + 1))
"""The probabilities of exceeding equal steps of the standard normal distribution."""


def _logistic_cdf(z: float) -> float:
    """So that the paced remaining time, which is logistic, has the normal distribution of ``z``.

    The end is the latest of several: the longer tail of the logistic distribution would prevail.
    """
    return 1 / (1 + exp(-z / LOGISTIC_SCALE))


@cache
def _normals(name: str, count: int) -> tuple[float, ...]:
    """Evenly spread standard normal numbers in random order: the same for the same name."""
    normal, draw = NormalDist(), random.Random(name)
    numbers = [normal.inv_cdf((place + 0.5) / count) for place in range(count)]
    draw.shuffle(numbers)
    return tuple(numbers)


@cache
def _probabilities(name: str, count: int) -> list[float]:
    """Evenly spread probabilities in random order: the same for the same name."""
    return [_cdf(z) for z in _normals(name, count)]


@cache
def _stretches(count: int) -> list[float]:
    """By how much the run times of other executions differ from the expected ones."""
    return [exp(OTHERS_SPREAD * z) for z in _normals("others", count)]
