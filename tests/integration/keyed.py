"""What the tests of keys and rates have in common."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.odd_tasks import MEANWHILE
from tests.integration.world import World

KEY = {"key": "customer-{customer}", "limit": 2}
BOTH = {"key": "partner", "limit": 1, "rate": {"starts": 1, "per_seconds": 4}}


def submit(world: World, customer: int = 1, concurrency: dict[str, Any] = KEY, **more: Any) -> str:
    parameters = {"customer": customer}
    job = world.submit(task="test.meanwhile", parameters=parameters, concurrency=concurrency, **more)
    return str(job["job_id"])


def status(world: World, job_id: str) -> str:
    [one] = world.executions(job_id)
    return str(one["status"])


def ordered(world: World) -> list[dict[str, Any]]:
    """The orders of all that was submitted, the oldest job first."""
    for _ in range(3):
        world.deliver_streams()
    return sorted(world.orders(), key=lambda one: json.loads(one["body"])["execution_id"])


def nested(world: World, orders: list[dict[str, Any]], inside: Any) -> None:
    """Have each run while the one before still does; then do ``inside``."""
    if not orders:
        inside()
        return
    MEANWHILE.append(lambda _context: nested(world, orders[1:], inside))
    world.work(orders[0])
