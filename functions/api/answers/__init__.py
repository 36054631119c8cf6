"""Response models of the API. Field descriptions and class docstrings appear in its OpenAPI document."""

from __future__ import annotations

from typing import Any

from bodies import BacklogRule, MisfireRule, RetryRule
from pydantic import BaseModel, Field

from answers.execution_details import Cost, Dependant, TimelineEvent
from answers.page import CountedPage
from answers.percent import Percent
from answers.probability import Probability
from answers.statistics import RecentExecution
from punctual.domain.executions.deadline_outlook import DeadlineResult, DeadlineState
from punctual.domain.executions.execution import Origin, Outcome
from punctual.domain.executions.remedy import CauseCode, RemedyAction
from punctual.domain.jobs.dependency import Condition
from punctual.domain.jobs.job import JobState
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.lane import Lane, Priority
from punctual.domain.schedules.cron import OccurrenceFlag
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.status import Status


class Job(BaseModel):
    job_id: str
    name: str | None
    owner: str
    created_by: str
    state: JobState
    revision: int
    task: str
    parameters: dict[str, Any]
    tags: dict[str, str]
    schedule: dict[str, Any] | None
    lane: Lane
    priority: Priority
    timeout_seconds: int
    retry: RetryRule
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
    backlog: BacklogRule | None = Field(description="Only of a queue job.")
    notify: dict[str, Any]
    dedupe_key: str | None
    depends_on: list[dict[str, Any]]
    created_at: str
    updated_at: str
    paused_at: str | None = Field(description="When the job was paused; null unless it is paused.")
    next_due_at: str | None = Field(
        description="The next due instant; null if there is none. In the response to a submission: the first."
    )
    execution_id: str | None = Field(description="The execution at `next_due_at`.")
    last_execution: RecentExecution | None = Field(None, description="The execution that ended last.")
    recent_executions: list[RecentExecution] | None = Field(
        None, description="The last 20 ended executions, the latest first. Null in the answer to a change."
    )
    success_percent: Percent | None = Field(
        None, description="The percentage that succeeded of the `recent_executions` that ran."
    )
    median_seconds: float | None = Field(None, description="The median run time of the successful executions.")
    p95_seconds: float | None = Field(None, description="The 95th percentile of their run times.")
    running: int | None = Field(None, description="How many of its executions run, or are between two attempts.")
    deadline_state: DeadlineState | None = Field(
        None, description="The worst among its live executions; null if none has a deadline."
    )


class JobPage(CountedPage):
    items: list[Job]


class BatchEntry(BaseModel):
    job_id: str
    name: str | None
    execution_id: str | None = Field(description="The first execution; of an existing job the next one.")
    next_due_at: str | None = Field(description="When it is due; null if that is not by time, or not again.")
    created: bool = Field(True, description="False if a live job with the same `dedupe_key` is returned instead.")


class BatchResponse(BaseModel):
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
    percent: Percent = Field(description="From 0 to 100, rounded to one decimal place.")
    message: str
    done: float | None
    total: float | None


class Result(BaseModel):
    value: Any = None
    location: str | None = None


class Remedy(BaseModel):
    """A step that an operator can take."""

    action: RemedyAction
    target: str = Field(description="A setting, a field of the job, a component, or the id of a job or an execution.")
    effect: str = Field(description="What it achieves, or the value to set.")


class ExecutionDeadline(BaseModel):
    """The deadline of an execution and the forecast of meeting it.

    A list shows the forecast of the last deadline check; a single execution has a current one. After the execution has
    ended, only `at` and `state` are set.
    """

    at: str
    state: DeadlineState | DeadlineResult = Field(description="After the execution has ended: `met` or `missed`.")
    probability: Probability | None = Field(None, description="Probability of meeting the deadline, from 0 to 1.")
    median_end: str | None = Field(None, description="50% of the forecasts end before it.")
    p95_end: str | None = Field(None, description="95% of the forecasts end before it.")
    latest_safe_start: str | None = Field(
        None, description="Latest start that meets the deadline with 95% probability."
    )
    cause: str | None = Field(None, description="Why the deadline is in danger.")
    remedy: str | None = Field(None, description="What to do to meet the deadline.")
    cause_code: CauseCode | None = Field(None, description="The kind of `cause`.")
    remedies: list[Remedy] = Field([], description="The steps of `remedy`, the most promising first.")
    since: str | None = Field(None, description="When the current state began; null before the first check.")
    runs_used: int | None = Field(None, description="The number of past runs that the forecast is based on.")
    checked_at: str | None = Field(None, description="When the forecast was made.")


