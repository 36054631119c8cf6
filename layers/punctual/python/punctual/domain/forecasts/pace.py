"""The pace of a run that reports its progress: how much time is left, and how well that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, sqrt

from punctual.domain.executions.progress import Progress

PROGRESS_PRECISION = 0.01
"""Many tasks report whole percents: the true progress is up to one percentage point more than reported."""
FINE_PRECISION = 0.001
"""The step of tasks that report fractions of a percent."""
ROUNDING_ERROR = 0.24
"""The standard deviation of the true progress, as a share of the precision. A uniform distribution has 0.29. Less is
used, because the logistic distribution of the forecast has longer tails."""
UNEVENNESS_DEVIATION = 0.04
"""For runs without detailed samples. Example: 0.04 means that half of the work takes 50% ± 2% of the run time."""
UNEVENNESS_WEIGHT = 0.1
"""The weight of ``UNEVENNESS_DEVIATION`` as a prior, in samples."""
MAX_UNEVEN_ERROR = 0.5
"""Upper bound of the part of the error that comes from unevenness. A lasting change of the rate looks like great
unevenness, but is not."""
SAMPLES_DOUBT = 1.5
"""Few samples estimate the variance badly, and an estimate that is too low is worse: it is raised by this factor."""
RECENT_FROM = 0.77
"""The recent rate is measured from the newest sample before this share of the elapsed time."""
RECENT_SHARE = 0.05
"""The recent rate has half of its full weight when this share of the work was due, at the overall rate, since the
sample that it is measured from."""
MAX_RECENT_WEIGHT = 0.8
"""Upper bound of the weight of the recent rate. So a run at a standstill is considered at most five times slower than
its overall rate, not stopped."""


Point = tuple[float, float]
"""Elapsed seconds, and the fraction that was done then."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The progress of a run: ``fraction`` of it was done after ``elapsed`` seconds.

    Earlier samples show how uneven the run is, and its recent rate. The weight of the recent rate grows with the
    progress that was due since the sample that it is measured from: a few minutes of a run of hours carry almost no
    information.
    """

    fraction: float
    """As reported: rounded down to a multiple of ``precision``."""
    elapsed: float
    samples: tuple[Point, ...] = ()
    """Earlier ``elapsed`` and ``fraction``, the oldest first."""
    precision: float = PROGRESS_PRECISION
    unevenness: float | None = None
    """The variance of the time for a share of the work, in shares of the run time, divided by the share. ``None``: it
    is estimated from the samples."""

    @property
    def done(self) -> float:
        """The expected fraction: the reported one is rounded down."""
        return min(self.fraction + self.precision / 2, 1.0)

    @property
    def undone(self) -> float:
        return max(1 - self.done, self.precision / 2)

    def rest(self, elapsed: float) -> float:
        """The remaining seconds, seen from ``elapsed``, assuming no progress since the last report."""
        return self.undone / self._rate(elapsed)

    def error(self) -> float:
        """The standard deviation of the logarithm of the remaining time. ``fraction`` must not be 0."""
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
        """The sample that the recent rate is measured from: the newest that is old enough, else the oldest."""
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
        """``unevenness`` as given, else estimated from the samples, else the default."""
        if self.unevenness is not None:
            return self.unevenness
        if not self.samples or self.samples[-1][1] <= 0:
            return UNEVENNESS_DEVIATION**2
        found = variation(self.samples, self.precision)
        known = UNEVENNESS_WEIGHT * UNEVENNESS_DEVIATION**2 + SAMPLES_DOUBT * max(found, 0.0)
        return known / (UNEVENNESS_WEIGHT + len(self.samples))


def variation(points: Sequence[Point], precision: float) -> float:
    """The sum of the squared deviations from the mean rate of the ``points``, less what the rounding explains.

    It may be negative. Its expectation is (number of points - 1) times the variance that ``Pace.unevenness`` states.
    """
    last_elapsed, last_fraction = points[-1]
    if last_elapsed <= 0 or last_fraction <= 0:
        return 0.0
    found = 0.0
    for (started, before), (ended, after) in pairwise([(0.0, 0.0), *points]):
        expected = (ended - started) * last_fraction / last_elapsed
        if expected > 0:
            found += ((after - before - expected) ** 2 - precision**2 / 6) / expected
    return found


def precision_of(progress: Progress) -> float:
    """The step in which a task reports its progress: 1/``total`` if it counts fewer than 1,000 units, else a percent,
    or a tenth of one."""
    if progress.total and progress.done is not None and progress.total < 1 / FINE_PRECISION:
        return 1 / max(progress.total, 2.0)
    return PROGRESS_PRECISION if float(progress.percent).is_integer() else FINE_PRECISION
