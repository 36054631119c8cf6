"""A long job that is paused, resumed or edited while its state machine waits, or while it stands in line."""

from __future__ import annotations

from typing import Any

from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.part_item import item_to_part
from tests.integration.long_lane import LongLane
from tests.integration.world import World

ONE_AT_ONCE = {"key": "one", "limit": 1}


def paused(world: World, job: dict[str, Any]) -> None:
    assert world.request("POST", f"/jobs/{job['job_id']}/pause")[0] == 200
    world.settle_down()


def resumed(world: World, job: dict[str, Any]) -> None:
    assert world.request("POST", f"/jobs/{job['job_id']}/resume")[0] == 200
    world.settle_down()


def test_what_a_pause_forgets_while_its_state_machine_waits_gets_no_container(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 120}, overlap="allow")
    world.settle_down()
    first, run = lane.execution(job), lane.run_arn(job)
    question = {"do": "next", "job_id": job["job_id"], "execution_id": first["execution_id"], "run_arn": run}
    early = world.call("conductor", question)
    assert (early["next"], early["parts"], early["not_before"]) == ("run", [], first["scheduled_at"])
    paused(world, job)
    assert world.executions(job["job_id"]) == []
    world.pass_time(121)
    assert world.call("conductor", question)["next"] == "end"
    assert world.items("parts") == []


def test_what_was_forgotten_and_comes_back_after_a_pause_is_started_again(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 200})
    world.settle_down()
    first = lane.execution(job)["execution_id"]
    assert lane.next(job)["next"] == "run"  # to be asked again when it is due
    world.settle_down()
    paused(world, job)
    world.pass_time(201)
    lane.end_runs(first)
    resumed(world, job)
    assert world.execution(first)["status"] == "queued"
    assert lane.runs("RUNNING").count(first) == 1


def test_one_that_is_edited_while_it_waits_in_line_is_started_when_its_turn_comes(world: World, lane: LongLane) -> None:
    before = lane.submit(concurrency=ONE_AT_ONCE)
    assert lane.next(before)["parts"] == ["all"]
    container = lane.container(before)
    container.claim()
    job = lane.submit(concurrency=ONE_AT_ONCE)
    one = lane.execution(job)["execution_id"]
    assert lane.next(job)["next"] == "end"
    lane.end_runs(one)
    world.settle_down()
    assert lane.execution(job)["status"] == "waiting"
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"priority": "high"})[0] == 200
    world.settle_down()
    assert (lane.execution(job)["status"], lane.runs("RUNNING").count(one)) == ("queued", 1)
    assert lane.next(job, run="by the new rules")["next"] == "end"
    lane.end_runs(one)
    world.settle_down()
    assert lane.execution(job)["status"] == "waiting"
    container.conclude()
    lane.settle(before, container.grant)
    lane.next(before)
    world.settle_down()
    assert (lane.execution(job)["status"], lane.runs("RUNNING").count(one)) == ("queued", 1)
    assert lane.next(job, run="in its turn")["parts"] == ["all"]


def test_a_pause_does_not_skip_one_with_partitions_that_has_run(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions=1)
    [part] = lane.next(job)["parts"]
    container = lane.container(job, part)
    assert container.claim()["ok"]
    container.conclude("interrupted")
    assert lane.settle(job, container.grant, part)["again"]
    second = lane.container(job, part)  # granted again, and never comes up
    assert lane.settle(job, second.grant, part, Error="Punctual.Stopped", Cause="{}")["again"]
    world.settle_down()
    lane.ask(job, part)
    [*_, waits] = world.stream_records("parts", "admission")
    world.function("admission").follower.parts_changed([item_to_part(plain(waits["dynamodb"]["NewImage"]))])
    assert lane.execution(job)["status"] == "waiting"
    paused(world, job)
    assert lane.execution(job)["status"] == "waiting"


def test_an_edit_to_another_jitter_moves_its_schedule(world: World, lane: LongLane) -> None:
    world.pass_time(600)
    hourly = {"cron": "0 * * * *"}
    job = lane.submit(schedule={**hourly, "jitter_seconds": 3600})
    world.settle_down()
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"schedule": hourly})[0] == 200
    world.settle_down()
    [planned] = world.executions(job["job_id"])
    assert planned["scheduled_at"] == "2026-11-16T13:00:00.000Z"
    assert lane.schedules() == {planned["execution_id"]: "at(2026-11-16T12:59:00)"}


def test_an_edit_that_takes_it_out_of_the_lane_and_moves_it_leaves_no_schedule(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 * * * *"})
    world.settle_down()
    assert len(lane.schedules()) == 1
    change = {"lane": "short", "schedule": {"cron": "30 * * * *"}}
    assert world.request("PATCH", f"/jobs/{job['job_id']}", change)[0] == 200
    world.settle_down()
    assert lane.schedules() == {}
