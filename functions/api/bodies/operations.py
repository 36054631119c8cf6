"""The bodies of requests for bulk operations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bodies import StrictModel, _example
from punctual.domain import instant
from punctual.domain.executions.execution import Origin
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Priority
from punctual.domain.operations.operation import MAX_IDS, BulkAction, Kind
from punctual.domain.requests.execution_filter import DeadlineValue, ExecutionFilter
from punctual.domain.requests.job_filter import JobFilter, parse_tag_filter
from punctual.domain.status import Status
from punctual.stages.operations.select import naming_the_filter
from punctual.stages.operations.start import BulkRequest


class JobSelection(StrictModel):
    """The jobs that match all fields, as in `GET /jobs`."""

    owner: str | None = Field(None, min_length=1, max_length=200)
    state: list[Annotated[JobState, Field(strict=False)]] = Field(default_factory=list)
    priority: list[Annotated[Priority, Field(strict=False)]] = Field(default_factory=list)
    task: str | None = Field(None, min_length=1, max_length=200)
    name: str | None = Field(None, min_length=1, max_length=200, description="The beginning of the name, in any case.")
    tag: list[str] = Field(default_factory=list, examples=[["dataset:orders"]])

    def to_filter(self) -> JobFilter:
        return JobFilter(
            owner=self.owner,
            states=frozenset(self.state),
            priorities=frozenset(self.priority),
            task=self.task,
            name=self.name,
            tags=parse_tag_filter(self.tag),
        )


class ExecutionSelection(StrictModel):
    """The executions that match all fields, as in `GET /executions`."""

    job_id: str | None = Field(None, min_length=1, max_length=200)
    owner: str | None = Field(None, min_length=1, max_length=200)
    status: list[Annotated[Status, Field(strict=False)]] = Field(default_factory=list)
    task: str | None = Field(None, min_length=1, max_length=200)
    job_name: str | None = Field(
        None, min_length=1, max_length=200, description="The beginning of the name of the job, in any case."
    )
    tag: list[str] = Field(default_factory=list, examples=[["dataset:orders"]])
    origin: list[Annotated[Origin, Field(strict=False)]] = Field(default_factory=list)
    worker_id: str | None = Field(None, min_length=1, max_length=200)
    deadline: list[Annotated[DeadlineValue, Field(strict=False)]] = Field(default_factory=list)
    since: str | None = Field(None, alias="from", description="Due at or after this instant.")
    until: str | None = Field(None, alias="to", description="Due before this instant.")

    def to_filter(self) -> ExecutionFilter:
        return ExecutionFilter(
            job_id=self.job_id,
            owner=self.owner,
            statuses=frozenset(self.status),
            task=self.task,
            job_name=self.job_name,
            tags=parse_tag_filter(self.tag),
            origins=frozenset(self.origin),
            worker_id=self.worker_id,
            deadlines=frozenset(self.deadline),
            since=instant.parse("from", self.since) if self.since is not None else None,
            until=instant.parse("to", self.until) if self.until is not None else None,
        )


JobAction = Literal[
    BulkAction.RUN,
    BulkAction.CANCEL,
    BulkAction.PAUSE,
    BulkAction.RESUME,
    BulkAction.PRIORITY,
    BulkAction.DELETE,
]
ExecutionAction = Literal[BulkAction.CANCEL, BulkAction.RETRY]


class _Bulk(StrictModel):
    ids: list[str] | None = Field(None, min_length=1, max_length=MAX_IDS)


class BulkJobsRequest(_Bulk):
    """One action on many jobs: those named by `ids`, or those that match the `filter`."""

    model_config = _example({"action": "pause", "filter": {"task": "echo"}})

    action: JobAction
    filter: JobSelection | None = None
    priority: Priority | None = Field(None, strict=False, description="For the action `priority`.")

    def to_request(self) -> BulkRequest:
        with naming_the_filter():
            where = self.filter.to_filter() if self.filter else None
        return BulkRequest(
            kind=Kind.JOBS, where=where, **_given(self.model_dump(include={"action", "ids", "priority"}))
        )


class BulkExecutionsRequest(_Bulk):
    """One action on many executions: those named by `ids`, or those that match the `filter`."""

    model_config = _example({"action": "cancel", "filter": {"status": ["queued"], "task": "echo"}})

    action: ExecutionAction
    filter: ExecutionSelection | None = None
    grace_seconds: int | None = Field(
        None, ge=0, le=600, description="For the action `cancel`: how long a running task has to stop. Default: 30."
    )

    def to_request(self) -> BulkRequest:
        with naming_the_filter():
            where = self.filter.to_filter() if self.filter else None
        fields = self.model_dump(include={"action", "ids", "grace_seconds"})
        return BulkRequest(kind=Kind.EXECUTIONS, where=where, **_given(fields))


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
