"""Errors as RFC 9457 problem documents. Only this module maps errors to HTTP statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import bodies
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from body_fields import fields_at

from punctual.domain.errors import (
    Conflict,
    Contention,
    Forbidden,
    GateContention,
    Invalid,
    JobChanged,
    NotFound,
    Rejected,
    Stale,
    TaskUnavailable,
    TooLarge,
)
from punctual.domain.metrics import Metric
from punctual.domain.suggestion import closest, one_of
from punctual.runtime.lambdas.alarm_metric import AlarmMetric
from punctual.runtime.lambdas.function import logger

STATUSES: dict[type[Rejected], HTTPStatus] = {
    Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    TaskUnavailable: HTTPStatus.UNPROCESSABLE_ENTITY,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    Stale: HTTPStatus.PRECONDITION_FAILED,
    Forbidden: HTTPStatus.FORBIDDEN,
}
NOT_JSON = ("Content-Type", "must be application/json: set this header")
UNREADABLE_HEADER = "unreadable_header"
faults = AlarmMetric(Metric.API_FAULTS)


def problem(status: HTTPStatus, errors: Iterable[tuple[str | None, str]]) -> Response[Any]:
    """Build a problem document. ``errors`` are pairs of a field, or ``None``, and a message."""
    errors = list(errors)
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": "; ".join(f"{field}: {message}" if field else message for field, message in errors),
        "errors": [{"field": field, "message": message} for field, message in errors],
    }
    return Response(status_code=int(status), content_type="application/problem+json", body=json.dumps(body))


def unreadable_header(name: str, message: str) -> RequestValidationError:
    """The error of a request whose header is not text."""
    return RequestValidationError([{"type": UNREADABLE_HEADER, "loc": ("header", name), "msg": message}])


def register(app: APIGatewayHttpResolver) -> None:
    """Make ``app`` return a problem document for every error."""

    @app.exception_handler(list(STATUSES))
    def rejected(error: Rejected) -> Response[Any]:
        return problem(STATUSES[type(error)], [(error.field, error.message)])

    @app.exception_handler([GateContention, JobChanged])
    def lost_race(error: Contention) -> Response[Any]:
        return problem(HTTPStatus.CONFLICT, [(None, f"{error}: repeat the request")])

    @app.exception_handler(RequestValidationError)
    def invalid_request(error: RequestValidationError) -> Response[Any]:
        entries = error.errors()
        malformed = any(entry.get("type") in ("json_invalid", UNREADABLE_HEADER) for entry in entries)
        status = HTTPStatus.BAD_REQUEST if malformed else HTTPStatus.UNPROCESSABLE_ENTITY
        body = app.context["_route"].dependant.body_params
        return problem(status, (_field_and_message(entry, body[0].type_ if body else None) for entry in entries))

    @app.exception_handler(RequestUnsupportedContentType)
    def not_json(_error: RequestUnsupportedContentType) -> Response[Any]:
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, [NOT_JSON])

    @app.exception_handler(RecursionError)
    def too_deep(_error: RecursionError) -> Response[Any]:
        return problem(HTTPStatus.BAD_REQUEST, [("body", "is nested too deeply: flatten it")])

    @app.not_found
    def unknown_route(_error: NotFoundError) -> Response[Any]:
        event = app.current_event
        return problem(
            HTTPStatus.NOT_FOUND,
            [(None, f"there is no {event.http_method} {event.path}: see /openapi.json for all routes")],
        )

    @app.exception_handler(Exception)
    def internal_error(_error: Exception) -> Response[Any]:
        logger.exception("unhandled error in an API request")
        faults.publish(1)
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            [(None, "internal error: repeat the request, with the same Idempotency-Key if it had one")],
        )


def _field_and_message(entry: Mapping[str, Any], body: Any) -> tuple[str | None, str]:
    """Return the field and the message of a pydantic error, without pydantic's ``body`` or ``query`` prefix."""
    path = [str(name) for name in entry.get("loc", ()) if name not in bodies.PARTITION_FORMS]
    if path and path[0] in ("query", "path", "header"):
        path = path[1:2]  # without the position in a list of values
    elif path and path[0] == "body":
        path = path[1:]
    if entry.get("type") == "json_invalid":
        return "body", str(entry["msg"])
    if entry.get("type") == "extra_forbidden":
        *parents, name = path
        fields = fields_at(body, parents)
        close = closest(name, fields)
        suggestion = f"did you mean {fields[close]!r}?" if close else "remove it, or correct its spelling"
        return ".".join(path), f"is not a known field: {suggestion}"
    return ".".join(path) or "body", _message(entry)


_MESSAGES = {
    "missing": "is required: add it",
    "too_short": "must have at least {min_length} item(s), but has {actual_length}: add items",
    "too_long": "must have at most {max_length} items, but has {actual_length}: remove some, or send several requests",
    "string_too_short": "must have at least {min_length} character(s)",
    "string_too_long": "must have at most {max_length} characters: shorten it",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_unicode": "must be valid UTF-8 text",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}


def _message(entry: Mapping[str, Any]) -> str:
    """Return what is wrong and how to fix it; for other kinds of errors, pydantic's own message."""
    if entry.get("type") in ("enum", "literal_error"):
        allowed = re.findall(r"'([^']+)'", entry["ctx"]["expected"])
        return f"must be one of {one_of(allowed, entry.get('input'))}"
    template = _MESSAGES.get(str(entry.get("type")))
    if template is None:
        return str(entry.get("msg")).replace("Input should be", "must be")
    try:
        return template.format(**entry.get("ctx", {}))
    except KeyError:
        return str(entry.get("msg"))
