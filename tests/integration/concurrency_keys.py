"""Shared helpers for tests of concurrency keys and rate limits."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

KEY = {"key": "customer-{customer}", "limit": 2}
KEY_WITH_RATE = {"key": "partner", "limit": 1, "rate": {"starts": 1, "per_seconds": 4}}


def submit(world: World, customer: int = 1, concurrency: dict[str, Any] = KEY, **more: Any) -> str:
    parameters = {"customer": customer}
    job = world.submit(task="test.scripted", parameters=parameters, concurrency=concurrency, **more)
    return str(job["job_id"])


def status(world: World, job_id: str) -> str:
    [one] = world.executions(job_id)
    return str(one["status"])


def work_orders(world: World) -> list[dict[str, Any]]:
    """Deliver the streams and return the work orders of all submitted jobs, oldest job first."""
    for _ in range(3):
        world.deliver_streams()
    return sorted(world.orders(), key=lambda one: json.loads(one["body"])["execution_id"])


def run_nested(world: World, orders: list[dict[str, Any]], inside: Any) -> None:
    """Run every order while the previous one is still running, and call ``inside`` in the innermost."""
    if not orders:
        inside()
        return
    TASK_BODIES.append(lambda _context: run_nested(world, orders[1:], inside))
    world.work(orders[0])
