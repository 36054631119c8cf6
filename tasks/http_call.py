"""Sends an HTTP request: the usual way to trigger another system."""

from typing import Any

import urllib3

from punctual import Context, Fatal, Retry, task

MAX_BODY_BYTES = 16 * 1024


@task(
    "http.call",
    parameters={
        "type": "object",
        "properties": {
            "url": {"type": "string", "pattern": "^https?://"},
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
    deduplicate them.
    """
    sent: dict[str, Any] = {"json": parameters["json"]} if "json" in parameters else {}
    try:
        response = urllib3.PoolManager().request(
            parameters.get("method", "GET"),
            parameters["url"],
            headers={"Idempotency-Key": context.execution_id, **parameters.get("headers", {})},
            timeout=parameters.get("timeout_seconds", 30),
            retries=False,
            redirect=False,
            preload_content=False,
            **sent,
        )
    except urllib3.exceptions.HTTPError as error:
        raise Retry(f"no response: {error}") from error
    body = response.read(MAX_BODY_BYTES).decode(errors="replace")
    if response.status in (408, 425, 429) or response.status >= 500:
        after = response.headers.get("Retry-After", "")
        raise Retry(f"HTTP status {response.status}", after=float(after) if after.isdigit() else None)
    if response.status >= 400:
        raise Fatal(f"HTTP status {response.status}: {body[:200]}")
    return {"status": response.status, "body": body}
