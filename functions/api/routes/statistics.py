"""``/executions/summary`` and ``/jobs/{id}/statistics``: counters of ended executions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from answers.statistics import JobStatistics, Summary
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, find, statistics
from views.statistics import Grouping, history_view, summary_view

from punctual.domain import instant
from punctual.domain.requests.statistics_range import Bucket, parse_days, parse_summary_range
from routes.queries import NameQuery

router = APIGatewayHttpRouter()

SinceQuery = Annotated[str | None, Query(alias="from", description="Ended at or after this instant.")]
UntilQuery = Annotated[str | None, Query(alias="to", description="Ended before this instant; default: now.")]
FirstDayQuery = Annotated[
    str | None, Query(alias="from", description="The first day in UTC; default: 30 days.", examples=["2026-11-01"])
]
LastDayQuery = Annotated[str | None, Query(alias="to", description="The last day; default: today.")]


@router.get(
    "/executions/summary",
    summary="Count ended executions by time",
    tags=["executions"],
    responses=openapi_responses(Summary),
)
def summarize_executions(
    since: SinceQuery = None,
    until: UntilQuery = None,
    bucket: Annotated[Bucket, Query()] = Bucket.HOUR,
    by: Annotated[Grouping, Query()] = Grouping.STATUS,
    owner: NameQuery = None,
) -> Summary:
    """From counters, a second or so after an execution has ended. `from` and `to` are extended to whole buckets."""
    authorize(router)
    wanted = parse_summary_range(since, until, bucket, instant.now())
    return summary_view(statistics.summary(wanted, owner), bucket, by)


@router.get(
    "/jobs/<job_id>/statistics",
    summary="Get run times, lateness and outcomes of a job by day",
    tags=["jobs"],
    responses=openapi_responses(JobStatistics, HTTPStatus.NOT_FOUND),
)
def get_job_statistics(job_id: str, since: FirstDayQuery = None, until: LastDayQuery = None) -> JobStatistics:
    """Up to 53 weeks. Days before the job's history are not listed."""
    authorize(router)
    now = instant.now()
    first, last = parse_days(since, until, now)
    return history_view(job_id, statistics.history(find.job(job_id).job_id, first, last, now.date()))
