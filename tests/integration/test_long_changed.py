"""Long jobs that are paused, resumed or edited while a state machine run waits or the execution waits at a gate."""

from __future__ import annotations

from typing import Any

from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.part_item import item_to_part
from tests.integration.long_lane import NO_BACKOFF, LongLane
from tests.integration.world import World

LIMIT_ONE = {"key": "one", "limit": 1}


def pause(world: World, job: dict[str, Any]) -> None:
    assert world.request("POST", f"/jobs/{job['job_id']}/pause")[0] == 200
    world.run_until_idle()


def resume(world: World, job: dict[str, Any]) -> None:
    assert world.request("POST", f"/jobs/{job['job_id']}/resume")[0] == 200
    world.run_until_idle()


def test_an_execution_removed_by_a_pause_gets_no_container_from_its_waiting_state_machine(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(schedule={"every_seconds": 120}, overlap="allow")
    world.run_until_idle()
    first, run = lane.execution(job), lane.run_arn(job)
    request = {"do": "next_parts", "job_id": job["job_id"], "execution_id": first["execution_id"], "run_arn": run}
    early = world.call("conductor", request)
    assert (early["next"], early["parts"], early["not_before"]) == ("run", [], first["scheduled_at"])
    pause(world, job)
    assert world.executions(job["job_id"]) == []
    world.pass_time(121)
    assert world.call("conductor", request)["next"] == "end"
    assert world.items("parts") == []


def test_an_execution_removed_by_a_pause_is_started_again_after_the_resume(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 200})
    world.run_until_idle()
    first = lane.execution(job)["execution_id"]
    assert lane.next_parts(job)["next"] == "run"  # the run calls again when the execution is due
    world.run_until_idle()
    pause(world, job)
    world.pass_time(201)
    lane.end_runs(first)
    resume(world, job)
    assert world.execution(first)["status"] == "queued"
    assert lane.runs("RUNNING").count(first) == 1


def test_an_execution_edited_while_it_waits_at_a_gate_is_started_when_admitted(world: World, lane: LongLane) -> None:
    before = lane.submit(concurrency=LIMIT_ONE)
    assert lane.next_parts(before)["parts"] == ["all"]
    container = lane.container(before)
    container.claim()
    job = lane.submit(concurrency=LIMIT_ONE)
    one = lane.execution(job)["execution_id"]
    assert lane.next_parts(job)["next"] == "end"
    lane.end_runs(one)
    world.run_until_idle()
    assert lane.execution(job)["status"] == "waiting"
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"priority": "high"})[0] == 200
    world.run_until_idle()
    assert (lane.execution(job)["status"], lane.runs("RUNNING").count(one)) == ("queued", 1)
    assert lane.next_parts(job, run="run after the edit")["next"] == "end"
    lane.end_runs(one)
    world.run_until_idle()
    assert lane.execution(job)["status"] == "waiting"
    container.conclude()
    lane.conclude_attempt(before, container.grant)
    lane.next_parts(before)
    world.run_until_idle()
    assert (lane.execution(job)["status"], lane.runs("RUNNING").count(one)) == ("queued", 1)
    assert lane.next_parts(job, run="run after the release")["parts"] == ["all"]


def test_a_pause_does_not_skip_a_partitioned_execution_that_has_run(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions=1, retry=NO_BACKOFF)
    [part] = lane.next_parts(job)["parts"]
    container = lane.container(job, part)
    assert container.claim()["ok"]
    container.conclude("interrupted")
    assert lane.conclude_attempt(job, container.grant, part)["retry"]
    second = lane.container(job, part)  # granted a second time, but the container never starts
    assert lane.conclude_attempt(job, second.grant, part, Error="Punctual.Stopped", Cause="{}")["retry"]
    world.run_until_idle()
    lane.request_slot(job, part)
    [*_, waits] = world.stream_records("parts", "admission")
    world.function("admission").execution_sync.update([item_to_part(plain(waits["dynamodb"]["NewImage"]))])
    assert lane.execution(job)["status"] == "waiting"
    pause(world, job)
    assert lane.execution(job)["status"] == "waiting"


def test_an_edit_of_the_jitter_moves_the_schedule(world: World, lane: LongLane) -> None:
    world.pass_time(600)
    hourly = {"cron": "0 * * * *"}
    job = lane.submit(schedule={**hourly, "jitter_seconds": 3600})
    world.run_until_idle()
    assert world.request("PATCH", f"/jobs/{job['job_id']}", {"schedule": hourly})[0] == 200
    world.run_until_idle()
    [planned] = world.executions(job["job_id"])
    assert planned["scheduled_at"] == "2026-11-16T13:00:00.000Z"
    assert lane.schedules() == {planned["execution_id"]: "at(2026-11-16T12:59:00)"}


def test_an_edit_that_changes_lane_and_schedule_leaves_no_schedule(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 * * * *"})
    world.run_until_idle()
    assert len(lane.schedules()) == 1
    change = {"lane": "short", "schedule": {"cron": "30 * * * *"}}
    assert world.request("PATCH", f"/jobs/{job['job_id']}", change)[0] == 200
    world.run_until_idle()
    assert lane.schedules() == {}
