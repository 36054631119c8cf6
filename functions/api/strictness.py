"""Refuses input that validation would ignore: unknown query parameters, unread bodies, forms, bodies that are lists."""

from __future__ import annotations

import json
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from punctual.domain.errors import Invalid

SWAGGER = "/swagger"
"""The Swagger page has query parameters of its own."""


def refuse_ignored_input(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Middleware that runs after validation and before the route."""
    route, event = app.context["_route"], app.current_event
    known = [field.alias for field in route.dependant.query_params]
    hint = f"query parameters of this route: {', '.join(known) or 'none'}"
    for name in event.query_string_parameters if route.path != SWAGGER else ():
        if name not in known:
            raise Invalid(name, f"is not a known query parameter; {hint}")
    if not route.dependant.body_params:
        if _has_content(event):
            raise Invalid("body", f"is not supported by this route: remove it; {hint}")
    elif not claims_json(event):
        raise RequestUnsupportedContentType("a form", errors=[])
    elif event.body and not isinstance(event.json_body, dict):
        raise Invalid("body", "must be a JSON object")
    return next_middleware(app)


def claims_json(event: APIGatewayProxyEventV2) -> bool:
    """Whether the body, if any, has a JSON content type or none.

    Validation would also read a form, which is the default content type of curl.
    """
    kind = event.headers.get("content-type", "").strip()
    return not event.body or not kind or kind.startswith("application/json")


def _has_content(event: APIGatewayProxyEventV2) -> bool:
    """Whether there is a body other than an empty object, which some clients send by default."""
    try:
        return bool(event.body and event.body.strip() and json.loads(event.decoded_body or "{}"))
    except (ValueError, RecursionError):
        return True
