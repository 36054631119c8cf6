"""What validation lets pass and people would trip over: a misspelt query parameter, a list where an object belongs."""

from __future__ import annotations

import json
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestUnsupportedContentType
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from punctual.domain.errors import Invalid

SWAGGER = "/swagger"
"""The description's page has parameters of its own."""


def refuse_what_would_be_ignored(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Runs behind validation, in front of the route."""
    route, event = app.context["_route"], app.current_event
    known = [field.alias for field in route.dependant.query_params]
    hint = f"there are: {', '.join(known)}" if known else "this takes none"
    for name in event.query_string_parameters if route.path != SWAGGER else ():
        if name not in known:
            raise Invalid(name, f"is not a known query parameter; {hint}")
    if not route.dependant.body_params:
        if _says_something(event):
            raise Invalid("body", f"is not read here: leave it out; of query parameters {hint}")
    elif not says_json(event):
        raise RequestUnsupportedContentType("a form", errors=[])
    elif event.body and not isinstance(event.json_body, dict):
        raise Invalid("body", "must be a JSON object")
    return next_middleware(app)


def says_json(event: APIGatewayProxyEventV2) -> bool:
    """Whether a body claims to be JSON. Validation would read a form, too, as which curl sends what it is given."""
    kind = event.headers.get("content-type", "").strip()
    return not event.body or not kind or kind.startswith("application/json")


def _says_something(event: APIGatewayProxyEventV2) -> bool:
    """An empty object is what some clients send when they have nothing to say."""
    try:
        return bool(event.body and event.body.strip() and json.loads(event.decoded_body or "{}"))
    except (ValueError, RecursionError):
        return True
