"""What the tests of dependencies have in common."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from punctual.aws import clients as aws
from punctual.domain.instant import to_text
from tests.integration.world import World

NO_RETRY = {"max_attempts": 1}


def after(*jobs: dict[str, Any], condition: str = "succeeded") -> list[dict[str, Any]]:
    return [{"job": job["job_id"], "condition": condition} for job in jobs]


def only(world: World, job: dict[str, Any]) -> dict[str, Any]:
    """The one execution of a job, whatever retries it has."""
    [execution] = [one for one in world.executions(job["job_id"]) if one["origin"] != "retry"]
    return execution


def plan(world: World) -> None:
    """Deliver records until what there is to do lies in the queues; nobody works on it yet."""
    for _ in range(20):
        if not world.deliver_streams():
            return
    raise AssertionError("it does not come to rest")


def batch(world: World, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    status, answer = world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **job} for job in jobs]})
    assert status == 201, answer
    return answer["items"]


def outcome(world: World, job: dict[str, Any]) -> tuple[str, str | None]:
    execution = only(world, job)
    return execution["status"], execution["reason"]


def started_once(world: World, job: dict[str, Any]) -> None:
    execution = only(world, job)
    assert (execution["status"], execution["attempt"], len(execution["attempts"])) == ("succeeded", 1, 1)


def in_an_hour(world: World) -> dict[str, str]:
    return {"at": to_text(world.now + timedelta(hours=1))}


def records(world: World, consumer: str) -> list[Any]:
    return world.stream_records("executions", consumer)


def layers(depth: int, width: int) -> list[dict[str, Any]]:
    """Each job waits for three of the layer above, the deepest first: a batch needs no order."""
    jobs = [
        {
            "name": f"{layer}-{number}",
            "task": "echo",
            "depends_on": [{"job": f"{layer - 1}-{(number + n) % width}"} for n in range(3)] if layer else [],
        }
        for layer in range(depth)
        for number in range(width)
    ]
    return jobs[::-1]


class Interrupted:
    """Does something, once, in the middle of a function: right before its ``nth`` call of DynamoDB."""

    def __init__(self, nth: int, act: Callable[[], None]) -> None:
        self.nth, self.act, self.calls = nth, act, 0

    def __enter__(self) -> Interrupted:
        self.client = aws.dynamodb()
        self.real = self.client._make_api_call
        self.client._make_api_call = self._call
        return self

    def __exit__(self, *_: Any) -> None:
        self.client._make_api_call = self.real

    def _call(self, operation: str, request: dict[str, Any]) -> Any:
        self.calls += 1
        if self.calls == self.nth + 1:
            self.client._make_api_call = self.real
            try:
                self.act()
            finally:
                self.client._make_api_call = self._call
        return self.real(operation, request)
