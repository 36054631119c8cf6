"""Punctual as its users meet it: over HTTP, and through the queue that upstream systems write to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import boto3
import httpx

T = TypeVar("T")
FINAL = {"succeeded", "failed", "timed_out", "cancelled", "skipped", "missed"}


class Punctual:
    def __init__(self, stack: dict[str, Any]) -> None:
        self.use(stack)

    def use(self, stack: dict[str, Any]) -> None:
        """Talk to this stack from now on."""
        self.stack = stack
        self._http = httpx.Client(timeout=30, follow_redirects=False)

    def aws(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.stack["endpoint_url"],
            region_name=self.stack["region"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def request(
        self, method: str, path: str, body: Any = None, *, role: str | None = "operator", **options: Any
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.stack['tokens'][role]}"} if role else {}
        headers |= options.pop("headers", {})
        if body is not None:
            options["json"] = body
        return self._http.request(method, f"{self.stack['api_url']}{path}", headers=headers, **options)

    def get(self, path: str) -> Any:
        answer = self.request("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, **submission: Any) -> dict[str, Any]:
        answer = self.request("POST", "/jobs", {"task": "echo", **submission})
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        return job

    def submit_all(self, *submissions: dict[str, Any]) -> list[dict[str, Any]]:
        """In one batch, in which jobs may call each other by name."""
        answer = self.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **one} for one in submissions]})
        assert answer.status_code == 201, answer.text
        jobs: list[dict[str, Any]] = answer.json()["items"]
        return jobs

    def executions(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """A job's executions, oldest due instant first."""
        path = f"/jobs/{job['job_id']}/executions?limit=100"
        page = self.get(path)
        items: list[dict[str, Any]] = page["items"]
        while page["cursor"]:
            page = self.get(f"{path}&cursor={page['cursor']}")
            items += page["items"]
        return items[::-1]

    def ended(self, job: dict[str, Any], count: int = 1, seconds: float = 60) -> list[dict[str, Any]]:
        """The first ``count`` executions of a job that ended, awaited."""

        def enough() -> list[dict[str, Any]] | None:
            over = [one for one in self.executions(job) if one["status"] in FINAL]
            return over[:count] if len(over) >= count else None

        return awaited(enough, seconds, f"{count} ended executions of {job['name']}")

    def ran(self, seconds: float = 60, **submission: Any) -> dict[str, Any]:
        """The one execution of a job, from its submission to its end."""
        [execution] = self.ended(self.submit(**submission), seconds=seconds)
        return execution

    def send(self, queue: str, body: Any) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        self.aws("sqs").send_message(QueueUrl=self.stack["queues"][queue], MessageBody=text)

    def received(self, queue: str, seconds: float = 60) -> dict[str, Any]:
        """The next message of a queue, awaited and removed."""
        sqs, url = self.aws("sqs"), self.stack["queues"][queue]

        def one() -> dict[str, Any] | None:
            answer = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1, MessageAttributeNames=["All"])
            return next(iter(answer.get("Messages", [])), None)

        message = awaited(one, seconds, f"a message on {queue}")
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return message


def awaited(find: Callable[[], T | None], seconds: float, what: str, every: float = 0.2) -> T:
    """What ``find`` finds, asked again and again until it finds something or the time is up."""
    end = time.monotonic() + seconds
    while True:
        found = find()
        if found:
            return found
        assert time.monotonic() < end, f"not within {seconds} seconds: {what}"
        time.sleep(every)


def soon(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
