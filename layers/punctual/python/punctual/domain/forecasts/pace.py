"""The pace of a run that reports its progress: how much time is left, and how well that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, sqrt

from punctual.domain.executions.progress import Progress

PROGRESS_PRECISION = 0.01
"""Many tasks report whole percents: the true progress lies up to one percentage point above."""
FINE_PRECISION = 0.001
ROUNDING_ERROR = 0.24
"""The standard deviation of the true progress, as a share of the precision. A uniform distribution has 0.29, but it
ends where the logistic distribution of the result has a tail."""
UNEVENNESS = 0.04
"""How uneven runs are whose progress is not known in detail: the standard deviation of the share of the run time that
is spent on one half of the work is half of this."""
UNEVENNESS_WEIGHT = 0.1
"""How many samples of a run's progress ``UNEVENNESS`` counts for."""
MAX_UNEVEN_ERROR = 0.5
"""Bounds the error of a run whose rate has changed for good: it is not that uneven."""
SAMPLES_DOUBT = 1.5
"""A few samples show less than the true unevenness as often as more; its variance is raised by this factor."""
RECENT_FROM = 0.77
RECENT_SHARE = 0.05
"""If this share of the run should have been done since the earlier sample, that sample has half of its full weight."""
MAX_RECENT_WEIGHT = 0.8
"""Upper bound of the weight of the recent rate. A run at a standstill is taken to be five times slower, not stopped."""


Point = tuple[float, float]
"""Elapsed seconds, and the fraction that was done then."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The progress of a run: ``fraction`` of it was done after ``elapsed`` seconds.

    Earlier samples show how uneven the run is, and its recent rate. The weight of the recent rate grows with the
    progress that was due since: a few minutes of a run of hours carry almost no information.
    """

    fraction: float
    """As reported: rounded down to a multiple of ``precision``."""
    elapsed: float
    samples: tuple[Point, ...] = ()
    """Earlier ``elapsed`` and ``fraction``, the oldest first."""
    precision: float = PROGRESS_PRECISION
    unevenness: float | None = None
    """The variance of the time that the work takes, per share of it, if it is known from elsewhere."""

    @property
    def done(self) -> float:
        return min(self.fraction + self.precision / 2, 1.0)

    @property
    def undone(self) -> float:
        return max(1 - self.done, self.precision / 2)

    def rest(self, elapsed: float) -> float:
        """The remaining seconds at the current rate, if no progress was made since the last report."""
        return self.undone / self._rate(elapsed)

    def error(self) -> float:
        """The standard deviation of the logarithm of the remaining time at the current rate."""
        recent = self._recent()
        weight, since = self._recent_weight(), max(self.fraction - recent[1], self.precision) if recent else 1.0
        rate_variance = (1 - weight**2) / self.done + weight**2 / since
        rounding = hypot((1 - weight) / self.fraction + 1 / self.undone, weight * sqrt(2) / since)
        uneven = min(sqrt(self._unevenness() * (rate_variance + 1 / self.undone)), MAX_UNEVEN_ERROR)
        return hypot(uneven, ROUNDING_ERROR * self.precision * rounding)

    def _rate(self, elapsed: float) -> float:
        """Fraction per second, overall and recent combined."""
        overall, recent = self.done / elapsed, self._recent()
        if recent is None:
            return overall
        rate = max(self.fraction - recent[1], 0.0) / (elapsed - recent[0])
        return overall + (rate - overall) * self._recent_weight()

    def _recent(self) -> tuple[float, float] | None:
        """The sample that shows the recent rate: the newest from before the last quarter of the run so far."""
        earlier = [sample for sample in self.samples if sample[0] < self.elapsed]
        old_enough = [sample for sample in earlier if sample[0] <= RECENT_FROM * self.elapsed]
        return old_enough[-1] if old_enough else next(iter(earlier), None)

    def _recent_weight(self) -> float:
        recent = self._recent()
        if recent is None:
            return 0.0
        evidence = self.fraction * (1 - recent[0] / self.elapsed) / RECENT_SHARE
        return MAX_RECENT_WEIGHT * evidence**2 / (1 + evidence**2)

    def _unevenness(self) -> float:
        """The variance of the time that the work takes, per share of it: estimated from the samples."""
        if self.unevenness is not None:
            return self.unevenness
        if not self.samples or self.samples[-1][1] <= 0:
            return UNEVENNESS**2
        found = variation(self.samples, self.precision)
        known = UNEVENNESS_WEIGHT * UNEVENNESS**2 + SAMPLES_DOUBT * max(found, 0.0)
        return known / (UNEVENNESS_WEIGHT + len(self.samples))


def variation(points: Sequence[Point], precision: float) -> float:
    """The squared deviations of a run from the mean rate of its ``points``, less what the rounding explains.

    Its expectation is the variance of the time that the work takes, per share of it, for each point but the last.
    """
    last_elapsed, last_fraction = points[-1]
    if last_elapsed <= 0 or last_fraction <= 0:
        return 0.0
    found = 0.0
    for (started, before), (ended, after) in pairwise([(0.0, 0.0), *points]):
        due = (ended - started) * last_fraction / last_elapsed
        if due > 0:
            found += ((after - before - due) ** 2 - precision**2 / 6) / due
    return found


def precision_of(progress: Progress) -> float:
    """The step in which a task reports its progress: one of ``total``, whole percents, or finer."""
    if progress.total and progress.done is not None and progress.total < 1 / FINE_PRECISION:
        return 1 / max(progress.total, 2.0)
    return PROGRESS_PRECISION if float(progress.percent).is_integer() else FINE_PRECISION
