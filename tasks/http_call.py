"""Sends an HTTP request: the usual way to trigger another system."""

from __future__ import annotations

import json
from typing import Any

import urllib3

from punctual import Context, Fatal, Retry, public_request, task

MAX_BODY_BYTES = 16 * 1024


@task(
    "http.call",
    parameters={
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "pattern": "^https?://",
                "description": "an address that starts with http:// or https://",
                "examples": ["https://example.com/hooks/orders"],
            },
            "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "json": {},
            "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 300},
        },
        "required": ["url"],
        "additionalProperties": False,
    },
)
def call(context: Context, parameters: dict[str, Any]) -> dict[str, Any]:
    """Succeeds on 2xx and 3xx, is retried on 408, 425, 429, 5xx and if there is no response, and otherwise fails.

    The header ``Idempotency-Key`` is the same for all attempts of an execution, so that the called system can
    deduplicate them. The host must have a public address, or one in the stage's ``http_call_networks``. A redirect is
    returned and not followed.
    """
    try:
        response = _send(context.execution_id, parameters)
    except (urllib3.exceptions.HTTPError, OSError, UnicodeError) as error:
        raise Retry(f"no response: {error}") from error
    body = response.read(MAX_BODY_BYTES).decode(errors="replace")
    if response.status in (408, 425, 429) or response.status >= 500:
        raise Retry(f"HTTP status {response.status}", after=_delay(response.headers.get("Retry-After", "")))
    if response.status >= 400:
        raise Fatal(f"HTTP status {response.status}: {body[:200]}")
    return {"status": response.status, "body": body}


def _delay(retry_after: str) -> float | None:
    """The seconds in ``Retry-After``, as far as a retry can be delayed. ``None`` for a date, or for anything else."""
    if not (retry_after.isascii() and retry_after.isdigit()):
        return None
    return min(float(retry_after), Retry.MAX_DELAY_SECONDS)


def _send(key: str, parameters: dict[str, Any]) -> urllib3.BaseHTTPResponse:
    headers, body = parameters.get("headers", {}), None
    if "json" in parameters:
        body = json.dumps(parameters["json"], separators=(",", ":"), ensure_ascii=False).encode()
        if not any(name.lower() == "content-type" for name in headers):
            headers = {"Content-Type": "application/json", **headers}
    return public_request(
        parameters.get("method", "GET"),
        parameters["url"],
        headers={"Idempotency-Key": key, **headers},
        body=body,
        timeout_seconds=parameters.get("timeout_seconds", 30),
    )
