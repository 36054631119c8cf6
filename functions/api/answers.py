"""The shapes that the API gives."""

from __future__ import annotations

from typing import Any

from bodies import MisfireRule, Retry
from pydantic import BaseModel, Field

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.executions.execution import Origin, Outcome
from punctual.domain.jobs.dependency import Condition
from punctual.domain.jobs.job import JobState
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.cron import Oddity
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.status import Status


class Job(BaseModel):
    job_id: str
    name: str
    owner: str
    created_by: str
    state: JobState
    revision: int
    task: str
    parameters: dict[str, Any]
    schedule: dict[str, Any] | None
    lane: Lane
    priority: Priority
    timeout_seconds: int
    retry: Retry
    deadline: dict[str, Any] | None
    window: WindowUnit | None
    resources: dict[str, Any] | None
    container: dict[str, Any] | None
    partitions: dict[str, Any] | None
    preemptible: bool
    expected_seconds: int | None
    overlap: Overlap
    misfire: MisfireRule
    concurrency: dict[str, Any] | None
    notify: dict[str, Any]
    dedupe_key: str | None
    depends_on: list[dict[str, Any]]
    created_at: str
    updated_at: str
    paused_at: str | None = Field(description="Since when it is paused.")
    next_due_at: str | None = Field(description="The next instant at which it is due; null when there is none.")


class JobPage(BaseModel):
    items: list[Job]
    cursor: str | None = Field(description="Give it back as `cursor` for what follows; null at the end.")


class BatchEntry(BaseModel):
    job_id: str
    name: str
    created: bool = Field(True, description="False for a job that had the `dedupe_key` already.")


class BatchAnswer(BaseModel):
    items: list[BatchEntry] = Field(description="In the order of the request.")


class Failure(BaseModel):
    type: str
    message: str
    trace: str | None = None


class Attempt(BaseModel):
    number: int
    outcome: Outcome
    started_at: str | None
    ended_at: str
    worker_id: str | None
    error: Failure | None


class DataWindow(BaseModel):
    start: str
    end: str


class Progress(BaseModel):
    percent: float
    message: str
    done: float | None
    total: float | None


class Result(BaseModel):
    value: Any = None
    location: str | None = None


class ExecutionDeadline(BaseModel):
    """By when, and whether it will be: as the last look found, and for a single execution as it is now.

    Once it has ended, only whether it was.
    """

    at: str
    state: DeadlineState
    probability: float | None = Field(None, description="Of making it.")
    median_end: str | None = None
    p95_end: str | None = Field(None, description="19 of 20 end before it.")
    latest_safe_start: str | None = Field(None, description="Whoever starts no later makes it in 19 of 20 cases.")
    cause: str | None = Field(None, description="Why it is in danger.")
    remedy: str | None = Field(None, description="What would help.")
    checked_at: str | None = None


class Part(BaseModel):
    """A part of an execution in the long lane: what gets a slot and runs in a container."""

    part: str = Field(description="`all`, the number of a partition, or `collect`.")
    status: Status
    reason: str | None
    attempt: int
    worker_id: str | None
    value: Any = None
    window: DataWindow | None
    latest_start: str = Field(description="When it has to start to make the deadline.")
    asked_at: str | None
    started_at: str | None
    ended_at: str | None
    retry_at: str | None
    progress: Progress | None
    result: Result
    error: Failure | None
    attempts: list[Attempt]


class WaitingFor(BaseModel):
    what: str = Field(description="time, rest, rate, executions, key, upstream, worker or slot")
    detail: str
    ahead: int | None = Field(description="How many go first, where that is known.")
    executions: list[str] = Field(description="Those that have to end first, where it is those.")
    as_of: str | None = Field(description="When ahead was counted, where that was not just now.")


class Upstream(BaseModel):
    """What an execution waits for, or waited for, as it stands now."""

    job_id: str
    name: str
    condition: Condition
    execution_id: str | None = Field(description="Null when the job has none that belongs to this one.")
    status: Status | None = Field(description="Null when it is not planned yet.")


