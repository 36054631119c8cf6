"""The shipped ``http.call`` against a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from punctual import Fatal, Retry
from tasks.http_call import call
from tests.unit.contexts import context

CONTEXT = context(execution_id="the-execution")


class Echo(BaseHTTPRequestHandler):
    """Responds with the status in the path, and with the request as its body."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        sent = {
            "method": self.command,
            "key": self.headers["Idempotency-Key"],
            "body": json.loads(self.rfile.read(length) or "null"),
        }
        self.send_response(int(self.path.strip("/")))
        self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(json.dumps(sent).encode())

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        """Suppress the access log."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def test_the_response_is_the_result_and_the_request_has_an_idempotency_key(server: str) -> None:
    result = call(CONTEXT, {"url": f"{server}/201", "method": "POST", "json": {"n": 1}})
    assert result["status"] == 201
    assert json.loads(result["body"]) == {"method": "POST", "key": "the-execution", "body": {"n": 1}}
    assert json.loads(call(CONTEXT, {"url": f"{server}/200"})["body"])["method"] == "GET"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_a_transient_status_is_retried_after_the_requested_delay(server: str, status: int) -> None:
    with pytest.raises(Retry, match=f"HTTP status {status}") as asked:
        call(CONTEXT, {"url": f"{server}/{status}"})
    assert asked.value.after == 7


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_client_error_is_fatal(server: str, status: int) -> None:
    with pytest.raises(Fatal, match=f"HTTP status {status}"):
        call(CONTEXT, {"url": f"{server}/{status}"})


def test_an_unreachable_server_is_retried() -> None:
    with pytest.raises(Retry, match="no response"):
        call(CONTEXT, {"url": "http://127.0.0.1:9/", "timeout_seconds": 2})
