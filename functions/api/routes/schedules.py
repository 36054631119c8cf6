"""``/schedules``."""

from __future__ import annotations

import answers
import bodies
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import BODY_ERRORS, openapi_responses
from services import authorize, catalog
from views import occurrence_view

from punctual.domain import instant
from punctual.domain.schedules.schedule import parse_schedule, preview

router = APIGatewayHttpRouter()


@router.post(
    "/schedules/preview",
    summary="Preview the next instants of a schedule",
    tags=["schedules"],
    responses=openapi_responses(answers.Preview, *BODY_ERRORS),
)
def preview_schedule(request: bodies.PreviewRequest) -> answers.Preview:
    """Instants that a clock change or a skipped date affects have a flag."""
    authorize(router)
    after = instant.parse("after", request.after) if request.after is not None else instant.now()
    schedule = parse_schedule(request.schedule.to_spec(), now=after, calendars=catalog.calendars, counted_after=after)
    return answers.Preview(items=[occurrence_view(one) for one in preview(schedule, after, request.count)])