class Execution(BaseModel):
    execution_id: str
    job_id: str
    owner: str
    task: str
    parameters: dict[str, Any]
    status: Status
    reason: str | None
    lane: Lane
    priority: Priority
    origin: Origin
    scheduled_at: str
    queued_at: str | None
    started_at: str | None
    ended_at: str | None
    retry_at: str | None
    attempt: int
    worker_id: str | None
    window: DataWindow | None
    progress: Progress | None
    deadline: ExecutionDeadline | None
    result: Result
    error: Failure | None
    attempts: list[Attempt]
    covered_by: str | None = Field(description="The execution that runs, or ran, in its place.")
    retry_of: str | None = Field(description="The execution that it does again.")
    cancel_at: str | None = Field(description="It was asked to stop, and has until then.")
    waiting_for: WaitingFor | None = Field(description="For a single execution that has not started.")

    depends_on: list[dict[str, Any]]
    upstreams: list[Upstream] | None = Field(
        description="Of one that depends on others, when a single execution is asked for."
    )
    parts: list[Part] | None = Field(description="Of the long lane's, when a single execution is asked for.")


class RunAnswer(BaseModel):
    execution: Execution
    outcome: str = Field(description="What its rules do with it, as things stand.", examples=["starts now"])


class ForeseenExecution(BaseModel):
    execution_id: str
    scheduled_at: str
    note: str | None


class Changes(BaseModel):
    """What a dry run found. Nothing was written."""

    dry_run: bool = True
    appear: list[ForeseenExecution] = Field(description="Those whose time has come, the latest, and the next ten.")
    vanish: list[ForeseenExecution]
    repeat: list[ForeseenExecution] = Field(description="Done before, or replaced by themselves under new rules.")
    left_out: int = Field(0, description="How many more there are than the 1,000 that a list has at most.")


class BackfillEntry(BaseModel):
    execution_id: str
    scheduled_at: str
    window: DataWindow | None


class BackfillAnswer(BaseModel):
    items: list[BackfillEntry] = Field(description="In the order in which they are to run.")


class ExecutionPage(BaseModel):
    items: list[Execution]
    cursor: str | None = Field(description="Give it back as `cursor` for what follows; null at the end.")


class Queue(BaseModel):
    """A queue of the short path, as the monitor last saw it. Null is unknown."""

    queue: str
    depth: int | None = Field(description="Due, and waiting for a worker.")
    in_flight: int | None
    delayed: int | None = Field(description="Not due yet.")
    oldest_seconds: float | None
    arrival_per_minute: float | None
    finished_per_minute: float | None
    capacity_per_minute: float | None = Field(description="What its workers can do when there is enough to do.")
    drain_minutes: float | None = Field(description="Until the last of those that wait now has started.")
    drains: bool | None = Field(description="Whether less arrives than can be done.")
    minutes_until_breach: float | None = Field(description="Until a limit is reached at present rates; null if none.")
    limit_minutes: int
    limit_messages: int


class Queues(BaseModel):
    at: str | None = Field(description="When the monitor looked; null before its first look.")
    items: list[Queue]


class Slots(BaseModel):
    """The long lane: what it holds and how much of that is taken."""

    tasks: int
    vcpus: float
    taken_tasks: int
    taken_vcpus: float
    waiting: int


class Deadlines(BaseModel):
    """Live executions that are in danger of missing their deadline, or have."""

    missed: int
    will_miss: int
    at_risk: int


class Moved(BaseModel):
    started: int
    finished: int
    failed: int
    busy_seconds: float


class Overview(BaseModel):
    """All at a glance, as the monitor last saw it."""

    at: str | None
    running: int
    queues: list[Queue]
    slots: Slots
    deadlines: Deadlines
    seconds: float | None = Field(description="The span that `lanes` counts.")
    lanes: dict[str, Moved]
    lateness_p99: float | None = Field(description="Seconds from due to started, of first attempts in that span.")
    failure_rate: float | None = Field(description="Percent of the attempts in that span.")


class LogLine(BaseModel):
    at: str
    level: str | None
    attempt: int | None
    message: Any
    fields: dict[str, Any]


class Logs(BaseModel):
    items: list[LogLine]


class Instant(BaseModel):
    at: str | None = Field(description="Null for one that is skipped.")
    local: str = Field(description="The wall-clock time that the schedule names.")
    flag: Oddity | None = Field(
        description="Where the clocks change: shifted, skipped or repeated. Where a date is skipped: excluded, which"
        " stands for all of that date, or moved."
    )


class Preview(BaseModel):
    items: list[Instant]


class Health(BaseModel):
    status: str
    stage: str


class FieldProblem(BaseModel):
    field: str | None
    message: str


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem]
