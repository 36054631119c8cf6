"""Only so many starts of a key in a span of time, and who is put off."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from punctual import Context
from punctual.domain.instant import from_text
from tests.integration.keyed import BOTH, ordered, status, submit
from tests.integration.long_lane import LongLane
from tests.integration.mishaps import just_before, to
from tests.integration.odd_tasks import MEANWHILE, Killed
from tests.integration.world import World

KEY_OF_BOTH = "key#data-quality#partner"


def started(world: World, jobs: list[str]) -> list[datetime]:
    """When each of them started, the first one first."""
    return sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)


def put_off(world: World) -> tuple[str, str]:
    """Two jobs of one key: one that is inside and may start only later, and one that waits behind it."""
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    first = submit(world, concurrency=rare)
    world.settle_down()
    assert status(world, first) == "succeeded"
    world.pass_time(1)
    second = submit(world, concurrency=rare)
    world.settle_down()
    world.pass_time(1)
    third = submit(world, concurrency=rare)
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    return second, third


def test_only_so_many_start_in_a_span_of_time_and_the_rest_say_when(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 2, "per_seconds": 60}}
    jobs = [submit(world, concurrency=rate) for _ in range(5)]
    world.settle_down()
    found = sorted(status(world, job) for job in jobs)
    assert found == ["queued"] * 3 + ["succeeded"] * 2
    put_off = [world.executions(job)[0] for job in jobs if status(world, job) == "queued"]
    starts = sorted(from_text(one["retry_at"]) for one in put_off)
    assert starts == [world.now + timedelta(seconds=seconds) for seconds in (30, 60, 90)]
    in_order = sorted(put_off, key=lambda one: str(one["retry_at"]))
    ahead = [world.execution(one["execution_id"])["waiting_for"]["ahead"] for one in in_order]
    assert ahead == [0, 1, 2]
    waiting_for = world.execution(put_off[0]["execution_id"])["waiting_for"]
    assert waiting_for["what"] == "rate"
    assert waiting_for["detail"].startswith("no more than 2 start in 60 seconds: it starts at ")
    for seconds in (30, 30, 30):
        world.pass_time(seconds)
        world.settle_down()
    assert [status(world, job) for job in jobs] == ["succeeded"] * 5
    started = sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)
    for earlier, third in zip(started, started[2:], strict=False):
        assert third - earlier >= timedelta(seconds=30)


def test_a_rate_is_kept_where_its_key_has_a_limit_too(world: World) -> None:
    jobs: list[str] = []

    def hold(_context: Context) -> None:
        jobs.extend(submit(world, concurrency=BOTH) for _ in range(4))
        world.pass_time(20)
        world.settle_down()
        assert [status(world, job) for job in jobs] == ["waiting"] * 4

    MEANWHILE.append(hold)
    submit(world, concurrency=BOTH)
    world.settle_down()
    world.run_for(20)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 4
    starts = started(world, jobs)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_a_rate_is_kept_where_its_job_runs_one_after_the_other(world: World) -> None:
    rate = {"key": "partner", "rate": {"starts": 1, "per_seconds": 4}}
    job_id = submit(world, concurrency=rate, schedule={"cron": "@yearly"}, overlap="queue_all")

    def run() -> str:
        answer, ran = world.request("POST", f"/jobs/{job_id}/run", {})
        assert answer == 201
        return str(ran["execution"]["execution_id"])

    ran: list[str] = []

    def hold(_context: Context) -> None:
        for _ in range(3):
            ran.append(run())
            world.settle_down()
        world.pass_time(20)

    MEANWHILE.append(hold)
    run()
    world.settle_down()
    world.run_for(14)
    starts = sorted(from_text(world.execution(one)["started_at"]) for one in ran)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_one_that_is_put_off_keeps_its_place_however_often_the_gates_are_looked_after(world: World) -> None:
    second, third = put_off(world)
    starts_at = world.executions(second)[0]["retry_at"]
    world.run_for(300, step=60)
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    assert world.executions(second)[0]["retry_at"] == starts_at
    world.run_for(300, step=60)
    assert world.executions(second)[0]["started_at"] >= starts_at
    world.run_for(660, step=60)
    assert (status(world, second), status(world, third)) == ("succeeded", "succeeded")


def test_one_that_is_cancelled_while_it_is_put_off_makes_room_at_once(world: World) -> None:
    second, third = put_off(world)
    [one] = world.executions(second)
    assert world.request("PUT", f"/executions/{one['execution_id']}/cancel")[0] == 200
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("cancelled", "queued")
    assert [item["entry"]["S"] for item in world.items("gates") if item["gate"]["S"] != "rate"] == [KEY_OF_BOTH]
    assert world.execution(world.executions(third)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_one_that_a_pause_skips_while_it_is_put_off_makes_room_within_a_minute(world: World) -> None:
    second, third = put_off(world)
    assert world.request("POST", f"/jobs/{second}/pause")[0] == 200
    world.settle_down()
    world.tick()
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("skipped", "queued")


def test_one_that_goes_by_another_key_since_an_edit_makes_room_at_the_old_one(world: World) -> None:
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    moved = submit(world, concurrency=rare, schedule={"every_seconds": 300})
    other = submit(world, concurrency=rare)
    world.settle_down()
    assert status(world, other) == "succeeded"
    world.run_for(360, step=60)
    [late, *_] = world.executions(moved)
    assert (late["status"], late["reason"]) == ("queued", "no more than 1 start in 600 seconds")
    assert world.request("PATCH", f"/jobs/{moved}", {"concurrency": {**rare, "key": "another"}})[0] == 200
    waits = submit(world, concurrency=rare)
    world.settle_down()
    world.tick()
    world.settle_down()
    assert status(world, waits) == "queued"
    assert world.execution(world.executions(waits)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_one_that_gets_in_just_as_it_stands_in_line_is_put_off_like_others(world: World) -> None:
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    first, second = submit(world, concurrency=rare), submit(world, concurrency=rare)
    orders = {json.loads(order["body"])["job_id"]: order for order in ordered(world)}
    first_id = world.executions(first)[0]["execution_id"]

    def leave() -> None:
        world.function("worker").worker.gatekeeper.gates.leave(KEY_OF_BOTH, first_id)

    def act(_context: Context) -> None:
        with just_before("PutItem", leave, to("gates")):
            world.work(orders[second])

    MEANWHILE.append(act)
    world.work(orders[first])
    late = world.execution(world.executions(second)[0]["execution_id"])
    assert (late["status"], late["waiting_for"]["what"]) == ("queued", "rate")
    assert from_text(late["retry_at"]) == world.now + timedelta(seconds=600)
    world.settle_down()
    world.pass_time(600)
    world.settle_down()
    assert status(world, second) == "succeeded"


def test_an_order_that_comes_twice_reserves_one_start(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 1, "per_seconds": 60}}
    submit(world, concurrency=rate)
    world.settle_down()
    late = submit(world, concurrency=rate)
    [order] = ordered(world)
    world.work(order)
    starts_at = world.executions(late)[0]["retry_at"]
    world.work(order)
    world.work(order)
    assert world.executions(late)[0]["retry_at"] == starts_at
    after = submit(world, concurrency=rate)
    world.settle_down()
    assert from_text(world.executions(after)[0]["retry_at"]) == from_text(starts_at) + timedelta(seconds=60)


def test_a_worker_that_died_is_replaced_although_no_start_is_free(world: World) -> None:
    def die(_context: Context) -> None:
        raise Killed

    job = submit(world, concurrency={"key": "rare", "limit": 1, "rate": {"starts": 1, "per_seconds": 3600}})
    MEANWHILE.append(die)
    [order] = ordered(world)
    with pytest.raises(Killed):
        world.work(order)
    world.pass_time(45)
    world.tick()
    world.settle_down()
    assert status(world, job) == "succeeded"


def test_in_the_long_lane_one_that_is_put_off_asks_again_when_it_may_start(lane: LongLane) -> None:
    rare = {"key": "rare", "rate": {"starts": 1, "per_seconds": 600}}
    first, second = lane.submit(concurrency=rare), lane.submit(concurrency=rare)
    assert lane.next(first)["parts"] == ["all"]
    answer = lane.next(second)
    assert (answer["next"], answer["parts"]) == ("run", [])
    assert from_text(answer["not_before"]) == lane.world.now + timedelta(seconds=600)
    lane.world.pass_time(600)
    assert lane.next(second)["parts"] == ["all"]


def test_a_start_that_was_put_off_for_longer_than_a_queue_holds_comes_by_its_timer(world: World) -> None:
    rate = {"key": "rare", "rate": {"starts": 1, "per_seconds": 1800}}
    jobs = [submit(world, concurrency=rate) for _ in range(2)]
    world.tick()
    world.settle_down()
    assert sorted(status(world, job) for job in jobs) == ["queued", "succeeded"]
    world.run_for(1860, step=60)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 2
