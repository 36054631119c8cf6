"""A client of the deployed stack: its HTTP API, its intake queue, and boto3 clients for its AWS resources."""

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
        """Connect to this stack, for example after a restart."""
        self.stack = stack
        self._http = httpx.Client(timeout=120, follow_redirects=False)

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
        """Submit a batch. Its jobs can refer to each other by name."""
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
        return sorted(items, key=lambda one: str(one["execution_id"]))

    def wait_for_end(self, job: dict[str, Any], count: int = 1, seconds: float = 60) -> list[dict[str, Any]]:
        """Wait until ``count`` executions of a job have ended, and return those."""

        def enough() -> list[dict[str, Any]] | None:
            ended = [one for one in self.executions(job) if one["status"] in FINAL]
            return ended[:count] if len(ended) >= count else None

        return wait_for(enough, seconds, f"{count} ended executions of {job['name']}")

    def run_job(self, seconds: float = 60, **submission: Any) -> dict[str, Any]:
        """Submit a job, wait until its only execution has ended, and return that."""
        [execution] = self.wait_for_end(self.submit(**submission), seconds=seconds)
        return execution

    def send(self, queue: str, body: Any) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        self.aws("sqs").send_message(QueueUrl=self.stack["queues"][queue], MessageBody=text)

    def invoke(self, name: str, event: dict[str, Any]) -> dict[str, Any]:
        """Invoke a function and return Lambda's answer."""
        function = self.stack["functions"][name]
        answer: dict[str, Any] = self.aws("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
        return answer

    def tick(self) -> dict[str, float]:
        """Run the monitor's tick now, and return the metrics that the alarms watch."""
        figures: dict[str, float] = json.loads(self.invoke("monitor", {"do": "tick"})["Payload"].read())["figures"]
        return figures

    def logged(self, function: str, text: str) -> list[str]:
        """The messages that a function has logged in lines that contain ``text``."""
        pages = (
            self.aws("logs")
            .get_paginator("filter_log_events")
            .paginate(logGroupName=self.stack["log_groups"][function], filterPattern=f'"{text}"')
        )
        lines = [event["message"] for page in pages for event in page["events"]]
        return [json.loads(line).get("message", "") for line in lines if line.startswith("{")]

    def dead_letters(self) -> dict[str, int]:
        """The dead-letter queues that are not empty, with the number of their messages."""
        sqs, queues = self.aws("sqs"), self.stack["queues"]
        counts = {name: _messages(sqs, url) for name, url in queues.items() if name.endswith("_dead_letters")}
        return {name: count for name, count in counts.items() if count}

    def receive(self, queue: str, seconds: float = 60) -> dict[str, Any]:
        """Wait for the next message of a queue, delete it, and return it."""
        sqs, url = self.aws("sqs"), self.stack["queues"][queue]

        def one() -> dict[str, Any] | None:
            answer = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1, MessageAttributeNames=["All"])
            return next(iter(answer.get("Messages", [])), None)

        message = wait_for(one, seconds, f"a message on {queue}")
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return message


def _messages(sqs: Any, url: str) -> int:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(attributes[name]) for name in names)


PATIENCE = 4
"""Factor for all time limits. A limit only ends a test that would never pass, even on a busy machine."""


def wait_for(find: Callable[[], T | None], seconds: float, what: str, every: float = 0.2) -> T:
    """Poll ``find`` until it returns something, and return that. Fails with ``what`` when the limit has passed."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        found = find()
        if found:
            return found
        assert time.monotonic() < end, f"not within {seconds * PATIENCE:.0f} seconds: {what}"
        time.sleep(every)


def soon(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
