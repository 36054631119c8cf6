"""Response models of statistics."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers.page import Page
from punctual.domain.status import Status


class RecentExecution(BaseModel):
    """An ended execution of a job. It may have expired meanwhile."""

    execution_id: str
    status: Status
    scheduled_at: str
    ended_at: str
    run_seconds: float | None = Field(
        description="From the start to the end of its last attempt; null if none started."
    )


class SummaryBucket(BaseModel):
    start: str
    end: str
    total: int
    counts: dict[str, int] = Field(description="By status, or by queue. Zeros are left out.")
    start_delay_p99_seconds: dict[str, float] = Field(
        description="By queue, from when an execution could start to its start. Queues without starts are left out."
    )


class Summary(Page):
    """The executions that ended in each period, in UTC."""

    items: list[SummaryBucket] = Field(description="Oldest first, also periods without an ended execution.")


class Quantiles(BaseModel):
    """Quantiles of a duration in seconds, within 6%. Null without executions."""

    median_seconds: float | None
    p95_seconds: float | None


class DayStatistics(BaseModel):
    day: str
    total: int
    counts: dict[str, int] = Field(description="The executions that ended on this day, by status. Zeros are left out.")
    run_times: Quantiles = Field(description="Of the executions that succeeded.")
    lateness: Quantiles = Field(description="From the earliest start to the start of the first attempt.")


class JobStatistics(BaseModel):
    """The ended executions of a job by day, in UTC. The counters outlive the executions."""

    job_id: str
    first_day: str | None = Field(
        description="The first day of the job's history. Earlier days are unknown, and not in `days`."
    )
    total: int
    counts: dict[str, int]
    run_times: Quantiles
    lateness: Quantiles
    days: list[DayStatistics] = Field(description="Oldest first.")
