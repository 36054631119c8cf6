"""``GET /jobs/{id}``: one job, with statistics, next instants and neighbours on request."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated

import answers
from answers.job_detail import JobDetail
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, find, job_graph, statistics
from views import job_view, occurrence_view
from views.job_detail import graph_view
from views.statistics import history_view

from punctual.domain import instant
from punctual.domain.jobs.job import JobState
from punctual.domain.requests.statistics_range import MAX_STATISTICS_DAYS
from punctual.domain.schedules.schedule import preview

router = APIGatewayHttpRouter()
NEXT_INSTANTS = 10


class Include(StrEnum):
    STATISTICS = "statistics"
    NEXT = "next"
    GRAPH = "graph"


IncludeQuery = Annotated[
    list[Include] | None, Query(description="`statistics`, `next`, `graph`: separated by commas, or repeated.")
]


@router.get(
    "/jobs/<job_id>",
    summary="Get a job",
    tags=["jobs"],
    responses=openapi_responses(answers.Job | JobDetail, HTTPStatus.NOT_FOUND),
)
def get_job(job_id: str, include: IncludeQuery = None) -> answers.Job | JobDetail:
    """With `include`, also `statistics` by day, the `next` ten instants, and the `graph` of dependencies."""
    authorize(router)
    job, now = find.job(job_id), instant.now()
    [pulse] = statistics.pulses([job])
    view = job_view(job, now, pulse)
    if not include:
        return view
    detail, today = JobDetail(**dict(view)), now.date()
    if Include.STATISTICS in include:
        history = statistics.history(job_id, today - timedelta(days=MAX_STATISTICS_DAYS - 1), today, today)
        detail.statistics = history_view(job_id, history)
    if Include.NEXT in include:
        occurrences = preview(job.schedule, now, NEXT_INSTANTS) if job.state is JobState.ACTIVE else []
        detail.next = [occurrence_view(one) for one in occurrences]
    if Include.GRAPH in include:
        detail.graph = graph_view(job, job_graph.graph(job))
    return detail
