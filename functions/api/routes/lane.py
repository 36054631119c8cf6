"""``/lane``, and the release of a slot."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated

import answers.lane
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, lane_status, limits, part_store, run_once, yield_slot
from views import execution_view
from views.lane import lane_view, yield_forecast_view

from punctual.domain.requests.caller import Role
from routes.queries import DryRunQuery, IdempotencyKey

router = APIGatewayHttpRouter()

ShownQuery = Annotated[int, Query(ge=1, le=200, alias="limit", description="Maximum length of each list of parts.")]


@router.get(
    "/lane",
    summary="Get the long lane: who holds slots, who waits, and the demand of the next seven days",
    tags=["overview"],
    responses=openapi_responses(answers.lane.LaneView),
)
def get_lane(limit: ShownQuery = 100) -> answers.lane.LaneView:
    authorize(router)
    return lane_view(lane_status.current(), limits, limit)


@router.post(
    "/executions/<execution_id>/yield",
    summary="Release the slots of a preemptible execution",
    tags=["executions"],
    responses=openapi_responses(answers.lane.YieldAnswer, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def yield_execution(
    execution_id: str, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> answers.lane.YieldAnswer:
    """Each of its running parts stops at its next checkpoint, and then requests a slot again.

    The attempt does not count against `retry`. The slots go to the first waiting parts in the order of admission.
    """
    caller = authorize(router, Role.OPERATOR)
    if dry_run:
        return yield_forecast_view(yield_slot.preview(execution_id, caller))
    released = run_once(router, partial(yield_slot.release, execution_id, caller), caller, idempotency_key)
    return execution_view(released.execution, part_store.of(execution_id))
