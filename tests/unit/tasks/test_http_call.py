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
    """Answers with the status in the path, and with what it was sent."""

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
        """Quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def test_the_answer_is_the_result_and_the_called_one_can_tell_repeats(server: str) -> None:
    result = call(CONTEXT, {"url": f"{server}/201", "method": "POST", "json": {"n": 1}})
    assert result["status"] == 201
    assert json.loads(result["body"]) == {"method": "POST", "key": "the-execution", "body": {"n": 1}}
    assert json.loads(call(CONTEXT, {"url": f"{server}/200"})["body"])["method"] == "GET"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_trouble_on_the_other_side_is_tried_again_when_it_says(server: str, status: int) -> None:
    with pytest.raises(Retry, match=f"answered {status}") as asked:
        call(CONTEXT, {"url": f"{server}/{status}"})
    assert asked.value.after == 7


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_a_refusal_is_final(server: str, status: int) -> None:
    with pytest.raises(Fatal, match=f"answered {status}"):
        call(CONTEXT, {"url": f"{server}/{status}"})


def test_nobody_there_is_tried_again() -> None:
    with pytest.raises(Retry, match="no answer"):
        call(CONTEXT, {"url": "http://127.0.0.1:9/", "timeout_seconds": 2})
