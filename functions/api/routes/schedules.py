"""``/schedules``."""

from __future__ import annotations

from http import HTTPStatus

import models
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from problems import answers
from views import occurrence_view
from wiring import caller

from punctual.domain import instant
from punctual.domain.errors import Invalid
from punctual.domain.schedule import parse_schedule, preview

router = APIGatewayHttpRouter()


@router.post(
    "/schedules/preview",
    summary="The next instants of a schedule, odd ones flagged",
    tags=["schedules"],
    responses=answers(models.Preview, HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY),
)
def preview_schedule(request: models.PreviewRequest) -> models.Preview:
    caller(router)
    after = _after(request.after)
    schedule = parse_schedule(request.schedule.to_spec(), now=after)
    return models.Preview(items=[occurrence_view(one) for one in preview(schedule, after, request.count)])


def _after(text: str | None) -> instant.datetime:
    try:
        return instant.now() if text is None else instant.from_text(text)
    except ValueError:
        raise Invalid("after", f"{text!r} is not an instant: write it like 2026-11-15T07:00:00Z") from None
