"""Rate limits: the number of starts per time span of a key, and executions that are delayed by it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import count, pairwise

import pytest

from punctual import Context
from punctual.aws import clients
from punctual.domain.errors import GateContention
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.gate import Rate
from tests.integration.concurrency_keys import KEY_WITH_RATE, status, submit, work_orders
from tests.integration.faults import just_before, on_table
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.long_lane import LongLane
from tests.integration.world import World

GATE = "key#data-quality#partner"


def start_times(world: World, jobs: list[str]) -> list[datetime]:
    """The start times of the jobs' first executions, sorted."""
    return sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)


def delayed_and_waiting(world: World) -> tuple[str, str]:
    """Submit two jobs of one key: the first holds the key and is delayed by its rate, the second waits for the key."""
    rare = {**KEY_WITH_RATE, "rate": {"starts": 1, "per_seconds": 600}}
    first = submit(world, concurrency=rare)
    world.run_until_idle()
    assert status(world, first) == "succeeded"
    world.pass_time(1)
    second = submit(world, concurrency=rare)
    world.run_until_idle()
    world.pass_time(1)
    third = submit(world, concurrency=rare)
    world.run_until_idle()
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    return second, third


def test_a_rate_delays_excess_starts_and_reports_their_start_times(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 2, "per_seconds": 60}}
    jobs = [submit(world, concurrency=rate) for _ in range(5)]
    world.run_until_idle()
    found = sorted(status(world, job) for job in jobs)
    assert found == ["queued"] * 3 + ["succeeded"] * 2
    delayed = [world.executions(job)[0] for job in jobs if status(world, job) == "queued"]
    starts = sorted(from_text(one["retry_at"]) for one in delayed)
    assert starts == [world.now + timedelta(seconds=seconds) for seconds in (30, 60, 90)]
    in_order = sorted(delayed, key=lambda one: str(one["retry_at"]))
    waits = [world.execution(one["execution_id"])["waiting_for"] for one in in_order]
    assert [one["ahead"] for one in waits] == [0, 1, 2]
    assert [one["until"] for one in waits] == [one["retry_at"] for one in in_order]
    waiting_for = waits[0]
    assert waiting_for["what"] == "rate"
    assert waiting_for["detail"].startswith("no more than 2 start in 60 seconds: it starts at ")
    for seconds in (30, 30, 30):
        world.pass_time(seconds)
        world.run_until_idle()
    assert [status(world, job) for job in jobs] == ["succeeded"] * 5
    started = sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)
    for earlier, third in zip(started, started[2:], strict=False):
        assert third - earlier >= timedelta(seconds=30)


def test_a_rate_holds_for_a_key_with_a_limit(world: World) -> None:
    jobs: list[str] = []

    def hold(_context: Context) -> None:
        jobs.extend(submit(world, concurrency=KEY_WITH_RATE) for _ in range(4))
        world.pass_time(20)
        world.run_until_idle()
        assert [status(world, job) for job in jobs] == ["waiting"] * 4

    TASK_BODIES.append(hold)
    submit(world, concurrency=KEY_WITH_RATE)
    world.run_until_idle()
    world.run_for(20)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 4
    starts = start_times(world, jobs)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_a_rate_holds_for_a_job_that_queues_its_executions(world: World) -> None:
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
            world.run_until_idle()
        world.pass_time(20)

    TASK_BODIES.append(hold)
    run()
    world.run_until_idle()
    world.run_for(14)
    starts = sorted(from_text(world.execution(one)["started_at"]) for one in ran)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_a_start_that_concurrent_workers_always_reserve_first_is_reported_as_contention(world: World) -> None:
    gates, item = world.function("worker").worker.gatekeeper.gates, {"gate": {"S": "rate"}, "entry": {"S": GATE}}
    later = (world.now + timedelta(seconds=number) for number in count())

    def reserve_concurrently() -> None:
        clients.dynamodb().put_item(TableName="gates", Item={**item, "reserved_until": {"S": to_text(next(later))}})

    with (
        just_before("UpdateItem", reserve_concurrently, on_table("gates"), once=False),
        pytest.raises(GateContention, match="no start reserved after 20 tries"),
    ):
        gates.reserve(GATE, Rate(1, 60), world.now)


def test_a_delayed_execution_keeps_its_place_across_sweeps(world: World) -> None:
    second, third = delayed_and_waiting(world)
    starts_at = world.executions(second)[0]["retry_at"]
    world.run_for(300, step=60)
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    assert world.executions(second)[0]["retry_at"] == starts_at
    world.run_for(300, step=60)
    assert world.executions(second)[0]["started_at"] >= starts_at
    world.run_for(660, step=60)
    assert (status(world, second), status(world, third)) == ("succeeded", "succeeded")


