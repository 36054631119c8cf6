"""A job: the task to run, its schedule, its rules and its owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.misfire import Misfire
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.schedule import Schedule

if TYPE_CHECKING:
    from punctual.domain.jobs.backlog_rule import BacklogRule
    from punctual.domain.jobs.batch import Batch
    from punctual.domain.jobs.concurrency import Concurrency
    from punctual.domain.jobs.deadline import Deadline
    from punctual.domain.jobs.notify_rule import Notify

QUEUE_RETENTION = timedelta(days=4)
"""The retention period of the work queues: SQS deletes an older work order."""
LONG_DELAY = timedelta(days=1)
"""An execution that is to run this long or longer after its due instant is recorded on its job in ``live_since``."""


class JobState(StrEnum):
    """Whether executions of a job are planned."""

    ACTIVE = "active"
    """Its executions are planned as they come due."""

    PAUSED = "paused"
    """Suspended by a user. Nothing is planned. Resuming applies the misfire policy to the instants missed
    meanwhile."""

    DONE = "done"
    """All executions that its schedule allows have ended. Set by the planner or the settler."""

    CANCELLED = "cancelled"
    """Cancelled by a user, including its running executions."""

    DELETED = "deleted"
    """Like ``cancelled``, and hidden from lists. Its history is kept until it expires."""


class UniqueField(StrEnum):
    """A field whose value at most one live job of an owner has."""

    NAME = "name"
    DEDUPE_KEY = "dedupe_key"


class UniqueKey(NamedTuple):
    """The value of a unique field: it identifies a live job."""

    owner: str
    field: UniqueField
    value: str


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job definition. Immutable: an edit makes a copy with the next ``revision``."""

    job_id: str
    name: str | None = None
    """Unique among the live jobs of the owner, if given."""
    owner: str
    created_by: str
    task: str
    schedule: Schedule
    created_at: datetime
    updated_at: datetime
    parameters: dict[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    lane: Lane = Lane.SHORT
    priority: Priority = Priority.NORMAL
    timeout_seconds: int = 600
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    deadline: Deadline | None = None
    expected_seconds: int | None = None
    """The estimated run time of an execution, or of each partition, used until enough runs have been recorded."""
    overlap: Overlap = Overlap.ALLOW
    """The policy for an execution that comes due while the previous one still runs."""
    misfire: Misfire = field(default_factory=Misfire)
    """The policy for missed due instants."""
    concurrency: Concurrency | None = None
    """The concurrency and rate limit per key."""
    backlog: BacklogRule | None = None
    """The backlog limits of a queue job."""
    notify: Notify | None = None
    """The events that notifications are sent for; ``None`` for the default rule."""
    window: WindowUnit | None = None
    """The calendar unit of an execution's data window. If ``None``, the window starts at the previous due instant."""
    batch: Batch | None = None
    """The long-lane settings; ``None`` for a short-lane job."""
    depends_on: tuple[Dependency, ...] = ()
    """The upstream jobs that each of its executions waits for."""
    is_upstream: bool = False
    """Whether a job depends on it, or once did. If so, the end of each of its executions is checked for dependants."""
    run_times: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Seconds of its recent runs, the newest last: of the whole ``execution``, and of each kind of part."""
    live_since: datetime | None = None
    """The earliest due instant of old executions that may be live: manual retries, backfills, long retry backoffs."""
    dedupe_key: str | None = None
    """Unique among the live jobs of the owner, if given."""
    state: JobState = JobState.ACTIVE
    paused_at: datetime | None = None
    """When it was last paused."""
    paused_by: str | None = None
    """The bulk operation that paused it last, unless it was edited since."""
    resumed_at: datetime | None = None
    """When it was last resumed. Instants due before that and not planned count as missed."""
    revised_at: datetime | None = None
    """When its rules were last edited; ``None`` if never."""
    rescheduled_at: datetime | None = None
    """When its schedule was last edited; ``None`` if never."""
    schedule_revision: int = 1
    """The revision of that edit. Executions of an earlier revision were planned under another schedule."""
    revision: int = 1

    @property
    def display_name(self) -> str:
        """Its name for people. Its task's, if it has none."""
        return self.name or self.task

    @property
    def unique_keys(self) -> tuple[UniqueKey, ...]:
        """The keys that no other live job may have."""
        values = {UniqueField.DEDUPE_KEY: self.dedupe_key, UniqueField.NAME: self.name}
        return tuple(UniqueKey(self.owner, field, value) for field, value in values.items() if value is not None)

    @property
    def is_live(self) -> bool:
        return self.state in LIVE_STATES

    def next_due_at(self, now: datetime) -> datetime | None:
        """The next instant after ``now`` at which an execution comes due; ``None`` unless the job is active."""
        return self.schedule.next_after(now) if self.state is JobState.ACTIVE else None

    def has_instant(self, instant: datetime) -> bool:
        """Whether ``instant`` is a due instant of its schedule."""
        return self.schedule.next_after(instant - MILLISECOND) == instant

    def planned_until(self, now: datetime) -> datetime:
        """Until when its schedule is planned: ``now``, or the start of the current pause."""
        return self.paused_at if self.state is JobState.PAUSED and self.paused_at else now

    def planning_resumes_after(self, last_planned: datetime | None) -> datetime:
        """The instant after which planning continues. Missed instants of an earlier schedule are not caught up on."""
        schedule_start = self.scheduled_since - MILLISECOND
        return max(last_planned or schedule_start, schedule_start)

    @property
    def scheduled_since(self) -> datetime:
        """Since when the job has its current schedule."""
        return self.rescheduled_at or self.created_at

    @property
    def may_wait(self) -> bool:
        """Whether its executions may wait, without a time limit, for other executions to end."""
        waits_at_gate = self.concurrency is not None or self.overlap not in (Overlap.ALLOW, Overlap.SKIP)
        return waits_at_gate or bool(self.depends_on)

    def waiting_since(self, now: datetime) -> datetime:
        """The earliest due instant whose execution may still be waiting.

        Waiting for a slot of the long lane or for other executions has no time limit, so then it is the creation time.
        Messages of a paused job wait since before the pause, also once it was removed.
        """
        if self.paused_at is not None and (self.resumed_at is None or self.resumed_at <= self.paused_at):
            now = min(now, self.paused_at)
        may_wait = self.lane is Lane.LONG or self.may_wait
        since = self.created_at if may_wait else max(self.created_at, now - QUEUE_RETENTION - LONG_DELAY)
        return min(since, self.live_since or since)

    def with_state(self, state: JobState, now: datetime, paused_by: str | None = None) -> Job:
        """A copy of the job, paused, resumed, cancelled or deleted at ``now``. A bulk operation pauses as itself."""
        changed = replace(self, state=state, updated_at=now)
        if state is JobState.PAUSED:
            return replace(changed, paused_at=now, paused_by=paused_by)
        if state is not JobState.ACTIVE:
            return changed
        resumed = replace(changed, resumed_at=now)
        if self.schedule.kind != "queue" or self.paused_at is None or now - self.paused_at <= LONG_DELAY:
            return resumed
        return replace(resumed, live_since=self.waiting_since(now))  # the messages of a long pause


LIVE_STATES = frozenset({JobState.ACTIVE, JobState.PAUSED})
"""Executions are planned for a job in one of these states, or will be once it is resumed."""
REMOVED_STATES = frozenset({JobState.CANCELLED, JobState.DELETED})
"""Cancelled or deleted: no execution of such a job starts."""
