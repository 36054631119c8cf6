"""``/jobs/{job_id}/messages``."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

import answers
from answers.messages import SentMessages
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from bodies.messages import MessagesRequest
from openapi import BODY_ERRORS, openapi_responses
from services import authorize, dry_run_response, message_sender, run_once
from views.messages import messages_view

from punctual.domain.requests.caller import Role
from routes.queries import DryRunQuery, IdempotencyKey

router = APIGatewayHttpRouter()

ERRORS = (*BODY_ERRORS, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
SEND_RESPONSES = (
    openapi_responses(SentMessages, *ERRORS, success=HTTPStatus.ACCEPTED)
    | openapi_responses(SentMessages, success=HTTPStatus.MULTI_STATUS)
    | openapi_responses(answers.Changes)
)


@router.post(
    "/jobs/<job_id>/messages",
    summary="Send messages of a queue job",
    tags=["jobs"],
    status_code=HTTPStatus.ACCEPTED,
    responses=SEND_RESPONSES,
)
def send_messages(
    job_id: str, request: MessagesRequest, dry_run: DryRunQuery = False, idempotency_key: IdempotencyKey = None
) -> Response[SentMessages | answers.Changes]:
    """Returns 202 if all were sent, and 207 if SQS has not accepted some: send those again."""
    caller = authorize(router, Role.OPERATOR)
    messages = [one.model_dump(exclude_none=True) for one in request.messages]
    if dry_run:
        return dry_run_response(message_sender.preview(job_id, messages, caller))

    sent = run_once(router, partial(message_sender.send, job_id, messages, caller), caller, idempotency_key)
    view: Any = messages_view(sent)
    status = HTTPStatus.MULTI_STATUS if view.failed else HTTPStatus.ACCEPTED
    return Response(status_code=status, content_type="application/json", body=view)