class Part(BaseModel):
    """A part of an execution in the long lane: the unit that gets a slot and runs in a container."""

    part: str = Field(description="`all`, the number of a partition, or `collect` for the final step.")
    status: Status
    reason: str | None
    kept_from: str | None = Field(description="The earlier execution whose result or checkpoint it keeps.")
    attempt: int
    worker_id: str | None
    lease_until: str | None = Field(description="Of a running attempt: heartbeats renew the lease until then.")
    value: Any = None
    window: DataWindow | None
    latest_start: str = Field(description="When it has to start to meet the deadline.")
    requested_at: str | None = Field(description="When it first requested a slot.")
    started_at: str | None
    ended_at: str | None
    retry_at: str | None
    stopping: str | None = Field(description="Why it was asked to stop, while it still runs.")
    progress: Progress | None
    usual_percent: Percent | None = Field(
        description="While it runs: the percentage that earlier runs had usually done after this time."
    )
    expected_start: str | None = Field(
        description="Of a partitioned execution, unless this part has ended; now, if it holds a slot."
    )
    expected_end: str | None
    result: Result
    error: Failure | None
    attempts: list[Attempt]


class WaitingFor(BaseModel):
    what: str = Field(
        description="`time`, `rest`, `rate`, `executions`, `key`, `upstream`, `worker`, `slot`, `capacity` or `resume`."
    )
    detail: str
    until: str | None = Field(description="When the wait ends, or is expected to end; null if unknown.")
    ahead: int | None = Field(description="How many others go first, at a gate at most 200; null if unknown.")
    executions_ahead: list[str] = Field(description="The first 20 executions that go first, as far as they are known.")
    executions: list[str] = Field(description="The executions that have to end first.")
    job_names: dict[str, str] = Field(description="The names of the jobs of these executions, by execution.")
    as_of: str | None = Field(description="When `ahead` was counted; null if just now.")


class Upstream(BaseModel):
    """The current state of an upstream that an execution waits for, or waited for."""

    job_id: str
    job_name: str = Field(
        description="The name by which the task finds its result; of a job without one, that of its task."
    )
    condition: Condition
    execution_id: str | None = Field(description="Null if the upstream job has no execution for the same data window.")
    status: Status | None = Field(description="Null if the upstream execution is not planned yet.")


class Execution(BaseModel):
    execution_id: str
    job_id: str
    job_name: str | None = Field(description="The name of its job when it was planned.")
    tags: dict[str, str] = Field(description="The tags of its job when it was planned.")
    owner: str
    task: str
    parameters: dict[str, Any]
    status: Status
    reason: str | None
    lane: Lane
    priority: Priority
    origin: Origin
    scheduled_at: str
    timezone: str = Field(description="The time zone of the schedule; `UTC` if it has none.")
    queued_at: str | None
    started_at: str | None
    ended_at: str | None
    retry_at: str | None
    attempt: int
    worker_id: str | None
    lease_until: str | None = Field(
        description="Of a running attempt: its worker renews the lease before then, or is considered dead."
    )
    window: DataWindow | None
    progress: Progress | None
    deadline: ExecutionDeadline | None
    result: Result
    error: Failure | None
    attempts: list[Attempt]
    covered_by: str | None = Field(description="Of a skipped execution: the execution that runs, or ran, instead.")
    retry_of: str | None = Field(description="The execution that this one retries.")
    cancel_at: str | None = Field(
        description="The end of the grace period of a running execution that was asked to stop."
    )
    waiting_for: WaitingFor | None = Field(description="Only for a single execution that has not started.")
    events: list[TimelineEvent] | None = Field(
        description="Only for a single execution: its timeline, up to 500 events."
    )
    cost: Cost | None = Field(description="Only for a single execution: until now, or until its end.")
    median_end: str | None = Field(
        description="50% of the forecasts end before it. Only for a single live execution with recorded run times or"
        " `expected_seconds`."
    )
    p95_end: str | None = Field(description="95% of the forecasts end before it.")
    usual_percent: Percent | None = Field(
        description="Only for a single running execution: the percentage that earlier runs had usually done by now."
    )
    dependants: list[Dependant] | None = Field(
        description="Only for a single execution: the first 100 executions that wait, or waited, for it."
    )
    depends_on: list[dict[str, Any]]
    upstreams: list[Upstream] | None = Field(description="Only for a single execution that depends on other jobs.")
    parts: list[Part] | None = Field(description="Only for a single execution of the long lane.")


