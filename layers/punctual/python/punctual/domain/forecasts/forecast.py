"""The forecast of an execution's end, from earlier run times, the expected wait and the reported progress."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp, hypot, inf, log, pi, sqrt

from punctual.domain.forecasts.pace import Pace
from punctual.domain.forecasts.run_time import MAX_LOG_SECONDS, MIN_SPREAD, NORMAL_P95, RunTime

SAFE_PROBABILITY = 0.95
MAX_CORRECTION = 2.0
"""The largest correction of a pace towards the usual run time, in standard deviations of its error."""
DEVIATION_DOUBT = 0.25
"""The share of its deviation from the usual run time by which a pace may be wrong, beyond its usual error."""
LOGISTIC_SCALE = sqrt(3) / pi
"""The scale of a logistic distribution with standard deviation 1."""
BISECTION_STEPS = 40
WAIT_SAMPLES = 10


@dataclass(frozen=True)
class Wait:
    """Seconds until an execution starts."""

    median: float = 0.0
    p95: float = 0.0

    def quantile(self, p: float) -> float:
        """The wait not exceeded with probability ``p``: a Laplace distribution through both figures, cut off at 0."""
        scale = max(self.p95 - self.median, 0.0) / log(0.5 / (1 - SAFE_PROBABILITY))
        return max(self.median + (scale * log(0.5 / (1 - p)) if p > 0.5 else -scale * log(0.5 / p)), 0.0)


NO_WAIT = Wait()


@dataclass(frozen=True)
class Forecast:
    median_end: datetime
    p95_end: datetime
    """95% of all executions end before it."""
    probability: float | None
    """Of success by the deadline; ``None`` without a deadline."""
    latest_safe_start: datetime | None
    """A start no later than this meets the deadline with a probability of 95%. ``None`` while running."""


def forecast(
    *,
    now: datetime,
    run_time: RunTime,
    not_before: datetime,
    wait: Wait,
    started_at: datetime | None,
    pace: Pace | None,
    deadline_at: datetime | None,
) -> Forecast:
    """Forecast the end of an execution, never before ``now``.

    An execution that has not started waits for ``wait`` from now on, or from ``not_before`` if that is later.
    ``deadline_at`` may be in the past. A run that its timeout stops counts as ended, but not as a success.
    """
    if started_at is None:
        since, rest = max(now, not_before), _run_after_wait(wait, run_time)
    else:
        since, rest = now, remaining(run_time, max((now - started_at).total_seconds(), 0.0), pace)
    return Forecast(
        median_end=since + timedelta(seconds=rest.quantile(0.5)),
        p95_end=since + timedelta(seconds=rest.quantile(SAFE_PROBABILITY)),
        probability=_probability(rest, run_time, wait, started_at, deadline_at - since) if deadline_at else None,
        latest_safe_start=deadline_at - timedelta(seconds=run_time.quantile(SAFE_PROBABILITY))
        if deadline_at and started_at is None
        else None,
    )


def _probability(rest: RunTime, run_time: RunTime, wait: Wait, started_at: datetime | None, left: timedelta) -> float:
    """The probability of success in the time ``left``. A run that its timeout stops does not count."""
    if started_at is not None:
        return rest.success_probability(left.total_seconds())
    waits = _wait_samples(wait)
    return sum(run_time.success_probability(left.total_seconds() - one) for one in waits) / len(waits)


def remaining(run_time: RunTime, elapsed: float, pace: Pace | None) -> RunTime:
    """The remaining seconds of a run that has run for ``elapsed``.

    Without a pace: the usual remaining time of a run that has run so long. With one: the time at that pace, corrected
    towards the usual one by no more than the error of the pace. A run that seems a little slow may be on time; a run
    that is far too slow is late. The first progress report has such a large error that the usual time prevails. An old
    report is treated as the current progress, so a run that makes or reports no progress ends later and later.
    """
    left = max(run_time.timeout - elapsed, 0.0)
    usual = run_time.given(elapsed)
    if pace is None or pace.fraction < pace.precision or elapsed <= 0 or left <= 0:
        return RunTime(_UsualRest(usual), left)
    rest, spread = pace.rest(max(elapsed, pace.elapsed)), pace.error()
    pace_error = pace.undone * spread
    variation = max(
        log(run_time.quantile(SAFE_PROBABILITY) / run_time.quantile(1 - SAFE_PROBABILITY)) / (2 * NORMAL_P95),
        MIN_SPREAD,
    )
    trust = variation**2 / (variation**2 + pace_error**2)
    deviation = abs(log((elapsed + rest) / run_time.quantile(0.5)))
    doubt = DEVIATION_DOUBT * max(deviation - hypot(variation, pace_error), 0.0)
    return RunTime(
        _PacedRest(
            usual=usual,
            rest=log(rest),
            spread=min(spread * sqrt(trust) + doubt, spread),
            correction=1 - trust,
            max_correction=MAX_CORRECTION * (1 - trust) * hypot(variation, pace_error),
        ),
        left,
    )


@dataclass(frozen=True)
class _UsualRest:
    """The remaining time of a run that reports no progress."""

    run_time: RunTime

    def survival(self, seconds: float) -> float:
        elapsed, whole = self.run_time.elapsed, self.run_time.distribution
        so_far = whole.survival(elapsed)
        return whole.survival(elapsed + seconds) / so_far if so_far > 0 else 0.0

    def inverse_survival(self, probability: float) -> float:
        return self.run_time.quantile(1 - probability) - self.run_time.elapsed


@dataclass(frozen=True, kw_only=True)
class _PacedRest:
    """The remaining time of a run that reports progress. In logarithms, like all run times."""

    usual: RunTime
    rest: float
    spread: float
    correction: float
    """The share of the distance from the paced to the usual run time by which the result is corrected."""
    max_correction: float

    def survival(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTION_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.inverse_survival(middle) > seconds else (low, middle)
        return high

    def inverse_survival(self, probability: float) -> float:
        if probability <= 0:
            return inf
        if probability >= 1:
            return 0.0
        elapsed = self.usual.elapsed
        usual = log(self.usual.quantile(1 - probability))
        rest = self.rest + self.spread * LOGISTIC_SCALE * log(1 / probability - 1)
        paced = log(elapsed + exp(min(rest, MAX_LOG_SECONDS)))
        corrected = max(-self.max_correction, min(self.correction * (paced - usual), self.max_correction))
        return max(exp(paced - corrected) - elapsed, 0.0)


def _run_after_wait(wait: Wait, run_time: RunTime) -> RunTime:
    """The time from now to the end: the wait, then the run."""
    waits = _wait_samples(wait)
    return RunTime(_Delayed(run_time, waits), inf) if waits[-1] > 0 else run_time


def _wait_samples(wait: Wait) -> tuple[float, ...]:
    """Equally likely waits, ascending."""
    if max(wait.median, wait.p95) <= 0:
        return (0.0,)
    return tuple(wait.quantile((place + 0.5) / WAIT_SAMPLES) for place in range(WAIT_SAMPLES))


@dataclass(frozen=True)
class _Delayed:
    """A run that starts after one of several equally likely waits. Wait and run time are independent."""

    run_time: RunTime
    waits: tuple[float, ...]
    """Ascending."""

    def survival(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        return 1 - sum(self.run_time.end_probability(seconds - wait) for wait in self.waits) / len(self.waits)

    def inverse_survival(self, probability: float) -> float:
        alone = self.run_time.quantile(1 - probability)
        low, high = alone + self.waits[0], alone + self.waits[-1]
        while high - low > 0.01:
            middle = (low + high) / 2
            low, high = (middle, high) if self.survival(middle) > probability else (low, middle)
        return high
