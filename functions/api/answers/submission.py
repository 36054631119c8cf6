"""Response models of the dry run of a submission."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import Changes, ExecutionDeadline
from answers.execution_details import Cost
from punctual.domain.forecasts.run_time import RunTimeSource


class ExpectedRunTime(BaseModel):
    median_seconds: float
    p95_seconds: float
    source: RunTimeSource = Field(
        description="`history` of the job, `declared` by `expected_seconds`, or `timeout`: nothing else is known."
    )


class SubmissionForecast(BaseModel):
    run_time: ExpectedRunTime = Field(description="Of an execution, or of each of its partitions.")
    median_end: str | None = Field(
        description="Of the first execution: half of the forecasts end before it. Null if only the timeout is known."
    )
    p95_end: str | None
    deadline: ExecutionDeadline | None = Field(description="Of the first execution.")
    cost: Cost | None = Field(description="Of each execution, at its median run time and without retries.")
    executions_per_month: float | None = Field(description="In the first 30 days.")
    dollars_per_month: float | None


class SubmissionPreview(Changes):
    """The result of a dry run: what the submission would do, take and cost. Nothing was written."""

    forecast: SubmissionForecast | None = Field(description="Null for a queue job, and if an existing job is returned.")


class ForecastEntry(BaseModel):
    """The forecast of one job of a batch, as if it came alone and without upstreams."""

    name: str | None
    task: str
    forecast: SubmissionForecast | None = Field(description="Null for a queue job.")


class BatchPreview(Changes):
    """The result of the dry run of a batch. Nothing was written."""

    forecasts: list[ForecastEntry] = Field(description="Of each new job, in the order of the request.")
    dollars_per_month: float = Field(description="The sum over the jobs whose cost is known.")
    unpriced: int = Field(description="How many jobs have no known cost: without `expected_seconds`, or a queue job.")
