"""Forecast submission: the expected run time, end and cost of a job that is about to be submitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.cost import Cost
from punctual.domain.forecasts.deadline_forecast import forecast_end, outlook_of
from punctual.domain.forecasts.forecast import Forecast
from punctual.domain.forecasts.run_time import RunTimeSource
from punctual.domain.forecasts.submission_forecast import (
    MAX_FORECAST_STARTS,
    ExpectedRunTime,
    due_per_month,
    expected_cost,
    expected_run_time,
)
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.stages.watch.check_deadlines import Forecaster


MIN_FORECAST_STARTS = 31
"""Due instants that are counted of each job of a large batch."""


@dataclass(frozen=True, kw_only=True)
class SubmissionForecast:
    execution: Execution
    """The first execution."""
    run_time: ExpectedRunTime
    median_end: datetime | None
    """Of the first execution; ``None`` if only the timeout is known."""
    p95_end: datetime | None
    outlook: Outlook | None
    """The forecast against the deadline of the first execution."""
    cost: Cost | None
    """Of each execution; ``None`` if only the timeout is known."""
    due_per_month: float | None


@dataclass(frozen=True)
class SubmissionForecaster:
    forecaster: Forecaster
    clock: Clock

    def forecast(self, job: Job) -> SubmissionForecast | None:
        """Forecast the first execution of a new job; ``None`` if it has none that is due by time."""
        return self._forecast(job, self.forecaster.end, self.forecaster.outlook, MAX_FORECAST_STARTS)

    def forecast_all(self, jobs: Sequence[Job]) -> list[SubmissionForecast | None]:
        """Forecast the jobs of a batch as if each came alone, and without upstreams, which may be in the batch."""
        load, now = self.forecaster.load(), self.clock()

        def end(execution: Execution, job: Job) -> Forecast:
            return forecast_end(execution, job, load, now)

        def outlook(execution: Execution, job: Job) -> Outlook | None:
            # As for one job: the state of an execution that was never checked has no beginning.
            return replace(outlook_of(execution, job, load, now), since=None) if execution.deadline_at else None

        most = max(MAX_FORECAST_STARTS // max(len(jobs), 1), MIN_FORECAST_STARTS)
        return [self._forecast(job, end, outlook, most) for job in jobs]

    def _forecast(
        self,
        job: Job,
        end_of: Callable[[Execution, Job], Forecast],
        outlook: Callable[[Execution, Job], Outlook | None],
        most_starts: int,
    ) -> SubmissionForecast | None:
        now = self.clock()
        due = job.schedule.next_after(job.created_at - MILLISECOND)
        if due is None:
            return None
        execution = execution_of(job, due, status=Status.SCHEDULED, now=now)
        run_time = expected_run_time(job)
        is_known = run_time.source is not RunTimeSource.TIMEOUT
        end = end_of(execution, job) if is_known else None
        return SubmissionForecast(
            execution=execution,
            run_time=run_time,
            median_end=end.median_end if end else None,
            p95_end=end.p95_end if end else None,
            outlook=outlook(execution, job),
            cost=expected_cost(job, execution) if is_known else None,
            due_per_month=due_per_month(job, job.created_at - MILLISECOND, most_starts),
        )
