"""When an execution will end, told from how long it ran before, how long it waits, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp, hypot, inf, log, pi, sqrt

from punctual.domain.forecasts.run_time import HIGHEST, NARROWEST, RunTime

SAFE = 0.95
TOLD_TO = 0.01
"""Progress may be off by a point in a hundred: many tasks tell it in whole ones, and what is all done is not over."""
WANDERS = 0.1
"""What remains goes faster or slower than what was done, by about this share."""
LATELY = 0.05
"""Of the run: so much should have been done since the earlier point for it to count half."""
LEANS = 0.8
"""How far the rate leans to the recent one at most. Who stands still is taken to be five times slower, not to stop."""
DOUBT = 0.25
"""By how much of what it is off from the usual a pace may err, beyond what it always may."""
LOGISTIC = sqrt(3) / pi
"""The scale of a logistic distribution with standard deviation 1."""
NORMAL_P95 = 1.645
HALVINGS = 40
WAITS = 10


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How far a run is, and since when: ``fraction`` of it was done after ``elapsed`` seconds.

    An earlier point tells how fast it goes lately. The more should have been done since, the more it counts: minutes
    of a run of hours say next to nothing.
    """

    fraction: float
    elapsed: float
    earlier_fraction: float | None = None
    earlier_elapsed: float | None = None

    def rate(self, elapsed: float) -> float:
        """The fraction done per second, overall and lately, if nothing was done between the last word and now."""
        overall = self.fraction / elapsed
        if self.earlier_fraction is None or self.earlier_elapsed is None or self.earlier_elapsed >= self.elapsed:
            return overall
        recent = max(self.fraction - self.earlier_fraction, 0.0) / (elapsed - self.earlier_elapsed)
        seen = self.fraction * (1 - self.earlier_elapsed / self.elapsed) / LATELY
        return overall + (recent - overall) * LEANS * seen**2 / (1 + seen**2)


@dataclass(frozen=True)
class Wait:
    """Seconds until it starts."""

    median: float = 0.0
    p95: float = 0.0

    def quantile(self, p: float) -> float:
        """Laplace's distribution, cut off at none: the least that two figures say."""
        scale = max(self.p95 - self.median, 0.0) / log(0.5 / (1 - SAFE))
        return max(self.median + (scale * log(0.5 / (1 - p)) if p > 0.5 else -scale * log(0.5 / p)), 0.0)


@dataclass(frozen=True)
class Forecast:
    median_end: datetime
    p95_end: datetime
    """Nineteen of twenty end before it."""
    probability: float | None
    """Of meeting the deadline, if there is one."""
    latest_safe_start: datetime | None
    """Whoever starts no later meets the deadline in nineteen of twenty cases. ``None`` once it runs."""


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
    """When an execution will end, never before ``now``.

    Until it starts it waits, from ``not_before`` on if that is to come. ``deadline_at`` may lie in the past. What the
    time-out stops has ended, too, but the probability is of success.
    """
    if started_at is None:
        since, rest = max(now, not_before), _after(wait, run_time)
    else:
        since, rest = now, remaining(run_time, max((now - started_at).total_seconds(), 0.0), pace)
    return Forecast(
        median_end=since + timedelta(seconds=rest.quantile(0.5)),
        p95_end=since + timedelta(seconds=rest.quantile(SAFE)),
        probability=_probability(rest, run_time, wait, started_at, deadline_at - since) if deadline_at else None,
        latest_safe_start=deadline_at - timedelta(seconds=run_time.quantile(SAFE))
        if deadline_at and started_at is None
        else None,
    )


def _probability(rest: RunTime, run_time: RunTime, wait: Wait, started_at: datetime | None, left: timedelta) -> float:
    """Of success in the time that is left: what a time-out stops has ended, but not made it."""
    if started_at is not None:
        return rest.succeeds_within(left.total_seconds())
    waits = _waits(wait)
    return sum(run_time.succeeds_within(left.total_seconds() - one) for one in waits) / len(waits)


