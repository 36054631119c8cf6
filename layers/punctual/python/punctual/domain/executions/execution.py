"""An execution: one due instant of one job, from its planning to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from punctual.domain.executions.deadline_outlook import DeadlineResult, DeadlineState, Outlook, state_at_end
from punctual.domain.executions.progress import Progress
from punctual.domain.identity import execution_id, job_of
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.gate import OF_JOB, Gate
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.domain.executions.counted_upstream import CountedUpstream
    from punctual.domain.jobs.batch import Batch


class Outcome(StrEnum):
    """How one attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """The task raised an error that a retry may fix."""
    FATAL = "fatal"
    """The task reported, or the scheduler knows, that a retry would not help."""
    TIMED_OUT = "timed_out"
    LOST = "lost"
    """The worker stopped renewing its lease: it was killed, frozen, or reached the Lambda timeout."""
    PREEMPTED = "preempted"
    """Stopped at a checkpoint to free its slot for an execution that would have missed its deadline."""
    CANCELLED = "cancelled"
    """Cancelled: the task stopped by itself, or was terminated after the grace period."""
    INTERRUPTED = "interrupted"
    """The container was asked to stop: AWS reclaimed its Spot capacity, or a user stopped it."""
    NOT_STARTED = "not_started"
    """AWS started no container: it had no capacity, or a quota was used up."""


class LeaseState(StrEnum):
    """The state of a running attempt's lease, as returned by its renewal."""

    KEPT = "kept"
    STOPPING = "stopping"
    """Still held, but the execution was cancelled: the task should stop."""
    LOST = "lost"
    """Another attempt has taken over, or the execution has been cancelled."""


class Origin(StrEnum):
    """Why an execution exists."""

    SCHEDULE = "schedule"
    """The job's schedule, or a message in the job's queue."""
    BACKFILL = "backfill"
    """A user requested a past due instant."""
    RUN = "run"
    """Manual run: a user requested an execution now."""
    RETRY = "retry"
    """Manual retry: a user requested to repeat an ended execution."""


RETROACTIVE_ORIGINS = frozenset({Origin.BACKFILL, Origin.RETRY})
"""Executions for a past instant. Their deadline and waiting time count from the request."""

UPSTREAM_BOUND_ORIGINS = frozenset({Origin.SCHEDULE, Origin.BACKFILL})
"""Executions that wait for the upstreams of their job."""

