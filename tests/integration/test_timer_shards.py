"""The number of shards changes on a live stack: functions with the former and the new number run side by side."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.aws.dynamodb import shards
from punctual.domain.instant import to_text
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

FUNCTIONS = ("api", "planner", "dispatcher", "worker", "settler", "monitor")


def deploy(world: World, monkeypatch: pytest.MonkeyPatch, number: int, *functions: str) -> None:
    """Deploy functions, by default all, with another number of shards."""
    monkeypatch.setenv("TIMER_SHARDS", str(number))
    for name in functions or FUNCTIONS:
        world._functions.pop(name, None)
        world.function(name)


def submit(world: World, count: int, minutes: float = 10, **fields: Any) -> list[str]:
    due = to_text(world.now + timedelta(minutes=minutes))
    jobs = [world.submit(task="echo", schedule={"at": due}, **fields)["job_id"] for _ in range(count)]
    world.run_until_idle()
    return jobs


def run_for(world: World, minutes: int, ticks: int) -> None:
    for _ in range(minutes):
        for tick in range(ticks):
            world.tick(tick, ticks)
        world.run_until_idle()
        world.pass_time(60)
    world.run_until_idle()


def slots(world: World) -> set[str]:
    """The shards of all timers."""
    return {item["bucket"]["S"].partition("#")[2] for item in world.items("timers") if item["bucket"]["S"] != "sweep"}


def numbers(world: World) -> set[str]:
    stored = world.dynamodb.get_item(TableName="executions", Key={name: {"S": "#shards"} for name in shards.KEY})[
        "Item"
    ]
    return {name.removeprefix(shards.UNTIL) for name in stored if name.startswith(shards.UNTIL)}


def statuses(world: World, jobs: list[str]) -> set[str]:
    return {one["status"] for job in jobs for one in world.executions(job)}


def test_timers_of_a_planner_with_more_shards_are_swept_by_the_former_dispatcher(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(world, monkeypatch, 1)
    run_for(world, 1, ticks=1)
    deploy(world, monkeypatch, 4, "planner")
    jobs = submit(world, 12)
    assert slots(world) - {"0"}
    run_for(world, 12, ticks=1)
    assert statuses(world, jobs) == {"succeeded"}


def test_a_lower_number_sweeps_the_former_shards_until_they_are_empty(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(world, monkeypatch, 4)
    jobs = submit(world, 12)
    deploy(world, monkeypatch, 1)
    jobs += submit(world, 3)
    run_for(world, 12, ticks=1)
    assert statuses(world, jobs) == {"succeeded"}
    world.idle_for(23 * 3600)
    world.call("monitor", {})
    assert numbers(world) == {"1", "4"}
    world.pass_time(4 * 3600)
    world.call("monitor", {})
    assert numbers(world) == {"1", "4"}  # its shards were not swept up to the last instant that a timer may have
    run_for(world, 1, ticks=1)
    world.call("monitor", {})
    assert numbers(world) == {"1"}


def test_a_number_that_returns_sweeps_from_its_return(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "RENEWED_FOR", timedelta())
    deploy(world, monkeypatch, 2)
    submit(world, 1)
    run_for(world, 12, ticks=2)
    deploy(world, monkeypatch, 1)
    submit(world, 1)
    run_for(world, 180, ticks=1)
    world.call("monitor", {})
    assert numbers(world) == {"1"}
    world.idle_for(30 * 24 * 3600)
    deploy(world, monkeypatch, 2)
    jobs = submit(world, 8)
    assert world.tick(1, 2)["behind"] == 0
    run_for(world, 12, ticks=2)
    assert statuses(world, jobs) == {"succeeded"}


def test_a_worker_that_dies_under_a_higher_number_is_replaced_under_a_lower_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(world, monkeypatch, 5)
    jobs = []
    for _ in range(4):
        jobs.append(world.submit(task="test.crash", parameters={"in_attempts": [1]}, overlap="allow")["job_id"])
        with pytest.raises(Killed):
            world.run_until_idle()
    deploy(world, monkeypatch, 1)
    world.pass_time(61)
    world.tick()
    world.run_until_idle()
    assert statuses(world, jobs) == {"succeeded"}