def remaining(run_time: RunTime, elapsed: float, pace: Pace | None) -> RunTime:
    """How many seconds more a run takes that has taken ``elapsed``.

    Without a pace, what is usual for one that has run so long. With one, that pace, drawn towards what is usual by no
    more than the pace may err: a run that is a little slow so far may not be, one that is far too slow is. The first
    word of progress may err by so much that what is usual stands. What was told a while ago counts as if it were told
    now, so whoever stands still, or falls silent, ends later and later.
    """
    left = max(run_time.timeout - elapsed, 0.0)
    usual = run_time.given(elapsed)
    if pace is None or pace.fraction < TOLD_TO / 10 or elapsed <= 0 or left <= 0:
        return RunTime(_Usual(usual), left)
    undone = max(1 - pace.fraction, TOLD_TO)
    rest = undone / pace.rate(max(elapsed, pace.elapsed))
    spread = hypot(WANDERS, TOLD_TO / pace.fraction, TOLD_TO / undone / 2)
    errs = undone * spread
    varies = max(log(run_time.quantile(SAFE) / run_time.quantile(1 - SAFE)) / (2 * NORMAL_P95), NARROWEST)
    trust = varies**2 / (varies**2 + errs**2)
    off = abs(log((elapsed + rest) / run_time.quantile(0.5)))
    doubt = DOUBT * max(off - hypot(varies, errs), 0.0)
    return RunTime(
        _Paced(
            usual=usual,
            rest=log(rest),
            spread=min(spread * sqrt(trust) + doubt, spread),
            pull=1 - trust,
            pulled_at_most=(1 - trust) * hypot(varies, errs),
        ),
        left,
    )


@dataclass(frozen=True)
class _Usual:
    """What remains of a run that tells nothing."""

    run_time: RunTime

    def beyond(self, seconds: float) -> float:
        elapsed, shape = self.run_time.elapsed, self.run_time.shape
        so_far = shape.beyond(elapsed)
        return shape.beyond(elapsed + seconds) / so_far if so_far > 0 else 0.0

    def at(self, beyond: float) -> float:
        return self.run_time.quantile(1 - beyond) - self.run_time.elapsed


@dataclass(frozen=True, kw_only=True)
class _Paced:
    """What remains of a run that tells how far it is. In logarithms, as run times are."""

    usual: RunTime
    rest: float
    spread: float
    pull: float
    """Of the way from the pace to what is usual, how much it is drawn."""
    pulled_at_most: float

    def beyond(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.at(middle) > seconds else (low, middle)
        return high

    def at(self, beyond: float) -> float:
        if beyond <= 0:
            return inf
        if beyond >= 1:
            return 0.0
        elapsed = self.usual.elapsed
        usual = log(self.usual.quantile(1 - beyond))
        rest = self.rest + self.spread * LOGISTIC * log(1 / beyond - 1)
        paced = log(elapsed + exp(min(rest, HIGHEST)))
        pulled = max(-self.pulled_at_most, min(self.pull * (paced - usual), self.pulled_at_most))
        return max(exp(paced - pulled) - elapsed, 0.0)


def _after(wait: Wait, run_time: RunTime) -> RunTime:
    """From now to the end: the wait, and then the run."""
    waits = _waits(wait)
    return RunTime(_Delayed(run_time, waits), inf) if waits[-1] > 0 else run_time


def _waits(wait: Wait) -> tuple[float, ...]:
    """Some waits, each as likely as any other, rising."""
    if max(wait.median, wait.p95) <= 0:
        return (0.0,)
    return tuple(wait.quantile((place + 0.5) / WAITS) for place in range(WAITS))


@dataclass(frozen=True)
class _Delayed:
    """A run that begins after one of some waits, each as likely as any other. The two know nothing of each other."""

    run_time: RunTime
    waits: tuple[float, ...]
    """Rising."""

    def beyond(self, seconds: float) -> float:
        if seconds <= 0:
            return 1.0
        return 1 - sum(self.run_time.within(seconds - wait) for wait in self.waits) / len(self.waits)

    def at(self, beyond: float) -> float:
        alone = self.run_time.quantile(1 - beyond)
        low, high = alone + self.waits[0], alone + self.waits[-1]
        while high - low > 0.01:
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle) > beyond else (low, middle)
        return high
