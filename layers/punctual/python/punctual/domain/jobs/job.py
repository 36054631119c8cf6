"""A job: what to run, when, under which rules, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.concurrency import Concurrency
from punctual.domain.jobs.deadline import Deadline
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.misfire import Misfire
from punctual.domain.jobs.notify_rule import Notify
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.schedule import Schedule

QUEUE_MEMORY = timedelta(days=4)
"""A queue keeps an order for no longer than this."""
OLD = timedelta(days=1)
"""What is to run so long after its due instant, or later, is noted on its job: ``live_since``."""


class JobState(StrEnum):
    """Whether a job brings forth executions."""

    ACTIVE = "active"
    """Its executions are planned as they come due."""

    PAUSED = "paused"
    """A person stopped it for a while. Nothing is planned; resuming makes up for what went by, as its misfire rule
    says."""

    DONE = "done"
    """It was to run once, and that execution has ended. The settler says so."""

    CANCELLED = "cancelled"
    """Withdrawn by a person, with all that ran of it."""

    DELETED = "deleted"
    """As cancelled, and out of sight. Its history stays until it expires."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A definition. It never changes in place: an edit makes a copy with the next ``revision``."""

    job_id: str
    name: str
    owner: str
    created_by: str
    task: str
    schedule: Schedule
    created_at: datetime
    updated_at: datetime
    parameters: dict[str, Any] = field(default_factory=dict)
    lane: Lane = Lane.SHORT
    priority: Priority = Priority.NORMAL
    timeout_seconds: int = 600
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    deadline: Deadline | None = None
    expected_seconds: int | None = None
    """How long it should take, or each of its partitions, until enough runs have shown it."""
    overlap: Overlap = Overlap.ALLOW
    """What happens when it comes due while it still runs."""
    misfire: Misfire = field(default_factory=Misfire)
    """What becomes of instants that went by."""
    concurrency: Concurrency | None = None
    """How many run at once, or start in a span of time, that share a key."""
    notify: Notify | None = None
    """Of what its people are told; ``None`` for all about its deadline."""
    window: WindowUnit | None = None
    """The calendar unit that an execution is about; without one it is about the time since the one before."""
    batch: Batch | None = None
    """How it runs in the long lane; ``None`` in another."""
    depends_on: tuple[Dependency, ...] = ()
    """What each of its executions waits for."""
    feeds: bool = False
    """Whether a job depends on it, or once did: then the end of each of its executions is listened for."""
    run_times: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """How many seconds its recent runs took, the newest last: the whole ``execution``, and each kind of part."""
    live_since: datetime | None = None
    """The earliest due instant of which something may live although it is old: asked for by a person, or at rest."""
    dedupe_key: str | None = None
    """Of the owner's jobs that live, only this one has it."""
    state: JobState = JobState.ACTIVE
    paused_at: datetime | None = None
    """Since when it is paused, or was for the last time."""
    resumed_at: datetime | None = None
    """When it went on after that, if it did. What was due before that counts as missed."""
    revised_at: datetime | None = None
    """Since when it has its present rules, if it was ever edited."""
    rescheduled_at: datetime | None = None
    """Since when it has its present schedule, if that was ever edited."""
    revision: int = 1

    @property
    def live(self) -> bool:
        return self.state in LIVE

    def next_due_at(self, now: datetime) -> datetime | None:
        """The next instant at which this job will bring forth an execution, as seen at ``now``."""
        return self.schedule.next_after(now) if self.state is JobState.ACTIVE else None

    def has_instant(self, instant: datetime) -> bool:
        """Whether this is one of its schedule's due instants."""
        return self.schedule.next_after(instant - MILLISECOND) == instant

    def planned_until(self, now: datetime) -> datetime:
        """When planning by its schedule came to its end: since a pause there is none."""
        return self.paused_at if self.state is JobState.PAUSED and self.paused_at else now

    def goes_on_after(self, last_planned: datetime | None) -> datetime:
        """From where planning goes on. What was due under another schedule is not made up for."""
        known_since = (self.rescheduled_at or self.created_at) - MILLISECOND
        return max(last_planned or known_since, known_since)

    @property
    def may_wait(self) -> bool:
        """Whether its executions may wait for others, for as long as those take."""
        rules = self.concurrency is not None or self.overlap not in (Overlap.ALLOW, Overlap.SKIP)
        return rules or bool(self.depends_on)

    def waiting_since(self, now: datetime) -> datetime:
        """From when on something of it may still wait: for a slot, or for others, as long as the job exists."""
        may_wait = self.lane is Lane.LONG or self.may_wait
        since = self.created_at if may_wait else max(self.created_at, now - QUEUE_MEMORY - OLD)
        return min(since, self.live_since or since)

    def moved(self, state: JobState, now: datetime) -> Job:
        """As it is once it has been paused, resumed, cancelled or deleted."""
        moved = replace(self, state=state, updated_at=now)
        if state is JobState.PAUSED:
            return replace(moved, paused_at=now)
        return replace(moved, resumed_at=now) if state is JobState.ACTIVE else moved


LIVE = frozenset({JobState.ACTIVE, JobState.PAUSED})
"""A job in one of these brings forth executions, or will."""
GONE = frozenset({JobState.CANCELLED, JobState.DELETED})
"""Nothing of a job in one of these starts any more."""
