"""Response models of ``/overview`` and ``/attention``."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import ExecutionDeadline, QueueStatus, SlotUsage
from answers.deadlines import DeadlineCounts
from answers.percent import Percent
from punctual.domain.attention.acknowledgement import AttentionState
from punctual.domain.attention.attention_item import AttentionKind, SubjectType
from punctual.domain.status import Status


class Acknowledgement(BaseModel):
    """What an operator decided about an attention item."""

    by: str
    at: str
    until: str = Field(description="From then on, the item is open again.")
    note: str | None


class AttentionAnswer(BaseModel):
    """The state of an attention item after a request."""

    id: str
    state: AttentionState
    acknowledgement: Acknowledgement | None


class Subject(BaseModel):
    type: SubjectType
    id: str = Field(description="The id of the execution or job, or the name of the queue, module or alarm.")
    job_name: str | None = Field(description="Of an execution or a job.")
    timezone: str | None = Field(description="The time zone of the schedule of an execution; otherwise null.")
    owner: str | None = Field(description="The team that it belongs to; null if it concerns all teams.")


class AttentionItem(AttentionAnswer):
    """Something that needs an operator."""

    id: str = Field(description="Stable: the same whenever the subject needs attention for this kind of reason.")
    state: AttentionState = Field(description="Open until an operator acknowledges or snoozes it.")
    kind: AttentionKind
    subject: Subject
    deadline: ExecutionDeadline | None = Field(description="Only for the kind `deadline`.")
    cause: str
    remedy: str | None
    since: str | None = Field(description="Null if unknown.")


class DueExecution(BaseModel):
    """The fields of an execution that identify it, and when it is due."""

    execution_id: str
    job_id: str
    job_name: str | None
    owner: str
    task: str
    status: Status
    reason: str | None
    scheduled_at: str
    timezone: str = Field(description="The time zone of the schedule; `UTC` if it has none.")
    earliest_start: str = Field(description="The due instant plus jitter, or the time of the request for a past one.")
    deadline: ExecutionDeadline | None


class FailedExecution(BaseModel):
    """An execution that failed or timed out."""

    execution_id: str
    job_id: str
    job_name: str | None
    owner: str
    task: str
    status: Status
    reason: str | None
    scheduled_at: str
    timezone: str = Field(description="The time zone of the schedule; `UTC` if it has none.")
    ended_at: str | None


class FailedToday(BaseModel):
    since: str = Field(description="Midnight in UTC.")
    count: int = Field(description="The executions that failed or timed out since then.")
    items: list[FailedExecution] = Field(
        description="The latest of them, at most 10. Of many in a quarter of an hour, some are left out."
    )


class LateExecutions(BaseModel):
    items: list[DueExecution] = Field(
        description="Not started a minute after the earliest start; the first 100, the oldest first."
    )
    examined_since: str | None = Field(
        description="Of the executions that came due before, only the first 100 of the backlog, by the age of the"
        " oldest message, and the oldest 100 of the long lane were examined; null if all were."
    )


class RaisedAlarm(BaseModel):
    name: str
    description: str
    reason: str = Field(description="Why CloudWatch raised it.")
    since: str


class LaneActivity(BaseModel):
    """What the executions of a lane did within the sampled interval."""

    started: int
    finished: int
    failed: int
    busy_seconds: float


class Overview(BaseModel):
    """The state of the whole system: counts as of now, queues and rates from the latest sample of the monitor."""

    at: str = Field(description="When the sample was taken.")
    running: int = Field(description="Executions that run, or are between two attempts.")
    running_is_exact: bool = Field(description="False if there are more: counting stops at 10,000.")
    queues: list[QueueStatus]
    slots: SlotUsage
    deadlines: DeadlineCounts
    attention: list[AttentionItem] = Field(description="The open items first.")
    due_next: list[DueExecution] = Field(description="The next 20 planned executions, soonest first.")
    late: LateExecutions
    failed_today: FailedToday
    alarms: list[RaisedAlarm] | None = Field(description="Alarms in the state ALARM; null if they cannot be read.")
    seconds: float | None = Field(description="Length of the sampled interval, which the fields below refer to.")
    lanes: dict[str, LaneActivity]
    lateness_p99_seconds: float | None = Field(
        description="99th percentile of the seconds from due to started, of first attempts."
    )
    failure_percent: Percent | None = Field(description="Percentage of attempts that failed.")