class RunResponse(BaseModel):
    execution: Execution
    outcome: str = Field(
        description="A forecast: whether it starts, waits or is skipped, and why.", examples=["starts now"]
    )


class ForeseenExecution(BaseModel):
    """An execution that the request would add, remove or run again."""

    execution_id: str
    scheduled_at: str
    note: str | None


class Changes(BaseModel):
    """The result of a dry run: what the request would do. Nothing was written."""

    dry_run: bool = True
    appear: list[ForeseenExecution] = Field(description="New executions: the latest missed instants, and the next ten.")
    vanish: list[ForeseenExecution] = Field(description="Executions that would be cancelled, skipped or removed.")
    repeat: list[ForeseenExecution] = Field(
        description="Executions that would run again, or be replaced under the new rules."
    )
    left_out: int = Field(0, description="How many more there are than the 1,000 that a list has at most.")


class BackfillEntry(BaseModel):
    execution_id: str
    scheduled_at: str
    window: DataWindow | None


class BackfillResponse(BaseModel):
    items: list[BackfillEntry] = Field(description="In the order in which they will run.")


class ExecutionPage(CountedPage):
    items: list[Execution]


class QueuePoint(BaseModel):
    """A queue in an interval of five minutes."""

    at: str = Field(description="The beginning of the interval.")
    depth: int = Field(description="The highest one.")
    arrival_per_minute: float | None
    finished_per_minute: float | None


class QueueHistory(BaseModel):
    points: list[QueuePoint] = Field(description="Of the last 24 hours, oldest first. Intervals may be missing.")
    usual_arrival_per_minute: float | None = Field(
        description="Median of the same hour on the previous seven days; without those, of the last 24 hours."
    )
    usual_finished_per_minute: float | None


class QueueStatus(BaseModel):
    """A queue of the short lane in the latest sample of the monitor. Null means unknown."""

    queue: str
    depth: int | None = Field(description="Messages that are due and wait for a worker.")
    in_flight: int | None = Field(description="Messages that workers have received and not finished.")
    delayed: int | None = Field(description="Messages that are not due yet.")
    oldest_seconds: float | None = Field(description="Age of the oldest message.")
    arrival_per_minute: float | None
    finished_per_minute: float | None
    capacity_per_minute: float | None = Field(description="Throughput of its workers under full load.")
    drain_minutes: float | None = Field(description="Until the last message that waits now has started.")
    drains: bool | None = Field(description="Whether the arrival rate is below the capacity.")
    minutes_until_breach: float | None = Field(description="Until a limit is reached at current rates; null if never.")
    limit_minutes: int
    limit_messages: int
    history: QueueHistory | None = Field(None, description="Only for a single queue, and with `history=true`.")


class SlotUsage(BaseModel):
    """The capacity of the long lane and its current use."""

    tasks: int
    vcpus: float
    taken_tasks: int
    taken_vcpus: float
    waiting_tasks: int = Field(description="Parts that wait for a slot.")


class LogLine(BaseModel):
    at: str = Field(description="When the line was written.")
    level: str
    attempt: int
    part: str | None = Field(description="In the long lane: the part that wrote it.")
    message: str
    fields: dict[str, Any]


class Logs(BaseModel):
    items: list[LogLine]
    before: str | None = Field(description="The cursor of the lines before these; null at the beginning of the log.")
    after: str = Field(description="The cursor of the lines after these, including lines that are not written yet.")
    total: int = Field(description="The number of lines in the log, from the requested level up.")
    complete: bool = Field(description="The execution has ended, and no line follows.")


class Instant(BaseModel):
    at: str | None = Field(description="Null if the occurrence is skipped.")
    local: str = Field(description="The local time that the schedule names.")
    flag: OccurrenceFlag | None = Field(
        description="At a clock change: `shifted`, `skipped` or `repeated`. On a skipped date: `moved`, or `excluded`,"
        " which stands for all instants of that date."
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


class GatewayError(BaseModel):
    """An error of API Gateway, before a request reaches Punctual."""

    message: str
