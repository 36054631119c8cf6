"""Whether an execution will make its deadline: where that stands, when to look again, and what is told of it.

::

    on_track ⇄ at_risk ⇄ will_miss → missed
        └──────────────────────────────┘     from any of them, once the deadline has passed

The way back asks for more than the way there, so that a forecast at the edge does not go to and fro.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.identity import due_key


class DeadlineState(StrEnum):
    """How it stands with a deadline."""

    ON_TRACK = "on_track"
    AT_RISK = "at_risk"
    """It may miss: the probability of making it has fallen below 80%; above 90% it is on track again."""
    WILL_MISS = "will_miss"
    """It will most likely miss: below 10%; above 25% it is only at risk again."""
    MISSED = "missed"
    """The deadline has passed, and it has not ended."""


IN_DANGER = frozenset({DeadlineState.AT_RISK, DeadlineState.WILL_MISS})

RISKY_BELOW, SAFE_ABOVE = 0.80, 0.90
LOST_BELOW, HOPE_ABOVE = 0.10, 0.25

LOOKS_BEFORE_THE_END = 8
"""The next look comes after this part of the time that is left: looks are denser as the deadline nears."""
BRIEF = timedelta(hours=1)
SHORTEST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=30)

_URGENCY = {
    DeadlineState.MISSED: 0,
    DeadlineState.WILL_MISS: 1,
    DeadlineState.AT_RISK: 2,
    DeadlineState.ON_TRACK: 3,
}


@dataclass(frozen=True)
class Seen:
    """How far an execution was at an instant: two of these tell its pace."""

    at: datetime
    percent: float


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What the last look at an execution found."""

    state: DeadlineState
    probability: float
    """Of making the deadline."""
    median_end: datetime
    p95_end: datetime
    latest_safe_start: datetime | None = None
    """Only before it starts."""
    cause: str | None = None
    """Why it is in danger."""
    remedy: str | None = None
    """What would help."""
    checked_at: datetime
    seen: tuple[Seen, ...] = ()
    """Its progress at the last looks, the newest last."""


def state_after(
    before: DeadlineState | None, probability: float, deadline_at: datetime, now: datetime
) -> DeadlineState:
    """Where a deadline stands, given where it stood."""
    if before is DeadlineState.MISSED or now >= deadline_at:
        return DeadlineState.MISSED
    if probability < LOST_BELOW or (before is DeadlineState.WILL_MISS and probability < HOPE_ABOVE):
        return DeadlineState.WILL_MISS
    if probability < RISKY_BELOW or (before in IN_DANGER and probability < SAFE_ABOVE):
        return DeadlineState.AT_RISK
    return DeadlineState.ON_TRACK


def state_at_end(deadline_at: datetime, ended_at: datetime | None, *, succeeded: bool) -> DeadlineState:
    """Where it stood with a deadline once the execution had ended."""
    in_time = succeeded and ended_at is not None and ended_at <= deadline_at
    return DeadlineState.ON_TRACK if in_time else DeadlineState.MISSED


def first_check(released_at: datetime, deadline_at: datetime, now: datetime) -> datetime:
    """When to look first.

    At once at what is planned well ahead, so that the impossible is known early; at what is due shortly when it is. But
    of jobs that have less than an hour there may be many, and most have ended when the first of it has passed.
    """
    if released_at > now + LONGEST_REST:
        return now
    begins = max(released_at, now)
    left = max(deadline_at - begins, timedelta())
    return begins + left / LOOKS_BEFORE_THE_END if left < BRIEF else begins


def next_check(released_at: datetime, deadline_at: datetime, now: datetime) -> datetime | None:
    """When to look again; ``None`` once the deadline has passed: its end is all that is left to tell."""
    if now >= deadline_at:
        return None
    rest = min(max((deadline_at - now) / LOOKS_BEFORE_THE_END, SHORTEST_REST), LONGEST_REST)
    return min(max(now + rest, released_at), deadline_at)


def danger_of(state: DeadlineState, deadline_at: datetime, execution_id: str) -> str:
    """The place of an execution among all that have a deadline: the worst first, then the nearest deadline. Unique."""
    return f"{_URGENCY[state]}-{due_key(deadline_at)}-{execution_id}"


def dangers_of(state: DeadlineState) -> tuple[str, str]:
    """The first and the last place that an execution in this state can have."""
    return f"{_URGENCY[state]}-", f"{_URGENCY[state]}-~"
