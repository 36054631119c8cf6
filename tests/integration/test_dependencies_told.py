"""Word of an upstream's end that comes twice, late, at the same moment, or never."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.domain.instant import to_text
from tests.integration.dependants import Interrupted, after, batch, layers, only, outcome, plan, records, started_once
from tests.integration.odd_tasks import Killed
from tests.integration.world import World


def die() -> None:
    raise Killed


@pytest.mark.parametrize("heard", [True, False], ids=["listened to", "not yet listened to"])
@pytest.mark.parametrize("moment", range(9))
def test_an_upstream_that_ends_while_its_dependant_is_being_held_is_not_overlooked(
    world: World, moment: int, heard: bool
) -> None:
    if heard:
        _, second = batch(world, {"name": "first"}, {"name": "second", "depends_on": [{"job": "first"}]})
    else:  # planned before anybody depended on it
        first = world.submit()
        plan(world)
        second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    fresh = records(world, "planner")
    [held] = [one for one in fresh if "depends_on" in one["dynamodb"]["NewImage"]]
    world.call("planner", {"Records": [one for one in fresh if one is not held]})
    [order] = world.orders()

    def upstream_ends() -> None:
        world.work(order)
        world.call("settler", {"Records": records(world, "settler")})

    with Interrupted(moment, upstream_ends) as interrupted:
        world.call("planner", {"Records": [held]})
    if interrupted.calls <= moment:
        upstream_ends()
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("moment", range(6))
def test_a_dependant_that_is_held_while_the_end_is_being_told_is_not_overlooked(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    [order] = world.orders()
    world.work(order)
    ended = records(world, "settler")

    def hold() -> None:
        world.call("planner", {"Records": held})

    with Interrupted(moment, hold) as interrupted:
        world.call("settler", {"Records": ended})
    if interrupted.calls <= moment:
        hold()
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("moment", range(7))
def test_two_upstreams_that_end_together_start_their_dependant_once(world: World, moment: int) -> None:
    first, second = world.submit(), world.submit()
    third = world.submit(depends_on=after(first, second))
    plan(world)
    for order in world.orders():
        world.work(order)
    one, other = records(world, "settler")

    with Interrupted(moment, lambda: world.call("settler", {"Records": [other, other]})):
        world.call("settler", {"Records": [one]})
    world.call("settler", {"Records": [other, one]})
    sent = []
    while fresh := records(world, "planner"):
        world.call("planner", {"Records": fresh})
        sent += world.orders()
    assert len(sent) == 1
    for order in sent:
        world.work(order)
    started_once(world, third)


def test_every_record_twice_and_in_any_order_starts_each_dependant_once(world: World) -> None:
    shuffle = random.Random(11).shuffle

    def twice_in_any_order(fresh: list[Any]) -> list[Any]:
        fresh = [*fresh, *fresh]
        shuffle(fresh)
        return fresh

    jobs = batch(world, *layers(depth=3, width=4))
    failing = world.submit(name="failing", task="fail", parameters={"fatal": True})
    skipped = world.submit(depends_on=[*after(failing), *after(jobs[0])])
    for _ in range(12):
        world.deliver_streams(twice_in_any_order)
        for order in twice_in_any_order(world.orders()):
            world.work(order)
    for job in jobs:
        started_once(world, job)
    assert only(world, skipped)["status"] == "skipped"


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_planner_that_dies_at_any_line_is_made_up_for(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    with Interrupted(moment, die), suppress(Killed):
        world.call("planner", {"Records": held})
    world.call("planner", {"Records": held})
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("ends", ["succeeded", "failed"])
@pytest.mark.parametrize("moment", range(7))
def test_a_settler_that_dies_at_any_line_is_made_up_for(world: World, moment: int, ends: str) -> None:
    task = {"task": "echo"} if ends == "succeeded" else {"task": "fail", "parameters": {"fatal": True}}
    first = world.submit(**task)
    second, third = (world.submit(depends_on=after(first)) for _ in range(2))
    plan(world)
    [order] = world.orders()
    world.work(order)
    ended = records(world, "settler")
    with Interrupted(moment, die), suppress(Killed):
        world.call("settler", {"Records": ended})
    world.call("settler", {"Records": ended})
    world.settle_down()
    for job in (second, third):
        if ends == "succeeded":
            started_once(world, job)
        else:
            assert only(world, job)["status"] == "skipped"


def test_word_that_never_comes_is_made_up_for_within_the_hour(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    plan(world)
    [order] = world.orders()
    world.work(order)
    records(world, "settler")  # lost
    world.run_for(3000, step=60)
    assert only(world, second)["status"] == "waiting"
    world.run_for(900, step=60)
    started_once(world, second)


def test_an_upstream_planned_by_what_its_job_was_before_is_found_within_minutes(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    fresh = world.stream_records("jobs", "planner")
    old = next(one for one in fresh if "feeds" not in one["dynamodb"]["NewImage"])
    assert old["dynamodb"]["Keys"] == {"job_id": {"S": first["job_id"]}}
    new = [one for one in fresh if one["dynamodb"]["Keys"] != old["dynamodb"]["Keys"]]
    world.call("planner", {"Records": new})
    world.call("planner", {"Records": records(world, "planner")})
    assert outcome(world, second)[0] == "waiting"
    world.call("planner", {"Records": [old]})  # and nobody is told of the end of what it plans
    world.settle_down()
    assert [only(world, one)["status"] for one in (first, second)] == ["succeeded", "waiting"]
    world.run_for(300, step=20)
    started_once(world, second)


def test_one_timer_at_a_time_looks_after_a_dependant(world: World) -> None:
    first = world.submit(schedule={"at": to_text(world.now + timedelta(days=1))})
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    world.call("planner", {"Records": held})
    world.pass_time(100)
    world.call("planner", {"Records": held})  # again: its timer is for nothing
    upstream = [item for item in world.items("timers") if item["due"]["S"].endswith("#upstream")]
    assert len(upstream) == 2
    queued = 0
    for _ in range(70):
        queued += world.tick()["queued"]
        plan(world)
        world.pass_time(60)
    assert queued == 1
    assert only(world, second)["status"] == "waiting"


def test_a_job_without_dependencies_registers_for_no_end_and_asks_for_none(world: World) -> None:
    tables: list[str] = []
    ends: list[str] = []
    client = aws.dynamodb()
    real = client._make_api_call

    def noting(operation: str, request: dict[str, Any]) -> Any:
        tables.extend(request.get("RequestItems", {request.get("TableName"): None}))
        ends.extend(["end"] * ("end#" in str(request)))
        return real(operation, request)

    client._make_api_call = noting
    job = world.submit(schedule={"every_seconds": 60})
    world.submit()
    world.run_for(120, step=10)
    assert {one["status"] for one in world.executions(job["job_id"])} >= {"succeeded"}
    assert "executions" in tables
    assert ends == []
