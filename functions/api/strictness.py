"""What validation lets pass and people would trip over: a misspelt query parameter, a list where an object belongs."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from punctual.domain.errors import Invalid

SWAGGER = "/swagger"
"""The description's page has parameters of its own."""


def refuse_what_would_be_ignored(app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
    """Runs behind validation, in front of the route."""
    route = app.context["_route"]
    known = [field.alias for field in route.dependant.query_params]
    for name in app.current_event.query_string_parameters if route.path != SWAGGER else ():
        if name not in known:
            hint = f"there are: {', '.join(known)}" if known else "this takes none"
            raise Invalid(name, f"is not a known query parameter; {hint}")
    if app.current_event.body and not isinstance(app.current_event.json_body, dict):
        raise Invalid("body", "must be a JSON object")
    return next_middleware(app)
