"""The distribution of a run time: estimated from earlier runs, from a declaration, or from the timeout alone.

Run times vary by factors rather than by sums, so all estimates use logarithms of seconds: a job of a minute and a job
of a day are treated alike.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp, inf, log, sqrt
from statistics import median
from typing import Protocol

from punctual.domain.forecasts.run_history import MIN_RUNS

DRIFT_Z_SCORE = 1.96
"""Standard deviations from which a trend counts as drift. One job in twenty without drift is taken for a drifting one,
which does little harm."""
DECLARED_P95_FACTOR = 1.5
"""The P95 of a run time as a multiple of the declared one."""
MIN_SPREAD = 0.01
"""A run longer than all earlier ones exceeds them by about this share, however alike they were."""
TAIL_DIVISOR = 5
"""One run in this many belongs to a tail."""
MIN_TAIL_GAPS = 2
NORMAL_P95 = 1.645
"""The P95 of a normal distribution, in standard deviations."""
MAX_LOG_SECONDS = 700.0
"""The largest argument of ``exp`` whose result fits in a float."""


class RunTimeSource(StrEnum):
    """What a run time was estimated from."""

    HISTORY = "history"
    """At least ``MIN_RUNS`` recorded runs."""
    DECLARED = "declared"
    """The job's ``expected_seconds``."""
    TIMEOUT = "timeout"
    """The timeout alone."""


class Distribution(Protocol):
    """A continuous distribution of seconds."""

    def survival(self, seconds: float) -> float:
        """The probability of more than ``seconds``. Unlike its complement, it stays exact when it is small."""

    def inverse_survival(self, probability: float) -> float:
        """The seconds that are exceeded with ``probability``; infinite for 0."""


@dataclass(frozen=True)
class RunTime:
    """Total seconds of a run that has run for ``elapsed`` already and is stopped at ``timeout``."""

    distribution: Distribution
    timeout: float
    elapsed: float = 0.0

    def quantile(self, p: float) -> float:
        """The seconds that the run does not exceed with probability ``p``."""
        return self.quantiles([p])[0]

    def quantiles(self, probabilities: Iterable[float]) -> list[float]:
        """The seconds that the run does not exceed with each of the probabilities."""
        so_far, inverse = self.distribution.survival(self.elapsed), self.distribution.inverse_survival
        return [max(self.elapsed, min(inverse((1 - p) * so_far), self.timeout)) for p in probabilities]

    def end_probability(self, seconds: float) -> float:
        """The probability that the run ends within ``seconds``, by itself or by its timeout."""
        if seconds < self.elapsed:
            return 0.0
        if seconds >= self.timeout:
            return 1.0
        return 1 - self.distribution.survival(seconds) / self.distribution.survival(self.elapsed)

    def success_probability(self, seconds: float) -> float:
        """The probability that the run ends within ``seconds`` and is not stopped by its timeout before."""
        limit = min(seconds, self.timeout)
        so_far = self.distribution.survival(self.elapsed)
        return 1 - self.distribution.survival(limit) / so_far if limit >= self.elapsed and so_far > 0 else 0.0

    def given(self, elapsed: float) -> RunTime:
        """The conditional distribution of a run that has run for ``elapsed``: shorter run times are excluded."""
        return replace(self, elapsed=max(self.elapsed, elapsed))

    def scaled(self, share: float) -> RunTime:
        """The run time of this share of the work."""
        return replace(self, distribution=_Scaled(self.distribution, share))


@dataclass(frozen=True)
class _Scaled:
    """All run times multiplied by ``share``."""

    distribution: Distribution
    share: float

    def survival(self, seconds: float) -> float:
        return self.distribution.survival(seconds / self.share)

    def inverse_survival(self, probability: float) -> float:
        return self.share * self.distribution.inverse_survival(probability)


def run_time_of(run_times: Sequence[int], declared: int | None, timeout: int) -> RunTime:
    """Estimate the next run time: from enough recorded runs, else as declared, else anything up to the timeout.

    ``run_times`` are in the order of the runs, newest last: a significant drift is extrapolated to the next run.
    """
    return RunTime(_distribution_of(run_times, declared, timeout), float(timeout))


def run_time_source(run_times: Sequence[int], declared: int | None) -> RunTimeSource:
    """The source that ``run_time_of`` uses for these arguments."""
    if len(run_times) >= MIN_RUNS:
        return RunTimeSource.HISTORY
    return RunTimeSource.DECLARED if declared else RunTimeSource.TIMEOUT


def _distribution_of(run_times: Sequence[int], declared: int | None, timeout: int) -> Distribution:
    if len(run_times) >= MIN_RUNS:
        logs = [log(seconds) for seconds in unrounded(run_times)]
        return Empirical.of(sorted(without_drift(logs) if drifts(run_times) else logs))
    if declared:
        return _LogLogistic(float(declared), log(19) / log(DECLARED_P95_FACTOR))
    return _Uniform(float(timeout))


@dataclass(frozen=True)
class _Uniform:
    """Every run time up to ``longest`` is equally likely."""

    longest: float

    def survival(self, seconds: float) -> float:
        return min(max(1 - seconds / self.longest, 0.0), 1.0) if self.longest > 0 else 0.0

    def inverse_survival(self, probability: float) -> float:
        return self.longest * (1 - probability)


