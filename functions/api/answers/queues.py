"""Response models of ``/queues``."""

from __future__ import annotations

from bodies import BacklogRule
from pydantic import BaseModel, Field

from answers import QueueStatus
from answers.page import CountedPage
from punctual.domain.jobs.job import JobState


class QueueJob(BaseModel):
    """The messages of a queue job that wait for their start, in the latest measurement of the monitor."""

    job_id: str
    job_name: str | None
    owner: str
    state: JobState
    at: str = Field(description="When it was measured.")
    depth: int = Field(description="Messages that have not started.")
    depth_is_exact: bool = Field(description="False if there are more: counting stops at 10,000.")
    oldest_seconds: float = Field(description="The time since the oldest of them was sent; 0 without any.")
    arrival_per_minute: float | None = Field(description="Null in the first minute.")
    finished_per_minute: float | None = Field(description="Executions that ended, with any outcome.")
    backlog: BacklogRule | None = Field(description="The limits of the job.")
    exceeded_since: str | None = Field(description="Null while it is within its limits.")


class QueueJobPage(CountedPage):
    items: list[QueueJob] = Field(description="The fullest first.")


class Queues(CountedPage):
    at: str = Field(description="When the sample was taken.")
    items: list[QueueStatus] = Field(description="All queues: the list has one page.")
    jobs: QueueJobPage = Field(description="The queue jobs: `limit` and `cursor` of the request apply to this list.")
