"""Lifecycle of a long execution: planning, partitions, edits, cancellation and collection."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise

import pytest

from punctual.aws.dynamodb import conducted_parts
from punctual.domain.instant import from_text, to_text
from tests.integration.faults import crash_at
from tests.integration.fixture_tasks import Killed
from tests.integration.long_lane import Container, LongLane, start_part
from tests.integration.world import World
from tests.resources import STATE_MACHINE


def test_a_long_execution_runs_from_submission_to_success(world: World, lane: LongLane) -> None:
    job = lane.submit(parameters={"a": 1}, resources={"vcpu": 2})
    execution = lane.execution(job)
    assert lane.runs() == [execution["execution_id"]]
    assert lane.next_parts(job) == {
        "next": "run",
        "not_before": execution["scheduled_at"],
        "parts": ["all"],
        "at_once": 1,
    }
    ticket = lane.request_slot(job)
    world.deliver_streams()
    assert lane.execution(job)["status"] == "waiting"
    world.deliver_streams()
    assert lane.execution(job)["status"] == "starting"
    grant = lane.grant_for(ticket)
    assert grant is not None
    assert (grant["attempt"], grant["cpu"], grant["memory"]) == (1, "2048", "4096")
    assert grant["capacity"] == [{"CapacityProvider": "FARGATE", "Weight": 1}]
    assert lane.used_capacity() == (1, 2)
    container = Container(world, grant)
    work = container.claim()
    assert (work["task"], work["parameters"], work["resume"]) == ("echo", {"a": 1}, None)
    container.heartbeat(percent=40.0, message="in progress")
    running = lane.execution(job)
    assert (running["status"], running["attempt"], running["progress"]["percent"]) == ("running", 1, 40.0)
    assert [one["execution_id"] for one in world.request("GET", "/executions?status=running")[1]["items"]] == [
        running["execution_id"]
    ]
    world.pass_time(30)
    assert container.conclude(value={"a": 1}) == {"ok": True}
    assert lane.answers_to(container.token)[-1] == "SendTaskSuccess"
    assert lane.used_capacity() == (0, 0)
    assert lane.conclude_attempt(job, grant)["retry"] is False
    assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["result"]["value"], ended["reason"]) == ("succeeded", {"a": 1}, None)
    assert [(one["number"], one["outcome"]) for one in ended["attempts"]] == [(1, "succeeded")]
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"


def test_a_succeeded_part_and_its_execution_show_100_percent(world: World, lane: LongLane) -> None:
    single, divided = lane.submit(), lane.submit(partitions=2)
    for job, names in ((single, ["all"]), (divided, ["0000", "0001"])):
        lane.next_parts(job)
        for name in names:
            container = lane.container(job, name)
            container.claim()
            container.heartbeat(percent=87.5, message="7 of 8 hours", done=7.0, total=8.0)
            container.conclude()
        lane.next_parts(job)
        ended = lane.execution(job)
        assert ended["progress"]["percent"] == 100
        assert [one["progress"] for one in ended["parts"]] == [
            {"percent": 100, "message": "7 of 8 hours", "done": 8, "total": 8} for _ in names
        ]
    short = world.submit()
    world.run_until_idle()
    assert [one["progress"]["percent"] for one in world.executions(short["job_id"])] == [100]


def test_a_failed_part_shows_the_progress_that_it_reached(lane: LongLane) -> None:
    job = lane.submit(retry={"max_attempts": 1})
    lane.next_parts(job)
    container = lane.container(job)
    container.claim()
    container.heartbeat(percent=87.5)
    container.conclude("failed")
    lane.next_parts(job)
    ended = lane.execution(job)
    assert (ended["status"], ended["progress"]["percent"], ended["parts"][0]["progress"]["percent"]) == (
        "failed",
        87.5,
        87.5,
    )


def test_each_message_of_a_queue_job_becomes_its_own_execution(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"queue": True}, parameters={"a": 1})
    for payload in ({"b": 2}, {"b": 3}):
        body = json.dumps({"job_id": job["job_id"], "payload": payload})
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.deliver_intake()
    world.deliver_streams()
    executions = world.executions(job["job_id"])
    assert sorted(one["parameters"]["b"] for one in executions) == [2, 3]
    assert lane.runs() == sorted(one["execution_id"] for one in executions)
    listed = world.states.list_executions(stateMachineArn=STATE_MACHINE)["executions"]
    assert len({one["name"] for one in listed}) == 2
    assert all(len(one["name"]) <= 80 for one in listed)


def test_a_recurring_job_has_one_schedule_per_instant_and_plans_the_next_when_one_is_queued(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(schedule={"every_seconds": 3600})
    [first] = world.executions(job["job_id"])
    assert list(lane.schedules()) == [first["execution_id"]]
    world.pass_time(3540)
    lane.next_parts(job, run="fired")
    world.deliver_streams()
    assert [one["status"] for one in world.executions(job["job_id"])] == ["queued", "scheduled"]
    assert len(lane.schedules()) == 2  # moto fires no schedules, so the first still exists


def test_a_second_state_machine_run_for_the_same_execution_has_nothing_to_do(lane: LongLane) -> None:
    job = lane.submit()
    assert lane.next_parts(job)["next"] == "run"
    assert lane.next_parts(job, run=f"{STATE_MACHINE}:another")["next"] == "end"
    assert lane.next_parts(job)["next"] == "run"


def test_duplicate_calls_take_effect_once(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, parameters={"a": 1})
    assert container.claim()["ok"]  # the response was lost: the container claims again
    assert container.conclude(value=1) == {"ok": True}
    assert container.conclude(value=2) == {"ok": False}
    assert lane.used_capacity() == (0, 0)
    assert lane.conclude_attempt(job, container.grant) == lane.conclude_attempt(job, container.grant)
    lane.next_parts(job)
    lane.next_parts(job)
    world.run_until_idle()
    assert lane.execution(job)["result"]["value"] == 1


@pytest.mark.parametrize("status_before", ["queued", "waiting", "starting", "running"])
def test_immediate_cancellation_works_in_every_status_and_releases_everything(
    world: World, lane: LongLane, status_before: str
) -> None:
    filler = start_part(lane, resources={"vcpu": 4})[1] if status_before == "waiting" else None
    job = lane.submit(resources={"vcpu": 2})
    lane.next_parts(job)
    container = None
    if status_before != "queued":
        ticket = lane.request_slot(job)
        world.deliver_streams()
        world.deliver_streams()
        if grant := lane.grant_for(ticket):
            container = Container(world, grant)
    if status_before == "running":
        assert container is not None
        container.claim()
    execution = lane.execution(job)
    assert execution["status"] == status_before
    status, answer = world.request("PUT", f"/executions/{execution['execution_id']}/cancel?grace_seconds=0")
    assert (status, answer["status"]) == (200, "cancelled")
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("cancelled", "cancelled by operator@data-quality")
    assert {part["status"] for part in ended["parts"]} == {"cancelled"}
    assert lane.used_capacity() == ((1, 4) if filler else (0, 0))
    described = world.states.describe_execution(executionArn=lane.run_arn(job))
    assert described["status"] == "ABORTED"
    if status_before == "running":
        assert container is not None
        assert lane.stopped == [container.task_arn]
        assert container.conclude(value="late")["ok"] is False
    assert world.request("PUT", f"/executions/{execution['execution_id']}/cancel")[1]["status"] == "cancelled"
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"


def test_partitions_run_independently_and_are_collected(world: World, lane: LongLane) -> None:
    job = lane.submit(
        task="quality.weekly",
        parameters={"dataset": "orders"},
        schedule={"cron": "0 2 * * SUN", "timezone": "America/New_York"},
        window="week",
        partitions={"by": "day", "at_once": 3},
    )
    early = lane.next_parts(job, run="run")
    assert (early["next"], early["parts"], early["not_before"]) == ("run", [], lane.execution(job)["scheduled_at"])
    world.pass_time((from_text(early["not_before"]) - world.now).total_seconds())
    step = lane.next_parts(job, run="run")
    assert (step["parts"], step["at_once"]) == ([f"{n:04d}" for n in range(7)], 3)
    parts = lane.execution(job)["parts"]
    assert parts[0]["window"]["start"] == lane.execution(job)["window"]["start"]
    assert all(one["window"]["end"] == after["window"]["start"] for one, after in pairwise(parts))
    for name in step["parts"]:
        container = lane.container(job, name)
        container.claim()
        container.conclude(value={"part": name})
        world.deliver_streams()
    assert lane.execution(job)["progress"]["done"] == 6  # the last one is counted when the execution ends
    assert lane.next_parts(job, run="run")["parts"] == ["collect"]
    collector = lane.container(job, "collect")
    work = collector.claim()
    assert work["results"] == [{"value": {"part": name}} for name in step["parts"]]
    collector.conclude(value="the week")
    assert lane.next_parts(job, run="run")["next"] == "end"
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["result"]["value"]) == ("succeeded", "the week")


def test_a_partition_that_fails_permanently_fails_the_execution_without_collection(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(partitions=["a", "b"], retry={"max_attempts": 1})
    lane.next_parts(job)
    for name, outcome in (("0000", "failed"), ("0001", "succeeded")):
        container = lane.container(job, name)
        container.claim()
        container.conclude(outcome, error={"type": "ValueError", "message": "bad"} if outcome == "failed" else None)
    assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("failed", "1 of 2 parts did not succeed: 0000")
    assert ended["error"]["message"] == "bad"
    assert [part["status"] for part in ended["parts"]] == ["failed", "succeeded"]


def test_an_edit_moves_and_a_deletion_removes_the_schedule_of_a_distant_execution(world: World, lane: LongLane) -> None:
    first, second = world.now + timedelta(hours=1), world.now + timedelta(hours=2)
    job = lane.submit(schedule={"at": to_text(first)})
    [planned] = world.executions(job["job_id"])
    assert lane.schedules() == {planned["execution_id"]: "at(2026-11-16T12:59:00)"}
    assert lane.runs() == []
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"schedule": {"at": to_text(second)}})
    assert (status, edited["revision"]) == (200, 2)
    world.run_until_idle()
    moved = [one for one in world.executions(job["job_id"]) if one["status"] == "scheduled"]
    assert lane.schedules() == {moved[0]["execution_id"]: "at(2026-11-16T13:59:00)"}
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.run_until_idle()
    assert lane.schedules() == {}


def test_an_edit_without_a_new_schedule_keeps_the_instant_and_applies_the_other_fields(
    world: World, lane: LongLane
) -> None:
    at = world.now + timedelta(hours=1)
    job = lane.submit(schedule={"at": to_text(at)}, parameters={"a": 1})
    world.request("PATCH", f"/jobs/{job['job_id']}", {"parameters": {"a": 2}, "resources": {"vcpu": 2}})
    world.run_until_idle()
    [execution] = world.executions(job["job_id"])
    assert (execution["parameters"], execution["status"]) == ({"a": 2}, "scheduled")
    assert list(lane.schedules()) == [execution["execution_id"]]


def test_a_crash_while_parts_are_created_is_repaired_by_the_next_call(
    lane: LongLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = lane.submit(partitions=["a", "b", "c"])
    monkeypatch.setattr(conducted_parts, "PARTS_PER_TRANSACTION", 1)
    with crash_at("TransactWriteItems", after=1, table="parts"), pytest.raises(Killed):
        lane.next_parts(job)
    assert len(lane.execution(job)["parts"]) == 1
    assert lane.next_parts(job)["parts"] == ["0000", "0001", "0002"]


def test_an_execution_moved_to_the_short_lane_runs_only_there(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    execution_id = lane.execution(job)["execution_id"]
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"lane": "short"})
    assert (status, edited["lane"], edited["timeout_seconds"]) == (200, "short", 600)
    world.run_until_idle()
    assert lane.schedules() == {}
    request = {
        "do": "next_parts",
        "job_id": job["job_id"],
        "execution_id": execution_id,
        "run_arn": "late firing of the old schedule",
    }
    assert world.call("conductor", request)["next"] == "end"
    world.run_for(3700, step=60)
    assert lane.execution(job)["status"] == "succeeded"


def test_a_cancellation_that_crashed_before_stopping_the_container_is_completed_on_redelivery(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel?grace_seconds=0")
    records = world.stream_records("executions", "settler")
    world.call("settler", {"Records": records})
    lane.stopped.clear()  # as if the settler had crashed before StopTask
    world.call("settler", {"Records": records})
    assert lane.stopped == [container.task_arn]


def test_an_execution_that_waited_for_days_is_cancelled_with_its_job(world: World, lane: LongLane) -> None:
    start_part(lane, resources={"vcpu": 4})
    job = lane.submit()
    lane.next_parts(job)
    lane.request_slot(job)
    world.deliver_streams()
    world.pass_time(6 * 86_400)
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.run_until_idle()
    assert lane.execution(job)["status"] == "cancelled"
