"""How long a run will take: a distribution, told from earlier runs, from a declaration, or from nothing.

Run times multiply rather than add up, so all of it is reckoned in logarithms: a job of a minute and one of a day are
treated alike.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from statistics import median
from typing import Protocol

from punctual.domain.forecasts.run_history import FEWEST_RELIED_ON

NO_ACCIDENT = 1.96
"""Standard deviations: of jobs that do not drift, one in twenty is taken for one that does. It does little harm."""
DECLARED_AT_MOST = 1.5
"""Nineteen of twenty runs take no more than this many times what was declared."""
NARROWEST = 0.01
"""However alike the runs were, one that is longer than all of them is longer by about this share."""
TAIL = 5
"""One run in so many belongs to a tail."""
FEWEST_GAPS = 2
HIGHEST = 700.0
"""The logarithm of what a float can hold."""


class Shape(Protocol):
    """Some continuous distribution of seconds."""

    def beyond(self, seconds: float) -> float:
        """The probability of more than so many. Kept instead of that of less because it stays exact when small."""

    def at(self, beyond: float) -> float:
        """The seconds that are exceeded with this probability; infinite for none."""


@dataclass(frozen=True)
class RunTime:
    """How long a run takes in all, in seconds, if it has run for ``elapsed`` already and is stopped at ``timeout``."""

    shape: Shape
    timeout: float
    elapsed: float = 0.0

    def quantile(self, p: float) -> float:
        """The run takes no longer than this with probability ``p``."""
        longest = self.shape.at((1 - p) * self.shape.beyond(self.elapsed))
        return max(self.elapsed, min(longest, self.timeout))

    def within(self, seconds: float) -> float:
        """The probability that the run takes no longer than ``seconds``."""
        if seconds < self.elapsed:
            return 0.0
        if seconds >= self.timeout:
            return 1.0
        return 1 - self.shape.beyond(seconds) / self.shape.beyond(self.elapsed)

    def succeeds_within(self, seconds: float) -> float:
        """The same, and that its time-out does not stop it before."""
        soonest = min(seconds, self.timeout)
        so_far = self.shape.beyond(self.elapsed)
        return 1 - self.shape.beyond(soonest) / so_far if soonest >= self.elapsed and so_far > 0 else 0.0

    def given(self, elapsed: float) -> RunTime:
        """The same once it has run for ``elapsed``: whatever is shorter is out of the question."""
        return replace(self, elapsed=max(self.elapsed, elapsed))

    def of(self, share: float) -> RunTime:
        """The same of a share of the work."""
        return replace(self, shape=_Scaled(self.shape, share))


@dataclass(frozen=True)
class _Scaled:
    """So much of everything."""

    shape: Shape
    share: float

    def beyond(self, seconds: float) -> float:
        return self.shape.beyond(seconds / self.share)

    def at(self, beyond: float) -> float:
        return self.share * self.shape.at(beyond)


def run_time_of(run_times: Sequence[int], declared: int | None, timeout: int) -> RunTime:
    """How long the next run takes: from the runs if there are enough, else as declared, else anything to the time-out.

    The runs are in their order, the newest last: a drift that is no accident is followed to the next one.
    """
    return RunTime(_shape_of(run_times, declared, timeout), float(timeout))


def _shape_of(run_times: Sequence[int], declared: int | None, timeout: int) -> Shape:
    if len(run_times) >= FEWEST_RELIED_ON:
        logs = [log(seconds) for seconds in _unrounded(run_times)]
        return _Ranked.of(sorted(_brought_up_to_date(logs) if _drifts(run_times) else logs))
    if declared:
        return _Around(float(declared), log(19) / log(DECLARED_AT_MOST))
    return _Anything(float(timeout))


@dataclass(frozen=True)
class _Anything:
    """Each second up to the longest is as likely as any other."""

    longest: float

    def beyond(self, seconds: float) -> float:
        return min(max(1 - seconds / self.longest, 0.0), 1.0) if self.longest > 0 else 0.0

    def at(self, beyond: float) -> float:
        return self.longest * (1 - beyond)


@dataclass(frozen=True)
class _Around:
    """As often shorter as longer than ``middle``; the steeper, the closer. A log-logistic distribution.

    Its tail falls off as a power: what has run far beyond the middle is expected to need a share of that again, not
    to be done in a moment.
    """

    middle: float
    steepness: float

    def beyond(self, seconds: float) -> float:
        return 1 / (1 + (seconds / self.middle) ** self.steepness) if seconds > 0 else 1.0

    def at(self, beyond: float) -> float:
        return self.middle * (1 / beyond - 1) ** (1 / self.steepness) if beyond > 0 else inf


@dataclass(frozen=True)
class _Tail:
    """How far beyond the outermost run the next one lies, if it does: as a power of the distance, Lomax's law.

    Exact for run times whose logarithms tail off exponentially, however few have been seen: the gaps between
    neighbouring runs are then independent of each other, and of the gap to come, once weighed by their rank. The
    outermost gap is left out. One outlier says where the tail begins, not how wide it is.
    """

    gaps: int
    width: float

    @classmethod
    def of(cls, outermost_first: Sequence[float]) -> _Tail:
        gaps = max(FEWEST_GAPS, len(outermost_first) // TAIL)
        weighed = ((rank + 1) * abs(outermost_first[rank - 1] - outermost_first[rank]) for rank in range(2, gaps + 2))
        return cls(gaps, max(sum(weighed), gaps * NARROWEST))

    def beyond(self, distance: float) -> float:
        return float((1 + distance / self.width) ** -self.gaps)

    def at(self, beyond: float) -> float:
        return self.width * float(beyond ** (-1 / self.gaps) - 1)


@dataclass(frozen=True)
class _Ranked:
    """As earlier runs were: the next one falls between any two neighbours of ``n`` with probability 1 / (n + 1).

    That holds whatever the distribution, so nothing is assumed of it but in the tails.
    """

    logs: tuple[float, ...]
    """Of the seconds, rising."""
    shorter: _Tail
    longer: _Tail

    @classmethod
    def of(cls, logs: Sequence[float]) -> _Ranked:
        return cls(tuple(logs), _Tail.of(logs), _Tail.of(logs[::-1]))

    def beyond(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        logs, places, where = self.logs, len(self.logs) + 1, log(seconds)
        if where >= logs[-1]:
            return self.longer.beyond(where - logs[-1]) / places
        if where < logs[0]:
            return 1 - self.shorter.beyond(logs[0] - where) / places
        rank = bisect_right(logs, where)
        low, high = logs[rank - 1], logs[rank]
        return 1 - (rank + (where - low) / (high - low)) / places

    def at(self, beyond: float) -> float:
        logs, places = self.logs, len(self.logs) + 1
        if beyond <= 0:
            return inf
        from_top = beyond * places
        if from_top <= 1:
            return exp(min(logs[-1] + self.longer.at(from_top), HIGHEST))
        place = places - from_top
        if place <= 1:
            return exp(logs[0] - self.shorter.at(place)) if place > 0 else 0.0
        rank = min(int(place), len(logs) - 1)  # the difference may have been rounded up to the last place
        low, high = logs[rank - 1], logs[rank]
        return exp(low + (high - low) * (place - rank))


def _unrounded(run_times: Sequence[int]) -> list[float]:
    """Runs are kept in whole seconds: those that are alike are spread over what was rounded to them."""
    alike = Counter(run_times)
    to_come = dict(alike)
    spread = []
    for seconds in run_times:
        to_come[seconds] -= 1
        low = max(seconds - 0.5, 0.0)
        spread.append(low + (seconds + 0.5 - low) * (to_come[seconds] + 0.5) / alike[seconds])
    return spread


def _drifts(run_times: Sequence[int]) -> bool:
    """Whether later runs are longer, or shorter, more often than by chance: the test of Mann and Kendall."""
    score = 0
    earlier: list[int] = []
    for seconds in run_times:
        score += bisect_left(earlier, seconds) - (len(earlier) - bisect_right(earlier, seconds))
        insort(earlier, seconds)
    n = len(run_times)
    return abs(score) - 1 > NO_ACCIDENT * sqrt(n * (n - 1) * (2 * n + 5) / 18)


def _brought_up_to_date(logs: Sequence[float]) -> list[float]:
    """What the runs would have taken if they were the next. Their drift is the median of all pairs': Theil and Sen.

    It is an estimate, and errs most at the end that it is drawn out to: the runs are spread further by as much. Those
    that lay on one line come to lie on one point, and are set apart by a hair.
    """
    n = len(logs)
    slopes = [(b - a) / apart for apart in range(1, n) for a, b in zip(logs, logs[apart:], strict=False)]
    drift = median(slopes)
    moved = sorted(one + drift * (n - i) for i, one in enumerate(logs))
    middle, wider, hair = median(moved), sqrt(1 + 4 / n), NARROWEST / 10 / n
    return [middle + wider * (one - middle) + hair * (rank - n // 2) for rank, one in enumerate(moved)]
