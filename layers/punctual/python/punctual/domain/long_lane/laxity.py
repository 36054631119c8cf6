"""Who goes first in the long lane, and how much of it is taken.

Laxity is how long an execution can still wait: its deadline, less now, less the time it will run. *Now* is the same
for all who wait, so the order among them never changes with time: it is the order of their latest starts, and an index
keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import UNCOUNTED
from punctual.domain.instant import MILLISECOND, to_text
from punctual.domain.lane import Priority

if TYPE_CHECKING:
    from punctual.domain.executions.attempt_decision import AttemptDecision
    from punctual.domain.long_lane.part import Part

PATIENCE = {
    Priority.HIGH: timedelta(days=1),
    Priority.NORMAL: timedelta(days=3),
    Priority.LOW: timedelta(days=7),
}
"""Without a deadline an execution is treated as if it were due this long after its instant, so nothing starves."""

RANK = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}

OVERRUN = 0.1
"""One that runs over its forecast and tells no progress is taken to need this much of the forecast more."""

SECOND = timedelta(seconds=1)


class Grant(StrEnum):
    """What came of giving someone a slot."""

    GIVEN = "given"
    GONE = "gone"
    """It no longer asks: another admission was quicker, or it was withdrawn."""
    CROWDED = "crowded"
    """The lane has changed since it was seen: look again."""


@dataclass(frozen=True)
class Occupancy:
    """How much of the lane is taken."""

    tasks: int = 0
    cpu: int = 0
    """In 1/1024 of a vCPU, as ECS counts."""
    next_start: datetime | None = None
    """Where the pacing of starts has come to."""

    def plus(self, cpu: int, next_start: datetime | None = None) -> Occupancy:
        """With one more."""
        return Occupancy(self.tasks + 1, self.cpu + cpu, next_start or self.next_start)

    def minus(self, cpu: int) -> Occupancy:
        """With one less."""
        return Occupancy(self.tasks - 1, self.cpu - cpu, self.next_start)


@dataclass(frozen=True)
class LaneLimits:
    """How much there is of the lane."""

    tasks: int
    cpu: int
    """In 1/1024 of a vCPU."""
    starts_per_second: int

    def hold(self, occupancy: Occupancy) -> bool:
        """Whether so much fits in."""
        return occupancy.tasks <= self.tasks and occupancy.cpu <= self.cpu

    def filled_by(self, occupancy: Occupancy) -> bool:
        """Whether nothing more fits in, however small."""
        return occupancy.tasks >= self.tasks or occupancy.cpu >= self.cpu


def latest_start(
    deadline_at: datetime | None, released_at: datetime, priority: Priority, expected_seconds: int
) -> datetime:
    """When an execution has to start to make its deadline; without one, the deadline that its patience sets."""
    return (deadline_at or released_at + PATIENCE[priority]) - timedelta(seconds=expected_seconds)


def turn_of(part: Part, asked_at: datetime) -> str:
    """Its place in the order of those who wait: least laxity, then priority, then who asked first. Unique."""
    place = (to_text(part.latest_start), RANK[part.priority], to_text(asked_at), part.execution_id, part.name)
    return "#".join(map(str, place))


def time_left(part: Part, now: datetime) -> timedelta:
    """How long a running part will still run, told by the clock and by its progress, whichever says longer.

    The forecast of one that went on from a checkpoint is of the rest, its progress is of the whole: the clock is
    right then.
    """
    forecast = timedelta(seconds=part.expected_seconds)
    by_clock = forecast - (now - part.started_at if part.started_at else timedelta())
    by_progress = forecast * (OVERRUN if part.progress is None else 1 - part.progress.percent / 100)
    return max(by_clock, by_progress)


def slack(part: Part, now: datetime) -> timedelta:
    """The laxity that a running part would have if it were stopped now: without a checkpoint it starts over."""
    if part.checkpoint is None:
        return part.latest_start - now
    return part.latest_start + timedelta(seconds=part.expected_seconds) - time_left(part, now) - now


def with_the_rest(part: Part, left_at: datetime) -> Part:
    """A part that left at its checkpoint, with the forecast of what remains and the laxity that follows from it."""
    rest = time_left(part, left_at) // SECOND
    due_by = part.latest_start + timedelta(seconds=part.expected_seconds)
    return replace(part, expected_seconds=rest, latest_start=due_by - timedelta(seconds=rest))


def as_it_goes_on(part: Part, decision: AttemptDecision) -> Part:
    """``part`` after an attempt: one that left at a checkpoint has only the rest before it."""
    left_early = decision.attempt.outcome in UNCOUNTED and part.checkpoint is not None
    return with_the_rest(part, decision.attempt.ended_at) if left_early else part


def pace(next_start: datetime | None, now: datetime, starts_per_second: int) -> tuple[datetime, datetime]:
    """When the next container may start, and where that leaves the pacing: at most so many in any second.

    Places are spread evenly over time, and a place counts for the whole second at which it ends, because a state
    machine waits in whole seconds.
    """
    place = max(next_start or now, now)
    into_second = timedelta(microseconds=place.microsecond)
    start_at = place - into_second + SECOND if into_second else place
    return start_at, place + MILLISECOND * -(-1000 // starts_per_second)