@dataclass(frozen=True)
class _LogLogistic:
    """A log-logistic distribution around the median ``middle``; a higher ``steepness`` makes it narrower.

    Its tail falls off as a power: a run far beyond the median is expected to need a share of its elapsed time more,
    not to end in a moment.
    """

    middle: float
    steepness: float

    def survival(self, seconds: float) -> float:
        return 1 / (1 + (seconds / self.middle) ** self.steepness) if seconds > 0 else 1.0

    def inverse_survival(self, probability: float) -> float:
        return self.middle * (1 / probability - 1) ** (1 / self.steepness) if probability > 0 else inf


@dataclass(frozen=True)
class _Tail:
    """The distance of the next run beyond the outermost one, given that it lies beyond: a Lomax distribution.

    Exact for run times whose logarithms have exponential tails, however few were seen: the gaps between neighbouring
    runs, weighted by rank, are then independent of each other and of the next gap. The outermost gap is left out: one
    outlier shows where the tail begins, not how wide it is.
    """

    gaps: int
    width: float

    @classmethod
    def of(cls, outermost_first: Sequence[float]) -> _Tail:
        gaps = max(MIN_TAIL_GAPS, len(outermost_first) // TAIL_DIVISOR)
        weighted = ((rank + 1) * abs(outermost_first[rank - 1] - outermost_first[rank]) for rank in range(2, gaps + 2))
        return cls(gaps, max(sum(weighted), gaps * MIN_SPREAD))

    def survival(self, distance: float) -> float:
        return float((1 + distance / self.width) ** -self.gaps)

    def inverse_survival(self, probability: float) -> float:
        return self.width * float(probability ** (-1 / self.gaps) - 1)


@dataclass(frozen=True)
class Empirical:
    """The empirical distribution: the next run falls between two neighbours of ``n`` with probability 1 / (n + 1).

    This holds for every distribution, so only the tails need an assumption.
    """

    logs: tuple[float, ...]
    """Logarithms of the seconds, ascending."""
    shorter: _Tail
    longer: _Tail

    @classmethod
    def of(cls, logs: Sequence[float]) -> Empirical:
        return cls(tuple(logs), _Tail.of(logs), _Tail.of(logs[::-1]))

    def survival(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        logs, places, where = self.logs, len(self.logs) + 1, log(seconds)
        if where >= logs[-1]:
            return self.longer.survival(where - logs[-1]) / places
        if where < logs[0]:
            return 1 - self.shorter.survival(logs[0] - where) / places
        rank = bisect_right(logs, where)
        low, high = logs[rank - 1], logs[rank]
        return 1 - (rank + (where - low) / (high - low)) / places

    def inverse_survival(self, probability: float) -> float:
        logs, places = self.logs, len(self.logs) + 1
        if probability <= 0:
            return inf
        from_top = probability * places
        if from_top <= 1:
            return exp(min(logs[-1] + self.longer.inverse_survival(from_top), MAX_LOG_SECONDS))
        place = places - from_top
        if place <= 1:
            return exp(logs[0] - self.shorter.inverse_survival(place)) if place > 0 else 0.0
        rank = min(int(place), len(logs) - 1)  # the difference may have been rounded up to the last place
        low, high = logs[rank - 1], logs[rank]
        return exp(low + (high - low) * (place - rank))


def unrounded(run_times: Sequence[int]) -> list[float]:
    """Undo the rounding to whole seconds: equal runs are spread evenly over the second that they were rounded from."""
    equal = Counter(run_times)
    to_come = dict(equal)
    spread = []
    for seconds in run_times:
        to_come[seconds] -= 1
        low = max(seconds - 0.5, 0.0)
        spread.append(low + (seconds + 0.5 - low) * (to_come[seconds] + 0.5) / equal[seconds])
    return spread


def drifts(run_times: Sequence[float]) -> bool:
    """Whether later runs are significantly longer or shorter than earlier ones: the Mann-Kendall trend test."""
    score = 0
    earlier: list[float] = []
    for seconds in run_times:
        score += bisect_left(earlier, seconds) - (len(earlier) - bisect_right(earlier, seconds))
        insort(earlier, seconds)
    n = len(run_times)
    return abs(score) - 1 > DRIFT_Z_SCORE * sqrt(n * (n - 1) * (2 * n + 5) / 18)


def without_drift(logs: Sequence[float]) -> list[float]:
    """Extrapolate each run to the position of the next one, in the order of the runs.

    The drift is the median slope of all pairs (Theil-Sen). It is an estimate whose error is largest at the extrapolated
    end, so the runs are spread further by as much. Runs on one line all move to one point; a tiny offset keeps them
    distinct.
    """
    n = len(logs)
    slopes = [(b - a) / apart for apart in range(1, n) for a, b in zip(logs, logs[apart:], strict=False)]
    drift = median(slopes)
    moved = [one + drift * (n - i) for i, one in enumerate(logs)]
    middle, wider, offset = median(moved), sqrt(1 + 4 / n), MIN_SPREAD / 10 / n
    ranks = {i: rank for rank, i in enumerate(sorted(range(n), key=moved.__getitem__))}
    return [middle + wider * (one - middle) + offset * (ranks[i] - n // 2) for i, one in enumerate(moved)]
