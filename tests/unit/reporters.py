"""A client of the reporter whose calls are answered by the test."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

from punctual.aws.reporter_client import ReporterClient
from punctual.domain.long_lane.assignment import Assignment

ASSIGNMENT = Assignment(job_id="j", execution_id="e", part="all", attempt=1, key="k")


class Lambda:
    """The Lambda service as far as a container uses it: answers each call with the test's reply."""

    def __init__(self, reply: Callable[[dict[str, Any]], Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._reply = reply

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        assert FunctionName == "reporter"
        request = json.loads(Payload)
        self.requests.append(request)
        reply = self._reply(request)
        if isinstance(reply, Exception):
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(str(reply)).encode())}
        return {"Payload": io.BytesIO(json.dumps(reply).encode())}

    def of(self, action: str) -> list[dict[str, Any]]:
        return [request for request in self.requests if request["do"] == action]


def reporter(client: Lambda) -> ReporterClient:
    return ReporterClient("reporter", ASSIGNMENT, client, sleep=lambda _: None)


def accepted(_request: dict[str, Any]) -> dict[str, Any]:
    return {"ok": True, "preempt_reason": None}
