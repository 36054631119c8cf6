"""Shared helpers for tests of job dependencies."""

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


def only_execution(world: World, job: dict[str, Any]) -> dict[str, Any]:
    """Return the only execution of a job, ignoring manual retries."""
    [execution] = [one for one in world.executions(job["job_id"]) if one["origin"] != "retry"]
    return execution


def plan(world: World) -> None:
    """Deliver stream records until all work orders are in the queues; no worker runs."""
    for _ in range(20):
        if not world.deliver_streams():
            return
    raise AssertionError("streams still deliver records after 20 rounds")


def batch(world: World, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    status, answer = world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **job} for job in jobs]})
    assert status == 201, answer
    return answer["items"]


def status_and_reason(world: World, job: dict[str, Any]) -> tuple[str, str | None]:
    execution = only_execution(world, job)
    return execution["status"], execution["reason"]


def assert_started_once(world: World, job: dict[str, Any]) -> None:
    execution = only_execution(world, job)
    assert (execution["status"], execution["attempt"], len(execution["attempts"])) == ("succeeded", 1, 1)


def in_an_hour(world: World) -> dict[str, str]:
    return {"at": to_text(world.now + timedelta(hours=1))}


def execution_records(world: World, consumer: str) -> list[Any]:
    return world.stream_records("executions", consumer)


def layers(depth: int, width: int) -> list[dict[str, Any]]:
    """Build a layered graph in which each job depends on three of the previous layer.

    The deepest layer comes first, since the order of jobs within a batch does not matter.
    """
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
    """Runs an action once in the middle of a function, right before its DynamoDB call number ``nth`` (from 0)."""

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
