"""``/calendar``."""

from __future__ import annotations

from typing import Annotated

import answers.calendar
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, calendar, lane_status, limits
from views.calendar import calendar_slots, calendar_view

from punctual.domain import instant
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Priority
from punctual.domain.requests.job_filter import JobFilter, parse_tag_filter
from routes.queries import CursorQuery, JobNameQuery, NameQuery, TagsQuery

router = APIGatewayHttpRouter()

SinceQuery = Annotated[str, Query(alias="from", description="Due at or after this instant.")]
UntilQuery = Annotated[str, Query(alias="to", description="Due before this instant; at most 42 days after `from`.")]
LongLaneQuery = Annotated[bool, Query(description="Also return the capacity and the demand of the long lane.")]
JobsQuery = Annotated[int, Query(ge=1, le=50, alias="limit", description="Maximum number of jobs per page.")]


@router.get(
    "/calendar",
    summary="Get what ran, what is due and which dates are skipped, per job",
    tags=["schedules"],
    responses=openapi_responses(answers.calendar.CalendarView),
)
def get_calendar(
    since: SinceQuery,
    until: UntilQuery,
    state: Annotated[list[JobState] | None, Query(description="Several are separated by commas or repeated.")] = None,
    priority: Annotated[list[Priority] | None, Query()] = None,
    task: NameQuery = None,
    owner: NameQuery = None,
    name: JobNameQuery = None,
    tag: TagsQuery = None,
    long_lane: LongLaneQuery = False,
    limit: JobsQuery = 20,
    cursor: CursorQuery = None,
) -> answers.calendar.CalendarView:
    """A page examines `limit` jobs and contains those that have entries: it may be short, or even empty."""
    authorize(router)
    where = JobFilter(
        owner=owner,
        states=frozenset(state or ()),
        priorities=frozenset(priority or ()),
        task=task,
        name=name,
        tags=parse_tag_filter(tag or ()),
    )
    begin, end = instant.parse("from", since), instant.parse("to", until)
    page = calendar.page(where, begin, end, limit, cursor)
    return calendar_view(page, cursor, calendar_slots(lane_status.current(), limits) if long_lane else None)