def test_cancelling_a_delayed_execution_releases_its_key_immediately(world: World) -> None:
    second, third = delayed_and_waiting(world)
    [one] = world.executions(second)
    assert world.request("PUT", f"/executions/{one['execution_id']}/cancel")[0] == 200
    world.run_until_idle()
    assert (status(world, second), status(world, third)) == ("cancelled", "queued")
    assert [item["entry"]["S"] for item in world.items("gates") if item["gate"]["S"] != "rate"] == [GATE]
    assert world.execution(world.executions(third)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_the_next_sweep_releases_the_key_of_a_delayed_execution_skipped_by_a_pause(world: World) -> None:
    second, third = delayed_and_waiting(world)
    assert world.request("POST", f"/jobs/{second}/pause")[0] == 200
    world.run_until_idle()
    world.tick()
    world.run_until_idle()
    assert (status(world, second), status(world, third)) == ("skipped", "queued")


def test_an_edit_to_another_key_releases_the_old_key(world: World) -> None:
    rare = {**KEY_WITH_RATE, "rate": {"starts": 1, "per_seconds": 600}}
    moved = submit(world, concurrency=rare, schedule={"every_seconds": 300})
    other = submit(world, concurrency=rare)
    world.run_until_idle()
    assert status(world, other) == "succeeded"
    world.run_for(360, step=60)
    [late, *_] = world.executions(moved)
    assert (late["status"], late["reason"]) == ("queued", "no more than 1 start in 600 seconds")
    assert world.request("PATCH", f"/jobs/{moved}", {"concurrency": {**rare, "key": "another"}})[0] == 200
    waits = submit(world, concurrency=rare)
    world.run_until_idle()
    world.tick()
    world.run_until_idle()
    assert status(world, waits) == "queued"
    assert world.execution(world.executions(waits)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_an_execution_granted_a_place_while_it_joins_the_queue_is_delayed_by_its_rate(world: World) -> None:
    rare = {**KEY_WITH_RATE, "rate": {"starts": 1, "per_seconds": 600}}
    first, second = submit(world, concurrency=rare), submit(world, concurrency=rare)
    orders = {json.loads(order["body"])["job_id"]: order for order in work_orders(world)}
    first_id = world.executions(first)[0]["execution_id"]

    def release() -> None:
        world.function("worker").worker.gatekeeper.gates.release(GATE, first_id, None)

    def join_queue(_context: Context) -> None:
        with just_before("TransactWriteItems", release, on_table("gates")):
            world.work(orders[second])
        assert status(world, second) == "queued"
        for order in work_orders(world):
            world.work(order)

    TASK_BODIES.append(join_queue)
    world.work(orders[first])
    late = world.execution(world.executions(second)[0]["execution_id"])
    assert (late["status"], late["waiting_for"]["what"]) == ("queued", "rate")
    assert from_text(late["retry_at"]) == world.now + timedelta(seconds=600)
    world.run_until_idle()
    world.pass_time(600)
    world.run_until_idle()
    assert status(world, second) == "succeeded"


def test_a_duplicate_message_reserves_one_start(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 1, "per_seconds": 60}}
    submit(world, concurrency=rate)
    world.run_until_idle()
    late = submit(world, concurrency=rate)
    [order] = work_orders(world)
    world.work(order)
    starts_at = world.executions(late)[0]["retry_at"]
    world.work(order)
    world.work(order)
    assert world.executions(late)[0]["retry_at"] == starts_at
    after = submit(world, concurrency=rate)
    world.run_until_idle()
    assert from_text(world.executions(after)[0]["retry_at"]) == from_text(starts_at) + timedelta(seconds=60)


def test_a_takeover_from_a_dead_worker_needs_no_new_start(world: World) -> None:
    def die(_context: Context) -> None:
        raise Killed

    job = submit(world, concurrency={"key": "rare", "limit": 1, "rate": {"starts": 1, "per_seconds": 3600}})
    TASK_BODIES.append(die)
    [order] = work_orders(world)
    with pytest.raises(Killed):
        world.work(order)
    world.pass_time(45)
    world.tick()
    world.run_until_idle()
    assert status(world, job) == "succeeded"


def test_in_the_long_lane_a_delayed_execution_starts_at_the_reported_time(lane: LongLane) -> None:
    rare = {"key": "rare", "rate": {"starts": 1, "per_seconds": 600}}
    first, second = lane.submit(concurrency=rare), lane.submit(concurrency=rare)
    assert lane.next_parts(first)["parts"] == ["all"]
    answer = lane.next_parts(second)
    assert (answer["next"], answer["parts"]) == ("run", [])
    assert from_text(answer["not_before"]) == lane.world.now + timedelta(seconds=600)
    lane.world.pass_time(600)
    assert lane.next_parts(second)["parts"] == ["all"]


def test_a_start_delayed_beyond_the_maximum_message_delay_uses_a_timer(world: World) -> None:
    rate = {"key": "rare", "rate": {"starts": 1, "per_seconds": 1800}}
    jobs = [submit(world, concurrency=rate) for _ in range(2)]
    world.tick()
    world.run_until_idle()
    assert sorted(status(world, job) for job in jobs) == ["queued", "succeeded"]
    world.run_for(1860, step=60)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 2
