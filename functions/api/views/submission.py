"""Convert batches, and the dry run of a submission, to their response models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from answers import BatchEntry, BatchResponse
from answers.submission import BatchPreview, ExpectedRunTime, ForecastEntry, SubmissionForecast, SubmissionPreview

from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job
from punctual.domain.requests.dry_run import DryRunChanges
from punctual.stages.api import forecast_submission
from punctual.stages.api.submit import Submitted
from views import changes_view, deadline_view
from views.execution_details import COST_DIGITS, cost_view
from views.instants import text_of


def submission_preview_view(
    changes: DryRunChanges, forecast: forecast_submission.SubmissionForecast | None
) -> SubmissionPreview:
    shown = _forecast_view(forecast) if forecast else None
    return SubmissionPreview(**changes_view(changes).model_dump(), forecast=shown)


def batch_preview_view(
    changes: DryRunChanges, jobs: Sequence[Job], forecasts: Sequence[forecast_submission.SubmissionForecast | None]
) -> BatchPreview:
    shown = [
        ForecastEntry(name=job.name, task=job.task, forecast=_forecast_view(one) if one else None)
        for job, one in zip(jobs, forecasts, strict=True)
    ]
    priced = [one.forecast.dollars_per_month for one in shown if one.forecast and one.forecast.dollars_per_month]
    return BatchPreview(
        **changes_view(changes).model_dump(),
        forecasts=shown,
        dollars_per_month=round(sum(priced), COST_DIGITS),
        unpriced=len(shown) - len(priced),
    )


def batch_view(submitted: Iterable[Submitted], now: datetime) -> BatchResponse:
    return BatchResponse(items=[_batch_entry(one, now) for one in submitted])


def _batch_entry(submitted: Submitted, now: datetime) -> BatchEntry:
    job = submitted.job
    next_due_at = job.next_due_at(job.created_at - MILLISECOND if submitted.created else now)
    return BatchEntry(
        job_id=job.job_id,
        name=job.name,
        execution_id=execution_id(job.job_id, next_due_at) if next_due_at else None,
        next_due_at=text_of(next_due_at),
        created=submitted.created,
    )


def _forecast_view(forecast: forecast_submission.SubmissionForecast) -> SubmissionForecast:
    cost, run_time, each_month = forecast.cost, forecast.run_time, forecast.due_per_month
    is_priced = cost is not None and each_month is not None
    return SubmissionForecast(
        run_time=ExpectedRunTime(
            median_seconds=round(run_time.median_seconds, 1),
            p95_seconds=round(run_time.p95_seconds, 1),
            source=run_time.source,
        ),
        median_end=text_of(forecast.median_end),
        p95_end=text_of(forecast.p95_end),
        deadline=deadline_view(forecast.execution, forecast.outlook),
        cost=cost_view(cost) if cost else None,
        executions_per_month=None if each_month is None else round(each_month, 1),
        dollars_per_month=round(cost.dollars * each_month, COST_DIGITS) if is_priced and cost and each_month else None,
    )
