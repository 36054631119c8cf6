"""Waking dependants when an upstream ends: duplicate, late, concurrent and lost stream records."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.domain.instant import to_text
from tests.integration.dependants import (
    Interrupted,
    after,
    assert_started_once,
    batch,
    execution_records,
    layers,
    only_execution,
    plan,
    status_and_reason,
)
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World


def crash() -> None:
    raise Killed


@pytest.mark.parametrize("registered", [True, False], ids=["dependant registered", "dependant not yet registered"])
@pytest.mark.parametrize("moment", range(9))
def test_a_dependant_starts_if_its_upstream_ends_while_the_planner_holds_it(
    world: World, moment: int, registered: bool
) -> None:
    if registered:
        _, second = batch(world, {"name": "first"}, {"name": "second", "depends_on": [{"job": "first"}]})
    else:  # planned before it had a dependant
        first = world.submit()
        plan(world)
        second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    fresh = execution_records(world, "planner")
    [to_hold] = [one for one in fresh if "depends_on" in one["dynamodb"]["NewImage"]]
    world.call("planner", {"Records": [one for one in fresh if one is not to_hold]})
    [order] = world.orders()

    def upstream_ends() -> None:
        world.work(order)
        world.call("settler", {"Records": execution_records(world, "settler")})

    with Interrupted(moment, upstream_ends) as interrupted:
        world.call("planner", {"Records": [to_hold]})
    if interrupted.calls <= moment:
        upstream_ends()
    world.run_until_idle()
    assert_started_once(world, second)


@pytest.mark.parametrize("moment", range(6))
def test_a_dependant_starts_if_it_is_held_while_the_settler_wakes_dependants(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    to_hold = execution_records(world, "planner")
    [order] = world.orders()
    world.work(order)
    ended = execution_records(world, "settler")

    def hold() -> None:
        world.call("planner", {"Records": to_hold})

    with Interrupted(moment, hold) as interrupted:
        world.call("settler", {"Records": ended})
    if interrupted.calls <= moment:
        hold()
    world.run_until_idle()
    assert_started_once(world, second)


@pytest.mark.parametrize("moment", range(7))
def test_two_upstreams_that_end_concurrently_start_their_dependant_once(world: World, moment: int) -> None:
    first, second = world.submit(), world.submit()
    third = world.submit(depends_on=after(first, second))
    plan(world)
    for order in world.orders():
        world.work(order)
    one, other = execution_records(world, "settler")

    with Interrupted(moment, lambda: world.call("settler", {"Records": [other, other]})):
        world.call("settler", {"Records": [one]})
    world.call("settler", {"Records": [other, one]})
    sent = []
    while fresh := execution_records(world, "planner"):
        world.call("planner", {"Records": fresh})
        sent += world.orders()
    assert len(sent) == 1
    for order in sent:
        world.work(order)
    assert_started_once(world, third)


def test_duplicate_and_reordered_records_start_each_dependant_once(world: World) -> None:
    shuffle = random.Random(11).shuffle

    def duplicate_and_shuffle(fresh: list[Any]) -> list[Any]:
        fresh = [*fresh, *fresh]
        shuffle(fresh)
        return fresh

    jobs = batch(world, *layers(depth=3, width=4))
    failing = world.submit(name="failing", task="fail", parameters={"fatal": True})
    skipped = world.submit(depends_on=[*after(failing), *after(jobs[0])])
    for _ in range(12):
        world.deliver_streams(duplicate_and_shuffle)
        for order in duplicate_and_shuffle(world.orders()):
            world.work(order)
    for job in jobs:
        assert_started_once(world, job)
    assert only_execution(world, skipped)["status"] == "skipped"


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_dependant_starts_once_after_a_planner_crash_at_any_call(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    to_hold = execution_records(world, "planner")
    with Interrupted(moment, crash), suppress(Killed):
        world.call("planner", {"Records": to_hold})
    world.call("planner", {"Records": to_hold})
    world.run_until_idle()
    assert_started_once(world, second)


@pytest.mark.parametrize("upstream_status", ["succeeded", "failed"])
@pytest.mark.parametrize("moment", range(7))
def test_dependants_are_woken_once_after_a_settler_crash_at_any_call(
    world: World, moment: int, upstream_status: str
) -> None:
    task = {"task": "echo"} if upstream_status == "succeeded" else {"task": "fail", "parameters": {"fatal": True}}
    first = world.submit(**task)
    second, third = (world.submit(depends_on=after(first)) for _ in range(2))
    plan(world)
    [order] = world.orders()
    world.work(order)
    ended = execution_records(world, "settler")
    with Interrupted(moment, crash), suppress(Killed):
        world.call("settler", {"Records": ended})
    world.call("settler", {"Records": ended})
    world.run_until_idle()
    for job in (second, third):
        if upstream_status == "succeeded":
            assert_started_once(world, job)
        else:
            assert only_execution(world, job)["status"] == "skipped"


def test_a_dependant_whose_wakeup_was_lost_starts_within_the_hour(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    plan(world)
    [order] = world.orders()
    world.work(order)
    execution_records(world, "settler")  # lost
    world.run_for(3000, step=60)
    assert only_execution(world, second)["status"] == "waiting"
    world.run_for(900, step=60)
    assert_started_once(world, second)


def test_an_upstream_planned_from_a_stale_job_record_wakes_its_dependants(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    fresh = world.stream_records("jobs", "planner")
    old = next(one for one in fresh if "is_upstream" not in one["dynamodb"]["NewImage"])
    assert old["dynamodb"]["Keys"] == {"job_id": {"S": first["job_id"]}}
    new = [one for one in fresh if one["dynamodb"]["Keys"] != old["dynamodb"]["Keys"]]
    world.call("planner", {"Records": new})
    world.call("planner", {"Records": execution_records(world, "planner")})
    assert status_and_reason(world, second)[0] == "waiting"
    world.call("planner", {"Records": [old]})  # the planner plans the job as it is now, with its dependant
    world.run_until_idle()
    assert only_execution(world, first)["status"] == "succeeded"
    assert_started_once(world, second)


def test_a_dependant_has_one_effective_timer(world: World) -> None:
    first = world.submit(schedule={"at": to_text(world.now + timedelta(days=1))})
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    to_hold = execution_records(world, "planner")
    world.call("planner", {"Records": to_hold})
    world.pass_time(100)
    world.call("planner", {"Records": to_hold})  # duplicate: its timer has no effect
    upstream = [item for item in world.items("timers") if item["due"]["S"].endswith("#upstream")]
    assert len(upstream) == 2
    queued = 0
    for _ in range(70):
        queued += world.tick()["queued"]
        plan(world)
        world.pass_time(60)
    assert queued == 1
    assert only_execution(world, second)["status"] == "waiting"


def test_a_job_without_dependencies_neither_registers_nor_reads_dependants(world: World) -> None:
    tables: list[str] = []
    end_requests: list[str] = []
    client = aws.dynamodb()
    real = client._make_api_call

    def recording_call(operation: str, request: dict[str, Any]) -> Any:
        tables.extend(request.get("RequestItems", {request.get("TableName"): None}))
        end_requests.extend(["end"] * ("end#" in str(request)))
        return real(operation, request)

    client._make_api_call = recording_call
    job = world.submit(schedule={"every_seconds": 60})
    world.submit()
    world.run_for(120, step=10)
    assert {one["status"] for one in world.executions(job["job_id"])} >= {"succeeded"}
    assert "executions" in tables
    assert end_requests == []
