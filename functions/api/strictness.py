"""Request validation that also refuses what Powertools ignores or cannot read."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, get_args
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.middlewares.openapi_validation import OpenAPIRequestValidationMiddleware
from aws_lambda_powertools.event_handler.openapi.compat import is_scalar_field
from aws_lambda_powertools.event_handler.types import EventHandlerInstance
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent
from bodies import StrictModel
from json_body import read_json

from punctual.domain.errors import Invalid
from punctual.domain.suggestion import hint_at

SWAGGER = "/swagger"
"""The Swagger page has query parameters of its own."""


class StrictValidation(OpenAPIRequestValidationMiddleware):
    """Refuses unknown and repeated query parameters, unread bodies, forms, bodies of the wrong kind, malformed JSON."""

    def __init__(self) -> None:
        """Replace the constructor of Powertools, which does nothing and has no annotations."""

    def handler(self, app: EventHandlerInstance, next_middleware: NextMiddleware) -> Response[Any]:
        route, event = app.context["_route"], app.current_event
        known = [field.alias for field in route.dependant.query_params]
        hint = f"query parameters of this route: {', '.join(known) or 'none'}"
        for name in event.query_string_parameters if route.path != SWAGGER else ():
            if name not in known:
                raise Invalid(name, f"is not a known query parameter{hint_at(name, known) or f': {hint}'}")
        given = Counter(name for name, _ in parse_qsl(event.get("rawQueryString", ""), keep_blank_values=True))
        for field in filter(is_scalar_field, route.dependant.query_params):
            if given[field.alias] > 1:
                raise Invalid(field.alias, f"is given {given[field.alias]} times: give it once")
        if not route.dependant.body_params and _has_content(event):
            raise Invalid("body", f"is not supported by this route: remove it; {hint}")
        return super().handler(app, next_middleware)

    def _get_body(self, app: EventHandlerInstance) -> Any:
        """Called by ``handler`` for a route that takes a body."""
        body = read_json(app.current_event)
        if app.current_event.body and not isinstance(body, dict):
            model = body_model(app.context["_route"])
            example = f", such as {json.dumps(model.example())}" if model else ""
            raise Invalid("body", f"must be a JSON object{example}")
        return body


def body_model(route: Route) -> type[StrictModel] | None:
    """The model of the body that the route takes."""
    kinds = [kind for field in route.dependant.body_params for kind in get_args(field.type_) or (field.type_,)]
    return next((kind for kind in kinds if issubclass(kind, StrictModel)), None)


def _has_content(event: BaseProxyEvent) -> bool:
    """Whether there is a body other than an empty object, which some clients send by default."""
    try:
        return bool(event.body and event.body.strip() and json.loads(event.decoded_body or "{}"))
    except (ValueError, RecursionError):
        return True
