"""``/attention``: acknowledge or snooze what the overview reports."""

from __future__ import annotations

from http import HTTPStatus

from answers.overview import AttentionAnswer
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from bodies.attention import AttentionRequest
from openapi import BODY_ERRORS, openapi_responses
from services import acknowledge, authorize
from views.overview import attention_answer

from punctual.domain import instant
from punctual.domain.requests.caller import Role
from routes.queries import DryRunQuery

router = APIGatewayHttpRouter()


@router.put(
    "/attention/<attention_id>",
    summary="Acknowledge or snooze an attention item",
    tags=["overview"],
    responses=openapi_responses(AttentionAnswer, *BODY_ERRORS, HTTPStatus.NOT_FOUND),
)
def put_attention(attention_id: str, request: AttentionRequest, dry_run: DryRunQuery = False) -> AttentionAnswer:
    """Replaces an earlier acknowledgement of the item."""
    caller = authorize(router, Role.OPERATOR)
    until = instant.parse("until", request.until) if request.until else None
    one = acknowledge.acknowledge(attention_id, request.state, caller, until=until, note=request.note, dry_run=dry_run)
    return attention_answer(attention_id, one)


@router.delete(
    "/attention/<attention_id>",
    summary="Open an attention item again",
    tags=["overview"],
    responses=openapi_responses(AttentionAnswer, HTTPStatus.NOT_FOUND),
)
def delete_attention(attention_id: str, dry_run: DryRunQuery = False) -> AttentionAnswer:
    caller = authorize(router, Role.OPERATOR)
    acknowledge.undo(attention_id, caller, dry_run=dry_run)
    return attention_answer(attention_id, None)
