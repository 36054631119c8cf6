"""Inconsistencies that no event reports and that the reconciler repairs."""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World
from tests.resources import STATE_MACHINE


def test_the_reconciler_changes_nothing_in_a_consistent_state(world: World, lane: LongLane) -> None:
    start_part(lane)
    lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    world.pass_time(25)
    assert not any(lane.reconcile().values())


def test_a_removed_schedule_is_created_again(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    execution_id = lane.execution(job)["execution_id"]
    world.scheduler.delete_schedule(Name=execution_id, GroupName="long")
    assert lane.reconcile()["scheduled"] == [execution_id]
    assert list(lane.schedules()) == [execution_id]


def test_an_execution_whose_schedule_never_fired_is_started(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    world.pass_time(3700)
    world.scheduler.delete_schedule(Name=lane.execution(job)["execution_id"], GroupName="long")
    assert lane.reconcile()["started"] == [lane.execution(job)["execution_id"]]
    assert lane.execution(job)["reason"] == "starting: its one-time schedule or timer was missing"
    world.deliver_streams()
    assert lane.runs() == [lane.execution(job)["execution_id"]]


def test_a_schedule_without_an_execution_is_removed(world: World, lane: LongLane) -> None:
    world.scheduler.create_schedule(
        Name="orphan",
        GroupName="long",
        ScheduleExpression="at(2027-01-01T00:00:00)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": STATE_MACHINE, "RoleArn": "arn:aws:iam::123456789012:role/schedules"},
    )
    assert lane.reconcile()["unscheduled"] == ["orphan"]
    assert lane.schedules() == {}


def test_a_stopped_state_machine_is_restarted_and_its_container_is_stopped(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry={"max_attempts": 1})
    container.report("checkpoint", state={"half": True})
    execution_id = lane.execution(job)["execution_id"]
    world.states.stop_execution(executionArn=lane.run_arn(job))
    assert lane.reconcile()["restarted"] == []  # within the grace period: the run may just have started
    world.pass_time(121)
    assert lane.reconcile()["restarted"] == [execution_id]
    assert lane.execution(job)["reason"] == "restarting: the state machine run stopped"
    assert lane.used_capacity() == (0, 0)
    assert lane.stopped == [container.task_arn]
    world.deliver_streams()
    assert lane.runs() == [execution_id, execution_id]
    lane.next_parts(job, run="new run")
    second = lane.container(job)
    assert second.claim()["resume"] == {"half": True}
    assert container.conclude()["ok"] is False


def test_an_edit_does_not_replace_an_execution_whose_parts_were_created_before_its_run_stopped(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(schedule={"at": "2026-11-16T12:01:00Z"}, concurrency={"key": "k", "limit": 1})
    world.pass_time(60)
    world.run_until_idle()
    run_arn = lane.run_arn(job)
    lane.next_parts(job)
    world.states.stop_execution(executionArn=run_arn)
    world.pass_time(121)
    assert lane.reconcile()["restarted"] == [lane.execution(job)["execution_id"]]
    other = {"concurrency": {"key": "other", "limit": 1}}
    assert world.request("PATCH", f"/jobs/{job['job_id']}", other)[0] == 200
    world.deliver_streams()
    [execution] = world.items("executions")
    assert execution["revision"]["N"] == "1"  # it holds the places of this revision
    assert "#k" in execution["gates"]["S"]
    assert "other" not in execution["gates"]["S"]


def test_an_execution_whose_run_stopped_before_it_was_attached_is_started(world: World, lane: LongLane) -> None:
    job = lane.submit()
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(121)
    assert lane.reconcile()["restarted"] == [lane.execution(job)["execution_id"]]
    assert lane.execution(job)["reason"] == "starting: no state machine run was attached"


def test_a_part_of_a_stopped_run_needs_only_its_remaining_work(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, expected_seconds=3600)
    before = from_text(lane.execution(job)["parts"][0]["latest_start"])
    container.report("checkpoint", state={"half": True})
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(1800)
    lane.reconcile()
    assert from_text(lane.execution(job)["parts"][0]["latest_start"]) - before >= timedelta(seconds=1800)


def test_a_part_of_a_stopped_run_that_was_preempted_was_preempted(world: World, lane: LongLane) -> None:
    job, _ = start_part(lane)
    execution_id = lane.execution(job)["execution_id"]
    world.dynamodb.update_item(
        TableName="parts",
        Key={"execution_id": {"S": execution_id}, "part": {"S": "all"}},
        UpdateExpression="SET #preempt_reason = :reason",
        ExpressionAttributeNames={"#preempt_reason": "preempt_reason"},
        ExpressionAttributeValues={":reason": {"S": "another part needs its slot"}},
    )
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(121)
    lane.reconcile()
    [attempt] = lane.execution(job)["parts"][0]["attempts"]
    assert (attempt["outcome"], attempt["error"]["message"]) == ("preempted", "another part needs its slot")


def test_a_part_that_waits_with_the_ticket_of_a_stopped_run_requests_a_new_slot(world: World, lane: LongLane) -> None:
    _, filler = start_part(lane, resources={"vcpu": 4})
    job = lane.submit()
    lane.next_parts(job)
    stale_ticket = lane.request_slot(job)
    world.deliver_streams()
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(20)
    filler.heartbeat()
    world.call("reconciler", {"grace_seconds": 0})
    filler.conclude()
    world.deliver_streams()
    world.deliver_streams()
    assert lane.grant_for(stale_ticket) is None
    assert lane.next_parts(job, run="new run")["parts"] == ["all"]
    assert lane.container(job).claim()["ok"]


def test_a_leaked_slot_is_released(world: World, lane: LongLane) -> None:
    start_part(lane)
    world.dynamodb.update_item(
        TableName="parts",
        Key={"execution_id": {"S": "#lane"}, "part": {"S": "long"}},
        UpdateExpression="SET tasks = :n, cpu = :c",
        ExpressionAttributeValues={":n": {"N": "3"}, ":c": {"N": "4096"}},
    )
    world.function("reconciler").reconciler.__dict__["sleep"] = world.pass_time
    assert lane.reconcile()["recounted"] is True
    assert lane.used_capacity() == (1, 1)


def test_a_container_that_stopped_without_an_event_is_detected(world: World, lane: LongLane) -> None:
    _, container = start_part(lane)
    assert lane.reconcile()["containers_gone"] == []
    world.ecs.stop_task(cluster="long", task=container.task_arn, reason="host retired")
    assert len(lane.reconcile()["containers_gone"]) == 1
    assert lane.answers_to(container.token)[-1] == "SendTaskFailure"


def test_an_execution_that_waits_at_a_gate_is_not_restarted(world: World, lane: LongLane) -> None:
    key = {"key": "one", "limit": 1}
    first, second = lane.submit(concurrency=key), lane.submit(concurrency=key)
    assert lane.next_parts(first)["parts"] == ["all"]
    assert lane.next_parts(second)["next"] == "end"
    waiting_id = lane.execution(second)["execution_id"]
    lane.end_runs(waiting_id)
    world.run_until_idle()
    world.pass_time(3600)
    assert waiting_id not in lane.reconcile()["restarted"]
    assert lane.execution(second)["status"] == "waiting"


def test_an_execution_with_a_stuck_partition_and_one_that_never_asked_for_a_slot_is_restarted(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(partitions={"count": 2, "at_once": 1})
    lane.next_parts(job)
    lane.request_slot(job, "0001")  # its grant is lost, and the other partition waits for its end
    world.run_until_idle()
    world.pass_time(11 * 60)
    lane.tick()
    world.run_until_idle()
    execution = lane.execution(job)
    assert [part["status"] for part in execution["parts"]] == ["queued", "retrying"]
    assert lane.reconcile()["restarted"] == []  # within the grace period of the backoff
    world.pass_time(3600)
    assert lane.reconcile()["restarted"] == [execution["execution_id"]]


def test_an_execution_whose_parts_have_all_ended_is_restarted(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    container.conclude(value="done")
    execution_id = lane.execution(job)["execution_id"]
    world.pass_time(100)
    assert lane.reconcile()["restarted"] == []  # its run may be about to end it
    world.pass_time(100)
    assert lane.reconcile()["restarted"] == [execution_id]
    world.run_until_idle()
    assert lane.next_parts(job, run="new run")["next"] == "end"
    assert lane.execution(job)["status"] == "succeeded"
