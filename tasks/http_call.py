"""Calls a web address: the usual way to set another system in motion."""

from typing import Any

import urllib3

from punctual import Context, Fatal, Retry, task

ANSWER_BYTES = 16 * 1024


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
    """Succeeds on 2xx and 3xx, is tried again on 408, 425, 429, 5xx and when nobody answers, and fails on the rest.

    The called system can tell repeated attempts of one execution by the header ``Idempotency-Key``.
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
        raise Retry(f"no answer: {error}") from error
    body = response.read(ANSWER_BYTES).decode(errors="replace")
    if response.status in (408, 425, 429) or response.status >= 500:
        after = response.headers.get("Retry-After", "")
        raise Retry(f"answered {response.status}", after=float(after) if after.isdigit() else None)
    if response.status >= 400:
        raise Fatal(f"answered {response.status}: {body[:200]}")
    return {"status": response.status, "body": body}
