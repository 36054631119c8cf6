"""``/deadlines``: the live executions with a deadline."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from answers.deadlines import DeadlinePage
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, browse_deadlines, today
from views import execution_view
from views.deadlines import deadline_counts
from views.pages import page_fields

from punctual.domain import instant
from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.job_filter import parse_tag_filter
from punctual.stages.api.browse_deadlines import DeadlineFilter
from routes.queries import CursorQuery, JobNameQuery, LimitQuery, NameQuery, TagsQuery

router = APIGatewayHttpRouter()
StateQuery = Annotated[list[DeadlineState] | None, Query(description="Several are separated by commas or repeated.")]
FromQuery = Annotated[str | None, Query(alias="from", description="Deadline at or after this instant.")]
ToQuery = Annotated[str | None, Query(alias="to", description="Deadline before this instant.")]


@router.get(
    "/deadlines",
    summary="List live executions with a deadline, the most endangered first",
    tags=["overview"],
    responses=openapi_responses(DeadlinePage),
)
def list_deadlines(
    state: StateQuery = None,
    since: FromQuery = None,
    until: ToQuery = None,
    owner: NameQuery = None,
    task: NameQuery = None,
    job_name: JobNameQuery = None,
    tag: TagsQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> DeadlinePage:
    """The first page has `counts`, which regard only `from` and `to`, and `total`, if an index serves all filters."""
    authorize(router)
    where = DeadlineFilter(
        states=frozenset(state or ()),
        since=instant.parse("from", since) if since else None,
        until=instant.parse("to", until) if until else None,
        executions=ExecutionFilter(owner=owner, task=task, job_name=job_name, tags=parse_tag_filter(tag or ())),
    )
    page = browse_deadlines.list(where, limit, cursor)
    items = [execution_view(one) for one in page.items]
    if cursor is not None:
        return DeadlinePage(items=items, **page_fields(page, cursor))
    live = browse_deadlines.count(where)
    counts = deadline_counts(live, None if since or until else today.read())
    counted = page_fields(page, cursor, partial(browse_deadlines.total, where, live))
    return DeadlinePage(items=items, counts=counts, **counted)
