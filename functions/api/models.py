"""The shapes that the API takes and gives. Their meaning is checked in the domain."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from punctual.domain.backfill import Order, Which
from punctual.domain.bounded import LONGEST_JITTER, MOST_RUNS
from punctual.domain.calendar import MOST_DATES, OnSkip
from punctual.domain.concurrency import LONGEST_KEY, MOST_AT_ONCE
from punctual.domain.cron import Fold, Gap, Oddity
from punctual.domain.dependency import MOST_UPSTREAMS, Condition
from punctual.domain.duplicate import OnDuplicate
from punctual.domain.execution import Origin, Outcome
from punctual.domain.job import JobState
from punctual.domain.lane import Lane, Priority
from punctual.domain.limits import (
    BATCH_JOBS,
    LONGEST_LONG_RUN,
    LONGEST_SHORT_RUN,
    USUAL_LONG_RUN,
    USUAL_SHORT_RUN,
)
from punctual.domain.misfire import USUAL_GRACE, Policy
from punctual.domain.notify import Event, Topic
from punctual.domain.outlook import DeadlineState
from punctual.domain.overlap import Overlap
from punctual.domain.status import Status
from punctual.domain.window import WindowUnit


class Strict(BaseModel):
    """Refuses fields that it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Schedule(Strict):
    """When to run: exactly one of `at`, `cron`, `every_seconds` and `queue`."""

    at: str | None = Field(None, description="An instant with an offset or Z.", examples=["2030-01-01T12:00:00Z"])
    cron: str | None = Field(
        None,
        description="Five fields with names, ranges, steps, lists, `L` and `#`, or `@daily` and its family.",
        examples=["0 2 * * SUN"],
    )
    timezone: str | None = Field(None, description="IANA zone for `cron`; UTC if left out.", examples=["Europe/Paris"])
    gap: Gap | None = Field(
        None, description="A local time that does not exist: shifted (default) or skipped.", strict=False
    )
    fold: Fold | None = Field(
        None, description="A local time that happens twice: first (default), last or both.", strict=False
    )
    every_seconds: int | None = Field(
        None, description="A fixed interval, counted from the submission or from `starts_at`.", examples=[60]
    )
    queue: bool | None = Field(None, description="One execution per message on the intake queue.")
    starts_at: str | None = Field(
        None, description="`cron`, `every_seconds`: due no earlier.", examples=["2030-01-01T00:00:00Z"]
    )
    ends_at: str | None = Field(
        None, description="`cron`, `every_seconds`: due no later.", examples=["2030-12-31T23:59:59Z"]
    )
    max_runs: int | None = Field(
        None, ge=1, le=MOST_RUNS, description="`cron`, `every_seconds`: due so often, from the submission on."
    )
    jitter_seconds: int | None = Field(
        None,
        ge=0,
        le=LONGEST_JITTER,
        description="`cron`, `every_seconds`: started up to so much later; the same for the same job and instant.",
    )
    skip: list[str] | None = Field(
        None,
        min_length=1,
        max_length=MOST_DATES,
        description="`cron`, `every_seconds`: local dates on which it does not run, `weekends`, or the names of"
        " calendars, which mean the dates that they have when the schedule is submitted.",
        examples=[["weekends", "2026-12-25"]],
    )
    on_skip: OnSkip | None = Field(
        None,
        strict=False,
        description="What is due on such a date: left out (default), or run at that time of the next that is not.",
    )

    def to_spec(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Retry(Strict):
    """How often and after what rest a failed execution is tried again: exponential backoff with full jitter."""

    max_attempts: int = Field(3, ge=1, le=20)
    backoff_seconds: float = Field(10, ge=0, le=86_400)
    backoff_rate: float = Field(2, ge=1, le=10)
    max_backoff_seconds: float = Field(3600, ge=0, le=86_400)


class DeadlineBy(Strict):
    cron: str
    timezone: str | None = Field(None, description="IANA zone; the schedule's own if left out.")


class Deadline(Strict):
    """By when an execution should be finished: seconds after its due instant, or the next match of a cron."""

    within_seconds: int | None = Field(None, ge=1, le=31_622_400)
    by: DeadlineBy | None = None
    at: str | None = Field(None, description="An instant, for a job that runs once.")


class Resources(Strict):
    """The size of a container, in the pairs that Fargate has: 1 vCPU with 2048 to 8192 MB, and so on."""

    vcpu: float | None = Field(None, gt=0, examples=[2])
    memory_mb: int | None = Field(None, gt=0, examples=[4096])
    spot: bool | None = Field(None, description="On spare capacity: cheaper, and may be taken back at a checkpoint.")


class Container(Strict):
    """A container of your own in place of Punctual's runner: one of the images in the stack's settings."""

    image: str = Field(min_length=1, max_length=200)
    command: list[str] = Field(min_length=1, max_length=50)


class Partitions(Strict):
    """How to cut the work: exactly one of `count`, `by` and `of`."""

    count: int | None = None
    by: str | None = Field(None, description="`day` or `hour` of the data window.")
    of: list[Any] | None = None
    at_once: int | None = Field(None, ge=1, description="How many run at the same time; all if left out.")


class Notify(Strict):
    """Of what the job's people are told; all about its deadline if left out."""

    on: list[Annotated[Event, Field(strict=False)]] | None = Field(
        None, description="All about its deadline if left out; an empty list for nothing."
    )
    to: Topic | None = Field(None, strict=False, description="`notice` if left out.")


class MisfireRule(Strict):
    """What becomes of due instants that went by in an outage or a pause."""

    policy: Policy = Field(Policy.RUN_LATEST, strict=False)
    grace_seconds: int = Field(USUAL_GRACE, ge=0, le=86_400, description="What is late by no more than this runs.")


class RateLimit(Strict):
    starts: int = Field(ge=1, le=10_000)
    per_seconds: int = Field(ge=1, le=86_400)


class ConcurrencyRule(Strict):
    """No more than so many at once, or starting in a span of time, of all executions of your team that share a key."""

    key: str = Field(
        min_length=1,
        max_length=LONGEST_KEY,
        description="`{name}` stands for the parameter of that name.",
        examples=["customer-{customer_id}"],
    )
    limit: int | None = Field(None, ge=1, le=MOST_AT_ONCE)
    rate: RateLimit | None = None


class DependsOn(Strict):
    """Another job, and how it has to end before this one starts."""

    job: str = Field(min_length=1, max_length=200, description="Its id; in a batch also the name of one of the batch.")
    condition: Condition = Field(Condition.SUCCEEDED, strict=False, description="`finished` is succeeded or failed.")


class Rules(Strict):
    """What a job runs, when, and how. Each field may be left out, and may be changed later."""

    task: str | None = Field(None, min_length=1, max_length=200, examples=["echo"])
    name: str | None = Field(None, min_length=1, max_length=200)
    parameters: dict[str, Any] | None = Field(None, description="At most 64 KB of JSON.")
    schedule: Schedule | None = Field(None, description="It runs now if left out.")
    lane: Lane | None = Field(None, strict=False, description="`short` if left out.")
    priority: Priority | None = Field(None, strict=False, description="`normal` if left out.")
    timeout_seconds: int | None = Field(
        None,
        ge=1,
        le=LONGEST_LONG_RUN,
        description=f"{USUAL_SHORT_RUN} if left out, {LONGEST_SHORT_RUN} at most; in the long lane"
        f" {USUAL_LONG_RUN} and {LONGEST_LONG_RUN}.",
    )
    retry: Retry | None = None
    deadline: Deadline | None = None
    window: WindowUnit | None = Field(
        None, strict=False, description="The calendar unit that an execution is about: the last whole one before it."
    )
    resources: Resources | None = Field(None, description="Long lane: the size of the container.")
    container: Container | None = Field(None, description="Long lane: a container of your own.")
    partitions: int | list[Any] | Partitions | None = Field(
        None, description="Long lane: so many, a list, or `{by: day}`; run side by side."
    )
    preemptible: bool | None = Field(
        None, description="Long lane: may be stopped at a checkpoint for one that would miss its deadline."
    )
    overlap: Overlap | None = Field(
        None,
        strict=False,
        description="When it comes due while it still runs: `skip` if left out, for a queue job `allow`.",
    )
    misfire: MisfireRule | None = None
    concurrency: ConcurrencyRule | None = None
    notify: Notify | None = None
    depends_on: list[DependsOn] | None = Field(
        None, max_length=MOST_UPSTREAMS, description="Jobs that have to end first; of recurring ones, the same window."
    )
    expected_seconds: int | None = Field(
        None, ge=1, le=LONGEST_LONG_RUN, description="How long it takes, until enough runs have shown it."
    )


class Submission(Rules):
    """A job as submitted: a `task`, or in the long lane a `container`, is all that it needs."""

    dedupe_key: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Of your team's live jobs, which are neither done, deleted nor cancelled, only one has it.",
        examples=["orders-2026-11-16"],
    )
    on_duplicate: OnDuplicate | None = Field(
        None,
        strict=False,
        description="When a live job has the key: 409 that names it (default), or 200 with that job as it is.",
    )

    def to_submission(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Edit(Rules):
    """What to change of a job. A field that is null goes back to what it is when left out."""

    dedupe_key: str | None = Field(None, description="Cannot be changed: leave it out, or send what it is.")

    def to_changes(self) -> dict[str, Any]:
        """What was sent, down to what it says of each field."""
        said = self.model_dump(exclude_none=True)
        return {name: said.get(name) for name in self.model_fields_set}


class BackfillRequest(Strict):
    """Due instants of the past to run: from `from` up to but not including `to`."""

    since: str = Field(alias="from", examples=["2026-10-01T00:00:00Z"])
    to: str = Field(examples=["2026-11-01T00:00:00Z"])
    which: Which = Field(Which.MISSING, strict=False)
    order: Order = Field(Order.OLDEST_FIRST, strict=False)
    at_once: int | None = Field(
        None,
        ge=1,
        le=MOST_AT_ONCE,
        description="How many at the same time: one if left out, unless overlap allows.",
    )


class RunRequest(Strict):
    parameters: dict[str, Any] | None = Field(None, description="In place of those of the same name.")


class Batch(Strict):
    """Many jobs at once: one that is refused refuses them all."""

    jobs: list[Submission] = Field(min_length=1, max_length=BATCH_JOBS)


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


class Window(BaseModel):
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
    window: Window | None
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
    window: Window | None
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
    window: Window | None


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


class PreviewRequest(Strict):
    schedule: Schedule
    count: int = Field(10, ge=1, le=100)
    after: str | None = Field(None, description="From this instant on; now if left out.")


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
