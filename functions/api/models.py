"""The shapes that the API takes and gives. Their meaning is checked in the domain."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from punctual.domain.cron import Fold, Gap, Oddity
from punctual.domain.execution import Outcome
from punctual.domain.job import JobState, Lane, Priority
from punctual.domain.limits import BATCH_JOBS, LONGEST_SHORT_RUN
from punctual.domain.status import Status


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
    every_seconds: int | None = Field(None, description="A fixed interval, counted from the submission.", examples=[60])
    queue: bool | None = Field(None, description="One execution per message on the intake queue.")

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


class Submission(Strict):
    """A job as submitted. Without a schedule it runs now."""

    task: str = Field(min_length=1, max_length=200, examples=["echo"])
    name: str | None = Field(None, min_length=1, max_length=200)
    parameters: dict[str, Any] = Field(default_factory=dict, description="At most 64 KB of JSON.")
    schedule: Schedule | None = None
    lane: Lane = Field(Lane.SHORT, strict=False)
    priority: Priority = Field(Priority.NORMAL, strict=False)
    timeout_seconds: int = Field(600, ge=1, le=LONGEST_SHORT_RUN)
    retry: Retry = Field(default_factory=Retry)
    deadline: Deadline | None = None

    def to_submission(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


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
    created_at: str
    updated_at: str
    next_due_at: str | None = Field(description="The next instant at which it is due; null when there is none.")


class JobPage(BaseModel):
    items: list[Job]
    cursor: str | None = Field(description="Give it back as `cursor` for what follows; null at the end.")


class BatchEntry(BaseModel):
    job_id: str
    name: str


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


class Result(BaseModel):
    value: Any = None
    location: str | None = None


class ExecutionDeadline(BaseModel):
    at: str


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


class ExecutionPage(BaseModel):
    items: list[Execution]
    cursor: str | None = Field(description="Give it back as `cursor` for what follows; null at the end.")


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
    flag: Oddity | None = Field(description="Set where the clocks change: shifted, skipped or repeated.")


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
