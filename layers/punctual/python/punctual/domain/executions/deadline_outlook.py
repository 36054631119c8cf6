"""The deadline outlook of an execution: its state, its forecast, and when to check it next.

::

    on_track ⇄ at_risk ⇄ will_miss → missed
        └──────────────────────────────┘     from any state, once the deadline has passed

Each threshold has hysteresis: recovery needs a higher probability than degradation, so a forecast that fluctuates
around a threshold does not flap between two states.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.identity import due_key

if TYPE_CHECKING:
    from punctual.domain.executions.remedy import CauseCode, Remedy


class DeadlineState(StrEnum):
    """Whether an execution is expected to meet its deadline."""

    ON_TRACK = "on_track"
    AT_RISK = "at_risk"
    """May miss: the probability of meeting the deadline fell below 80%. Back on track from 95%."""
    WILL_MISS = "will_miss"
    """Will most likely miss: the probability fell below 10%. Back at risk from 25%."""
    MISSED = "missed"
    """The deadline passed before the execution ended, or it ended without success. Final."""


class DeadlineResult(StrEnum):
    """Whether an execution that has ended met its deadline."""

    MET = "met"
    """It succeeded in time."""
    MISSED = "missed"
    """It ended later, or without success."""


IN_DANGER = frozenset({DeadlineState.AT_RISK, DeadlineState.WILL_MISS})

AT_RISK_BELOW, ON_TRACK_ABOVE = 0.80, 0.95
WILL_MISS_BELOW, AT_RISK_ABOVE = 0.10, 0.25

CHECK_INTERVAL_DIVISOR = 8
"""The next check comes after the remaining time divided by this: checks get denser as the deadline nears."""
SHORT_DEADLINE = timedelta(hours=1)
"""With less time than this to the deadline, the first check is delayed: see ``first_check``."""
MIN_CHECK_INTERVAL, MAX_CHECK_INTERVAL = timedelta(seconds=5), timedelta(minutes=30)

_URGENCY = {
    DeadlineState.MISSED: 0,
    DeadlineState.WILL_MISS: 1,
    DeadlineState.AT_RISK: 2,
    DeadlineState.ON_TRACK: 3,
}


@dataclass(frozen=True)
class ProgressSample:
    """An execution's progress at an instant. Two samples give its rate."""

    at: datetime
    percent: float


@dataclass(frozen=True)
class PartSample:
    """The progress of a partition after it has run for ``elapsed`` seconds."""

    number: int
    elapsed: int
    percent: float


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The result of the last deadline check of an execution."""

    state: DeadlineState
    probability: float
    """Of meeting the deadline."""
    median_end: datetime
    p95_end: datetime
    latest_safe_start: datetime | None = None
    """Set only until the execution starts."""
    cause: str | None = None
    """Why the deadline is at risk."""
    remedy: str | None = None
    """What an operator can do about it."""
    cause_code: CauseCode | None = None
    """The kind of ``cause``."""
    remedies: tuple[Remedy, ...] = ()
    """The steps of ``remedy``, the most promising first."""
    since: datetime | None = None
    """When the current state began; ``None`` if an earlier version stored the outlook."""
    runs_used: int = 0
    """The number of recorded runs that the forecast is based on."""
    checked_at: datetime
    progress_samples: tuple[ProgressSample, ...] = ()
    """Progress samples of the run so far, the newest last."""
    part_samples: tuple[PartSample, ...] = ()
    """Progress samples of the partitions of the run so far, by partition, the newest of each last."""


def state_after(
    before: DeadlineState | None, probability: float, deadline_at: datetime, now: datetime
) -> DeadlineState:
    """Return the state that follows from ``before`` and the forecast ``probability``."""
    if before is DeadlineState.MISSED or now >= deadline_at:
        return DeadlineState.MISSED
    if probability < WILL_MISS_BELOW or (before is DeadlineState.WILL_MISS and probability < AT_RISK_ABOVE):
        return DeadlineState.WILL_MISS
    if probability < AT_RISK_BELOW or (before in IN_DANGER and probability < ON_TRACK_ABOVE):
        return DeadlineState.AT_RISK
    return DeadlineState.ON_TRACK


def state_since(before: Outlook | None, state: DeadlineState, deadline_at: datetime, now: datetime) -> datetime:
    """Return when ``state``, which a check found ``now``, began. A deadline is missed at its instant."""
    if before is not None and before.state is state:
        return before.since or before.checked_at
    return min(deadline_at, now) if state is DeadlineState.MISSED else now


def state_at_end(deadline_at: datetime, ended_at: datetime | None, *, succeeded: bool) -> DeadlineResult:
    """Return the final state of an execution that has ended."""
    in_time = succeeded and ended_at is not None and ended_at <= deadline_at
    return DeadlineResult.MET if in_time else DeadlineResult.MISSED


def first_check(earliest_start: datetime, deadline_at: datetime, now: datetime) -> datetime:
    """Return when to check an execution first.

    Executions planned more than 30 minutes ahead are checked immediately, so that an impossible deadline is known
    early. Others are checked when they are due. With less than an hour to the deadline, the first check is delayed by
    an eighth of that time: there may be many such executions, and most have ended by then.
    """
    if earliest_start > now + MAX_CHECK_INTERVAL:
        return now
    starts_at = max(earliest_start, now)
    left = max(deadline_at - starts_at, timedelta())
    return starts_at + left / CHECK_INTERVAL_DIVISOR if left < SHORT_DEADLINE else starts_at


def next_check(earliest_start: datetime, deadline_at: datetime, now: datetime) -> datetime | None:
    """Return when to check again, at the deadline at the latest; ``None`` once it has passed.

    After the deadline the state is final, and only the end of the execution is still reported.
    """
    if now >= deadline_at:
        return None
    interval = min(max((deadline_at - now) / CHECK_INTERVAL_DIVISOR, MIN_CHECK_INTERVAL), MAX_CHECK_INTERVAL)
    return min(max(now + interval, earliest_start), deadline_at)


def danger_key(state: DeadlineState, deadline_at: datetime, execution_id: str) -> str:
    """Return the sort key among all executions with a deadline: worst state first, then nearest deadline. Unique."""
    return f"{_URGENCY[state]}-{due_key(deadline_at)}-{execution_id}"


BY_URGENCY = tuple(sorted(DeadlineState, key=_URGENCY.__getitem__))
"""The states in the order of ``danger_key``."""


def danger_key_range(
    state: DeadlineState, since: datetime | None = None, until: datetime | None = None
) -> tuple[str, str]:
    """Return the bounds of ``danger_key`` for this state and for deadlines from ``since`` to before ``until``."""
    low, high = due_key(since) if since else "", due_key(until) if until else "~"
    return f"{_URGENCY[state]}-{low}", f"{_URGENCY[state]}-{high}"
