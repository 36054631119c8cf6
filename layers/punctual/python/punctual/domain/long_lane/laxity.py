"""Least-laxity-first admission to the long lane, and the lane's capacity.

Laxity is how long an execution can still wait: deadline minus now minus run time. *Now* is the same for all waiting
parts, so their relative order never changes over time: it is the order of their latest starts, which an index keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES
from punctual.domain.instant import MILLISECOND, to_text
from punctual.domain.lane import Priority

if TYPE_CHECKING:
    from punctual.domain.executions.attempt_decision import AttemptDecision
    from punctual.domain.long_lane.part import Part

IMPLICIT_DEADLINE = {
    Priority.HIGH: timedelta(days=1),
    Priority.NORMAL: timedelta(days=3),
    Priority.LOW: timedelta(days=7),
}
"""The deadline of an execution without one, counted from its earliest start. Prevents starvation."""

PRIORITY_RANK = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}

OVERRUN_FRACTION = 0.1
"""A part that overruns its forecast and reports no progress is assumed to need this fraction of the forecast longer."""

SECOND = timedelta(seconds=1)


class SlotResult(StrEnum):
    """The result of granting a slot by compare-and-swap."""

    GRANTED = "granted"
    NOT_WAITING = "not_waiting"
    """The part no longer waits: another admission granted it a slot, or it was cancelled."""
    CONTENDED = "contended"
    """The lane's occupancy has changed since it was read: read it again and retry."""


@dataclass(frozen=True)
class Occupancy:
    """How much of the lane is in use."""

    tasks: int = 0
    cpu: int = 0
    """In ECS CPU units: 1024 are one vCPU."""
    next_start: datetime | None = None
    """The next free start time, as paced by ``pace``."""

    def plus(self, cpu: int, next_start: datetime | None = None) -> Occupancy:
        """Return the occupancy with one more container."""
        return Occupancy(self.tasks + 1, self.cpu + cpu, next_start or self.next_start)

    def minus(self, cpu: int) -> Occupancy:
        """Return the occupancy with one container less."""
        return Occupancy(self.tasks - 1, self.cpu - cpu, self.next_start)


@dataclass(frozen=True)
class LaneLimits:
    """The capacity of the lane."""

    tasks: int
    cpu: int
    """In ECS CPU units."""
    starts_per_second: int = 1
    """How many containers admission starts per second."""

    def allow(self, occupancy: Occupancy) -> bool:
        """Whether ``occupancy`` is within the limits."""
        return occupancy.tasks <= self.tasks and occupancy.cpu <= self.cpu

    def are_reached_by(self, occupancy: Occupancy) -> bool:
        """Whether the lane is full: not even the smallest container fits."""
        return occupancy.tasks >= self.tasks or occupancy.cpu >= self.cpu


def latest_start(
    deadline_at: datetime | None, earliest_start: datetime, priority: Priority, expected_seconds: int
) -> datetime:
    """Return the latest start that meets the deadline, or the implicit deadline of the priority if there is none."""
    return (deadline_at or earliest_start + IMPLICIT_DEADLINE[priority]) - timedelta(seconds=expected_seconds)


def admission_key(part: Part, requested_at: datetime) -> str:
    """Return the sort key of a waiting part: least laxity, then priority, then earliest request. Unique."""
    fields = (
        to_text(part.latest_start),
        PRIORITY_RANK[part.priority],
        to_text(requested_at),
        part.execution_id,
        part.name,
    )
    return "#".join(map(str, fields))


def time_left(part: Part, now: datetime) -> timedelta:
    """Estimate the remaining run time: the longer of the estimates by elapsed time and by progress.

    After a resume from a checkpoint, the forecast covers only the remaining work but progress still covers all of it.
    The estimate by progress is then too short, and elapsed time decides.
    """
    forecast = timedelta(seconds=part.expected_seconds)
    by_clock = forecast - (now - part.started_at if part.started_at else timedelta())
    by_progress = forecast * (OVERRUN_FRACTION if part.progress is None else 1 - part.progress.percent / 100)
    return max(by_clock, by_progress)


def slack(part: Part, now: datetime) -> timedelta:
    """Return the laxity that a running part would have if preempted now. Without a checkpoint it would start over."""
    if part.checkpoint is None:
        return part.latest_start - now
    return part.latest_start + timedelta(seconds=part.expected_seconds) - time_left(part, now) - now


def with_remaining_work(part: Part, stopped_at: datetime) -> Part:
    """Return a part that stopped at its checkpoint with forecast and latest start reduced to the remaining work."""
    remaining = time_left(part, stopped_at) // SECOND
    deadline = part.latest_start + timedelta(seconds=part.expected_seconds)
    return replace(part, expected_seconds=remaining, latest_start=deadline - timedelta(seconds=remaining))


def after_attempt(part: Part, decision: AttemptDecision) -> Part:
    """Return ``part`` for its next attempt: only the remaining work if it was stopped and has a checkpoint."""
    resumes = decision.attempt.outcome in UNCOUNTED_OUTCOMES and part.checkpoint is not None
    return with_remaining_work(part, decision.attempt.ended_at) if resumes else part


def pace(next_start: datetime | None, now: datetime, starts_per_second: int) -> tuple[datetime, datetime]:
    """Return when the next container may start, and the following ``next_start``.

    At most ``starts_per_second`` containers start in any second. Starts are spaced evenly and rounded up to a whole
    second, because a state machine waits in whole seconds.
    """
    paced = max(next_start or now, now)
    into_second = timedelta(microseconds=paced.microsecond)
    start_at = paced - into_second + SECOND if into_second else paced
    return start_at, paced + MILLISECOND * -(-1000 // starts_per_second)
