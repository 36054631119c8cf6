"""Errors as RFC 9457 problem documents. This is the one place where an error gets its HTTP status."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import answers
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyValidationError,
)
from strictness import says_json

from punctual.domain.errors import Conflict, Forbidden, Invalid, NotFound, Rejected, Stale, TooLarge
from punctual.domain.metrics import Metric
from punctual.runtime.lambdas.alarm_metric import Figure
from punctual.runtime.lambdas.function import logger

STATUSES: dict[type[Rejected], HTTPStatus] = {
    Invalid: HTTPStatus.UNPROCESSABLE_ENTITY,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    Stale: HTTPStatus.PRECONDITION_FAILED,
    Forbidden: HTTPStatus.FORBIDDEN,
}
NOT_JSON = ("Content-Type", "must be application/json: send it as a header")
faults = Figure(Metric.API_FAULTS)


def described(model: Any, *problems: HTTPStatus, success: HTTPStatus = HTTPStatus.OK) -> dict[int, Any]:
    """For a route's description: what it answers when all is well, and which statuses come as problem documents."""
    good = {int(success): {"description": success.phrase, "content": {"application/json": {"model": model}}}}
    shape = {"application/problem+json": {"model": answers.Problem}}
    return good | {int(status): {"description": status.phrase, "content": shape} for status in problems}


def problem(status: HTTPStatus, errors: Iterable[tuple[str | None, str]]) -> Response[Any]:
    """``errors`` are pairs of a field, or ``None``, and what is wrong with it."""
    errors = list(errors)
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": "; ".join(f"{field}: {message}" if field else message for field, message in errors),
        "errors": [{"field": field, "message": message} for field, message in errors],
    }
    return Response(status_code=int(status), content_type="application/problem+json", body=json.dumps(body))


def register(app: APIGatewayHttpResolver) -> None:
    """Make ``app`` answer every error with a problem document."""

    @app.exception_handler(list(STATUSES))
    def rejected(error: Rejected) -> Response[Any]:
        return problem(STATUSES[type(error)], [(error.field, error.message)])

    @app.exception_handler(RequestValidationError)
    def misshapen(error: RequestValidationError) -> Response[Any]:
        if not says_json(app.current_event):
            return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, [NOT_JSON])
        entries = error.errors()
        malformed = any(entry.get("type") == "json_invalid" for entry in entries)
        status = HTTPStatus.BAD_REQUEST if malformed else HTTPStatus.UNPROCESSABLE_ENTITY
        return problem(status, map(_field_and_message, entries))

    @app.exception_handler(RequestUnsupportedContentType)
    def not_json(_error: RequestUnsupportedContentType) -> Response[Any]:
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, [NOT_JSON])

    @app.exception_handler(RecursionError)
    def too_deep(_error: RecursionError) -> Response[Any]:
        return problem(HTTPStatus.BAD_REQUEST, [("body", "is nested too deeply")])

    @app.exception_handler(IdempotencyValidationError)
    def key_used_otherwise(_error: IdempotencyValidationError) -> Response[Any]:
        message = "was used before with a different body: take a new key"
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, [("Idempotency-Key", message)])

    @app.exception_handler(IdempotencyAlreadyInProgressError)
    def still_at_it(_error: IdempotencyAlreadyInProgressError) -> Response[Any]:
        message = "the first request with this key is still being worked on: ask again in a moment"
        return problem(HTTPStatus.CONFLICT, [("Idempotency-Key", message)])

    @app.not_found
    def no_such_route(_error: NotFoundError) -> Response[Any]:
        event = app.current_event
        return problem(HTTPStatus.NOT_FOUND, [(None, f"there is no {event.http_method} {event.path}")])

    @app.exception_handler(Exception)
    def fault(_error: Exception) -> Response[Any]:
        logger.exception("the request failed")
        faults.tell(1)
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            [(None, "something went wrong here: try again, with the same Idempotency-Key")],
        )


def _field_and_message(entry: Mapping[str, Any]) -> tuple[str | None, str]:
    """pydantic's place and message: without its own ``body`` and ``query`` prefixes."""
    places = [str(place) for place in entry.get("loc", ())]
    if places and places[0] in ("body", "query", "path", "header"):
        places = places[1:]
    if entry.get("type") == "json_invalid":
        return "body", f"is not JSON: {entry.get('ctx', {}).get('error', entry.get('msg'))}"
    if entry.get("type") == "extra_forbidden":
        return ".".join(places), "is not a known field"
    return ".".join(places) or "body", _in_words(entry)


_WORDS = {
    "missing": "is required: add it",
    "too_short": "needs at least {min_length} item(s), and has {actual_length}: add what is missing",
    "too_long": "takes at most {max_length} items, and has {actual_length}: leave some out, or send them apart",
    "string_too_short": "needs at least {min_length} character(s): give some",
    "string_too_long": "takes at most {max_length} characters: shorten it",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_unicode": "must be text of whole characters, as UTF-8",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
}


def _in_words(entry: Mapping[str, Any]) -> str:
    """What is wrong and what would do; of what has no words here, pydantic's own."""
    words = _WORDS.get(str(entry.get("type")))
    if words is None:
        return str(entry.get("msg")).replace("Input should be", "must be")
    try:
        return words.format(**entry.get("ctx", {}))
    except KeyError:
        return str(entry.get("msg"))
