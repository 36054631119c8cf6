"""Conditional requests: an answer to a GET has an ETag. A client that has it already gets 304 without a body."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler.openapi.models import Header, Operation, Parameter, Response, Schema

TEXT = Schema(type="string")
EXECUTION_PATH = re.compile("/executions/[^/]+")
CACHE_CONTROL = "private, no-cache"
"""A browser may keep an answer, but asks with ``If-None-Match`` before it uses it."""


def answer_if_changed(event: Mapping[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Add the ETag to the answer of a successful GET. Return 304 if the request names it."""
    is_get = event["requestContext"]["http"]["method"] == "GET"
    if not is_get or answer["statusCode"] != HTTPStatus.OK or not answer.get("body"):
        return answer
    tag = _entity_tag(_content(event["rawPath"], answer["body"]))
    headers = {**answer.get("headers", {}), "ETag": tag, "Cache-Control": CACHE_CONTROL}
    if not _names(event.get("headers", {}).get("if-none-match", ""), tag):
        return {**answer, "headers": headers}
    del headers["Content-Type"]
    return {**answer, "statusCode": int(HTTPStatus.NOT_MODIFIED), "headers": headers, "body": ""}


def describe(operation: Operation) -> None:
    """Add the headers and the status 304 to a GET in the OpenAPI document."""
    responses = operation.responses or {}
    headers = {
        "ETag": Header(description="Send it as `If-None-Match` to get 304 while the answer is the same.", schema=TEXT),
        "Cache-Control": Header(description=f"`{CACHE_CONTROL}`", schema=TEXT),
    }
    responses[int(HTTPStatus.OK)].headers = headers
    responses[int(HTTPStatus.NOT_MODIFIED)] = Response(description="Not Modified", headers=headers)
    wanted = {"name": "If-None-Match", "in": "header", "description": "ETags that the client has.", "schema": TEXT}
    operation.parameters = [*(operation.parameters or []), Parameter(**wanted)]


def _content(path: str, body: str) -> str:
    """What the tag stands for: the answer without the instant at which it was computed, which says nothing new."""
    if path == "/lane":
        return json.dumps(json.loads(body) | {"at": None})
    if EXECUTION_PATH.fullmatch(path) and (deadline := (answer := json.loads(body)).get("deadline")):
        return json.dumps(answer | {"deadline": deadline | {"checked_at": None}})
    return body


def _entity_tag(body: str) -> str:
    """Weak: an intermediary may compress the body."""
    return f'W/"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'


def _names(if_none_match: str, tag: str) -> bool:
    """Whether the header names the tag. It is a list, or ``*`` for any."""
    named = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return "*" in named or tag.removeprefix("W/") in named