UNCOUNTED_OUTCOMES = frozenset({Outcome.PREEMPTED, Outcome.INTERRUPTED, Outcome.NOT_STARTED})
"""Not the task's fault: the next attempt resumes from the checkpoint, and the retry policy does not count this one."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error, in a form to show to users."""

    type: str
    message: str
    trace: str | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One finished attempt. ``number`` was its fencing token."""

    number: int
    outcome: Outcome
    started_at: datetime | None
    ended_at: datetime
    worker_id: str | None = None
    error: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """The value that a task returned: inline when small, and its location if it is stored in the results bucket."""

    value: Any = None
    location: str | None = None


MAX_GATE_WAITS = 20


class GateWait(NamedTuple):
    """A wait at a gate that has ended."""

    until: datetime
    reason: str


@dataclass(frozen=True, kw_only=True)
class Execution:
    """One due instant of a job. Contains everything that a worker needs: the worker does not read the job."""

    job_id: str
    execution_id: str
    owner: str
    task: str
    scheduled_at: datetime
    status: Status
    parameters: dict[str, Any] = field(default_factory=dict)
    job_name: str | None = None
    """The name of its job at the time of planning."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The tags of its job at the time of planning."""
    timezone: str = "UTC"
    """The time zone of the schedule at the time of planning."""
    lane: Lane = Lane.SHORT
    priority: Priority = Priority.NORMAL
    timeout_seconds: int = 600
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    revision: int = 1
    origin: Origin = Origin.SCHEDULE
    is_last_of_job: bool = False
    """The job's only or last execution: when it ends, the job is done."""
    is_leader: bool = False
    """Leader: the last planned execution of a recurring job. Queueing it plans its successors."""
    delay_seconds: float = 0
    """Jitter: how long after the due instant its earliest start is."""
    gates: tuple[Gate, ...] = ()
    """The concurrency and rate gates that it has to acquire, in order."""
    waits_at: str | None = None
    """The gate in whose queue it waits."""
    turn: str | None = None
    """Its sort key in that queue."""
    woken_at: datetime | None = None
    """When the gate admitted it, if it had to wait."""
    gate_waits: tuple[GateWait, ...] = ()
    """Its waits at gates that have ended, the latest ``MAX_GATE_WAITS``, oldest first."""
    rate_at: datetime | None = None
    """Its reserved start under a rate limit."""
    cancel_at: datetime | None = None
    """Cancelled: the end of the grace period in which the task may stop by itself."""
    cancel_reason: str | None = None
    stop_requested_at: datetime | None = None
    """Cancelled: when it was asked to stop."""
    covered_by: str | None = None
    """The execution that runs or ran instead of this one."""
    retry_of: str | None = None
    """The execution that this one retries."""
    from_start: bool = False
    """Whether a retry repeats all of the work, instead of keeping what ``retry_of`` has done."""
    request_id: str | None = None
    """The request with an ``Idempotency-Key`` that stored it."""
    depends_on: tuple[Dependency, ...] = ()
    """The upstreams of its job at the time of planning."""
    is_cleared: bool = False
    """Whether all upstreams have met their conditions."""
    upstreams: tuple[CountedUpstream, ...] = ()
    """The upstream executions that met the conditions: the task can read their results."""
    is_upstream: bool = False
    """Whether dependants may wait for it: then its end wakes them."""
    window: DataWindow | None = None
    batch: Batch | None = None
    run_arn: str | None = None
    """The Step Functions execution that runs it in the long lane."""
    restarts: int = 0
    """How often a new state machine run replaced a stopped one."""
    restarted_at: datetime | None = None
    """When the reconciler last detached a stopped run. The parts that it has created remain."""
    deadline_at: datetime | None = None
    outlook: Outlook | None = None
    """The result of the last deadline check."""
    check_at: datetime | None = None
    """The next deadline check. Set only while the execution is live and its deadline has not passed."""
    notify: bool = False
    """Whether the job's ``notify`` rule covers an end without failure. Failures are always examined."""
    reason: str | None = None
    attempt: int = 0
    queued_at: datetime | None = None
    sent_again_at: datetime | None = None
    """When the dispatcher last had its work order sent again, because no worker had claimed it."""
    deferred_at: datetime | None = None
    """Of a message: when a pause of its job deferred it last."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    retry_at: datetime | None = None
    lease_until: datetime | None = None
    worker_id: str | None = None
    progress: Progress | None = None
    progress_at: datetime | None = None
    """When the task reported ``progress``."""
    result: Result | None = None
    error: Failure | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def deadline_state(self) -> DeadlineState | DeadlineResult | None:
        """The state of its last deadline check, or the result after its end; ``None`` without a deadline."""
        if self.deadline_at is None:
            return None
        if self.status in FINAL:
            return state_at_end(self.deadline_at, self.ended_at, succeeded=self.status is Status.SUCCEEDED)
        return self.outlook.state if self.outlook else DeadlineState.ON_TRACK

    @property
    def is_partitioned(self) -> bool:
        return self.batch is not None and self.batch.partitions is not None

    @property
    def has_pending_upstreams(self) -> bool:
        """Whether it has upstreams that have not met their conditions yet. If so, it must not start."""
        return bool(self.depends_on) and not self.is_cleared

    @property
    def needs_follow_up(self) -> bool:
        """Whether its end needs follow-up work, also if it does not fail.

        It may be the last of its job, have dependants, cause a notification, feed the run-time forecast, or leave AWS
        resources to clean up.
        """
        has_followers = self.is_last_of_job or self.is_upstream or self.notify or self.deadline_at is not None
        return has_followers or self.lane is Lane.LONG

    @property
    def continues(self) -> str | None:
        """The execution whose finished partitions and checkpoints it keeps."""
        return None if self.from_start else self.retry_of

    @property
    def may_have_parts(self) -> bool:
        """Whether a state machine run is or was attached to it: then it continues under the rules of its revision."""
        return self.run_arn is not None or self.restarted_at is not None

    def may_hold(self, gate: str) -> bool:
        """Whether it may hold a place at ``gate``, one of its gates.

        It may from when it is queued until it ends. While it waits, it may hold only the gates before the one where it
        waits, and none while it waits for an upstream: otherwise two executions could wait for each other. Between
        attempts it may hold only the gate of its job; in the long lane all of them, because its parts have attempts of
        their own.
        """
        names = [one.name for one in self.gates if one.limit is not None]  # an edit may have left only the rate
        if gate not in names or self.status in FINAL or self.status is Status.SCHEDULED or self.has_pending_upstreams:
            return False
        if self.waits_at is not None:
            return self.waits_at in names and names.index(gate) < names.index(self.waits_at)
        return self.lane is Lane.LONG or self.status is not Status.RETRYING or gate.startswith(OF_JOB)

    def waits_until(self, now: datetime) -> tuple[GateWait, ...]:
        """Its ``gate_waits`` once the gate where it waits has admitted it."""
        return (*self.gate_waits, GateWait(now, self.reason or ""))[-MAX_GATE_WAITS:]

    @property
    def is_deferred(self) -> bool:
        """Whether it is the execution of a message that is kept until its job is resumed."""
        return self.status is Status.SCHEDULED and self.queued_at is not None

    @property
    def earliest_start(self) -> datetime:
        """The earliest start: the due instant plus jitter, or the time of the request for a past instant."""
        if self.origin in RETROACTIVE_ORIGINS and self.queued_at is not None:
            return self.queued_at
        return self.scheduled_at + timedelta(seconds=self.delay_seconds)


@dataclass(frozen=True)
class LiveExecution:
    """The fields of an execution that has not ended which replanning needs."""

    execution_id: str
    scheduled_at: datetime
    revision: int
    status: Status
    attempt: int = 0
    origin: Origin = Origin.SCHEDULE
    queued_at: datetime | None = None
    lane: Lane = Lane.SHORT

    @property
    def is_from_schedule(self) -> bool:
        """Whether it was planned by the schedule. Executions of queue messages have a longer id."""
        scheduled_id = execution_id(job_of(self.execution_id), self.scheduled_at)
        return self.origin is Origin.SCHEDULE and self.execution_id == scheduled_id

    @property
    def is_of_message(self) -> bool:
        """Whether it was stored for a message of a queue job."""
        return self.origin is Origin.SCHEDULE and not self.is_from_schedule

    @property
    def is_deferred(self) -> bool:
        """Whether it is kept until its job is resumed."""
        return self.is_of_message and self.status is Status.SCHEDULED

    @property
    def has_not_started(self) -> bool:
        return self.attempt == 0 and self.status in (Status.SCHEDULED, Status.QUEUED, Status.WAITING)


def as_live(execution: Execution) -> LiveExecution:
    return LiveExecution(
        execution.execution_id,
        execution.scheduled_at,
        execution.revision,
        execution.status,
        execution.attempt,
        execution.origin,
        execution.queued_at,
        execution.lane,
    )
