"""An execution: one due instant of one job, from its planning to its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from punctual.domain.executions.deadline_outlook import Outlook
from punctual.domain.executions.progress import Progress as Progress
from punctual.domain.identity import execution_id, job_of
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.gate import Gate
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import FINAL, Status


class Outcome(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """The task raised something that another attempt may cure."""
    FATAL = "fatal"
    """The task said, or the scheduler knows, that another attempt would not help."""
    TIMED_OUT = "timed_out"
    LOST = "lost"
    """The worker stopped renewing its lease: killed, frozen, or out of the function's own time."""
    PREEMPTED = "preempted"
    """Stopped at a checkpoint to let in one that would have missed its deadline."""
    CANCELLED = "cancelled"
    """It was asked to stop: it did so, or was given up."""
    INTERRUPTED = "interrupted"
    """Its container was told to leave: Spot capacity was taken back, or a person stopped it."""


class Hold(StrEnum):
    """How a running attempt stands, as it learns when it renews its lease."""

    KEPT = "kept"
    STOPPING = "stopping"
    """It was asked to stop."""
    LOST = "lost"
    """Another attempt has taken over, or it was cancelled."""


class Origin(StrEnum):
    """Why there is an execution."""

    SCHEDULE = "schedule"
    """Its job's schedule, or a message of its queue."""
    BACKFILL = "backfill"
    """A person asked for a due instant of the past."""
    RUN = "run"
    """A person asked for it now."""
    RETRY = "retry"
    """A person asked for one that had ended to be done again."""


ASKED_FOR = frozenset({Origin.BACKFILL, Origin.RETRY})
"""These are for an instant of the past, and count from when they were asked for."""


DEPENDENT = frozenset({Origin.SCHEDULE, Origin.BACKFILL})
"""Those that wait for what their job depends on."""

UNCOUNTED = frozenset({Outcome.PREEMPTED, Outcome.INTERRUPTED})
"""Not the task's doing: such an attempt goes on from its checkpoint and does not count against the retry rules."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What went wrong, in words fit for people."""

    type: str
    message: str
    trace: str | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One finished try. ``number`` was its fencing token."""

    number: int
    outcome: Outcome
    started_at: datetime | None
    ended_at: datetime
    worker_id: str | None = None
    error: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a task returned: inline when small, and where it lies in the results bucket if it does."""

    value: Any = None
    location: str | None = None


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Carries all that a worker needs to run it, so that nobody reads the job on the way."""

    job_id: str
    execution_id: str
    owner: str
    task: str
    scheduled_at: datetime
    status: Status
    parameters: dict[str, Any] = field(default_factory=dict)
    lane: Lane = Lane.SHORT
    priority: Priority = Priority.NORMAL
    timeout_seconds: int = 600
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    revision: int = 1
    origin: Origin = Origin.SCHEDULE
    once: bool = False
    """The job has only this execution, or no more after it: when it ends, the job is done."""
    leads: bool = False
    """The last one planned of a recurring job: when it is queued, its successors are planned."""
    delay_seconds: float = 0
    """How much later than its due instant it may run: its job's jitter."""
    gates: tuple[Gate, ...] = ()
    """What it passes on its way in, where only so many may run at once."""
    waits_at: str | None = None
    """The gate that it waits at."""
    turn: str | None = None
    """Its place in line there."""
    woken_at: datetime | None = None
    """When its turn came, if it had to wait."""
    rate_at: datetime | None = None
    """When it may start, where only so many may in a span of time."""
    cancel_at: datetime | None = None
    """It was asked to stop, and has until then to do so by itself."""
    cancel_reason: str | None = None
    covered_by: str | None = None
    """The execution that runs, or ran, in its place."""
    retry_of: str | None = None
    """The execution that it does again."""
    depends_on: tuple[Dependency, ...] = ()
    """What it waits for, as its job said when it was planned."""
    cleared: bool = False
    """Whether all that it waited for has ended as it should."""
    feeds: bool = False
    """Whether others may wait for it: then its end is listened for."""
    window: DataWindow | None = None
    batch: Batch | None = None
    run_arn: str | None = None
    """The state machine run that carries it through the long lane."""
    restarts: int = 0
    """How often another run had to take over from one that stopped."""
    deadline_at: datetime | None = None
    outlook: Outlook | None = None
    """Whether it will make its deadline, as the last look found."""
    check_at: datetime | None = None
    """When to look next; only while it lives and has a deadline ahead."""
    notify: bool = False
    """Whether the job's people want to hear how it ended."""
    reason: str | None = None
    attempt: int = 0
    queued_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    lease_until: datetime | None = None
    worker_id: str | None = None
    progress: Progress | None = None
    progress_at: datetime | None = None
    """When that was told."""
    result: Result | None = None
    error: Failure | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def held(self) -> bool:
        """Whether it must not start yet, for what it depends on."""
        return bool(self.depends_on) and not self.cleared

    @property
    def has_aftermath(self) -> bool:
        """Whether something follows from its end: it is the last of its job, others wait for it, people or forecasts
        want to know how it went, or it has things in AWS that are to be cleared away."""
        followed = self.once or self.feeds or self.notify or self.deadline_at is not None
        return followed or self.lane is Lane.LONG

    def belongs_in(self, gate: str) -> bool:
        """Whether it has business inside a gate: it is on its way or runs, and has to pass there by its rules."""
        on_its_way = self.status not in FINAL and self.status is not Status.SCHEDULED
        return on_its_way and any(one.name == gate for one in self.gates)

    def waits_before(self, gate: str) -> bool:
        """Whether it waits for what it depends on, or at a gate that it has to pass before this one."""
        names = [one.name for one in self.gates]
        before = names[: names.index(gate)] if gate in names else []
        return self.status is Status.WAITING and (self.held or self.waits_at in before)

    @property
    def released_at(self) -> datetime:
        """From when on it may run: its due instant, or for one of the past when it was asked for."""
        if self.origin in ASKED_FOR and self.queued_at is not None:
            return self.queued_at
        return self.scheduled_at + timedelta(seconds=self.delay_seconds)


@dataclass(frozen=True)
class Planned:
    """An execution that has not ended, as much as its replacement has to know of it."""

    execution_id: str
    scheduled_at: datetime
    revision: int
    status: Status
    attempt: int = 0
    origin: Origin = Origin.SCHEDULE
    queued_at: datetime | None = None
    lane: Lane = Lane.SHORT

    @property
    def is_of_an_instant(self) -> bool:
        """Whether its schedule planned it. What several messages bring at one instant has more in its id."""
        own = execution_id(job_of(self.execution_id), self.scheduled_at)
        return self.origin is Origin.SCHEDULE and self.execution_id == own

    @property
    def has_not_started(self) -> bool:
        return self.attempt == 0 and self.status in (Status.SCHEDULED, Status.QUEUED, Status.WAITING)
