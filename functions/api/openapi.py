"""The responses of the routes in the OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import answers

BODY_ERRORS = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
"""The statuses with which a route refuses an unreadable body."""
GATEWAY_ERRORS = {
    HTTPStatus.UNAUTHORIZED: "The token is missing or invalid. API Gateway's own response.",
    HTTPStatus.TOO_MANY_REQUESTS: "The stack's request rate is exceeded: repeat later. API Gateway's own response.",
}


def openapi_responses(
    model: Any,
    *problems: HTTPStatus,
    success: HTTPStatus = HTTPStatus.OK,
    is_open: bool = False,
) -> dict[int, Any]:
    """Return a route's OpenAPI responses: ``model`` on success, and an error for each other status.

    ``problems`` are added to the errors of every route. An open route requires no token.
    """
    gateway = {} if is_open else GATEWAY_ERRORS
    common = {HTTPStatus.UNPROCESSABLE_ENTITY, *(() if is_open else (HTTPStatus.FORBIDDEN,))}
    return {
        int(success): _response(success.phrase, "application/json", model),
        **{int(status): _response(text, "application/json", answers.GatewayError) for status, text in gateway.items()},
        **{
            int(status): _response(status.phrase, "application/problem+json", answers.Problem)
            for status in sorted({*common, *problems})
        },
    }


def _response(description: str, content_type: str, model: Any) -> dict[str, Any]:
    return {"description": description, "content": {content_type: {"model": model}}}
