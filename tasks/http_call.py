"""Sends an HTTP request: the usual way to trigger another system."""

from __future__ import annotations

from typing import Any

import urllib3
from urllib3.util import Url, parse_url

from punctual import Context, Fatal, Retry, public_addresses, task

MAX_BODY_BYTES = 16 * 1024
PORTS = {"http": 80, "https": 443}


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
    deduplicate them. The host must have a public address, or one in the stage's ``http_call_networks``. A redirect is
    returned and not followed.
    """
    try:
        response = _send(context.execution_id, parameters)
    except (urllib3.exceptions.HTTPError, OSError, UnicodeError) as error:
        raise Retry(f"no response: {error}") from error
    body = response.read(MAX_BODY_BYTES).decode(errors="replace")
    if response.status in (408, 425, 429) or response.status >= 500:
        after = response.headers.get("Retry-After", "")
        raise Retry(f"HTTP status {response.status}", after=float(after) if after.isdigit() else None)
    if response.status >= 400:
        raise Fatal(f"HTTP status {response.status}: {body[:200]}")
    return {"status": response.status, "body": body}


def _send(key: str, parameters: dict[str, Any]) -> urllib3.BaseHTTPResponse:
    """Send the request to the first address of the host that accepts a connection."""
    url = parse_url(parameters["url"])
    port = url.port or PORTS[url.scheme or ""]
    sent: dict[str, Any] = {"json": parameters["json"]} if "json" in parameters else {}
    failure: urllib3.exceptions.HTTPError | None = None
    for address in public_addresses((url.host or "").strip("[]"), port):
        try:
            return _connections(url, address, port).request(
                parameters.get("method", "GET"),
                url.request_uri,
                headers={"Host": url.netloc or "", "Idempotency-Key": key, **parameters.get("headers", {})},
                timeout=parameters.get("timeout_seconds", 30),
                retries=False,
                redirect=False,
                preload_content=False,
                **sent,
            )
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            failure = error
    raise failure or OSError("the host has no address")


def _connections(url: Url, address: str, port: int) -> urllib3.HTTPConnectionPool:
    """Connect to ``address``, which was checked: the name could resolve to another address meanwhile."""
    if url.scheme == "http":
        return urllib3.HTTPConnectionPool(address, port)
    return urllib3.HTTPSConnectionPool(
        address, port, cert_reqs="CERT_REQUIRED", server_hostname=url.host, assert_hostname=url.host
    )
