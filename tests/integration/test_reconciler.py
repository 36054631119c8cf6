"""What no message tells of, and the reconciler mends, on moto."""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.instant import to_text
from tests.integration.long_lane import LongLane, begun
from tests.integration.world import STATE_MACHINE, World


def test_it_does_nothing_while_all_is_well(world: World, lane: LongLane) -> None:
    begun(lane)
    lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    world.pass_time(25)
    assert not any(lane.reconcile().values())


def test_a_schedule_that_was_removed_is_set_up_again(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    execution_id = lane.execution(job)["execution_id"]
    world.scheduler.delete_schedule(Name=execution_id, GroupName="long")
    assert lane.reconcile()["armed"] == [execution_id]
    assert list(lane.schedules()) == [execution_id]


def test_one_whose_schedule_never_fired_is_started(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    world.pass_time(3700)
    world.scheduler.delete_schedule(Name=lane.execution(job)["execution_id"], GroupName="long")
    assert lane.reconcile()["started"] == [lane.execution(job)["execution_id"]]
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
    assert lane.reconcile()["disarmed"] == ["orphan"]
    assert lane.schedules() == {}


def test_a_state_machine_that_stopped_is_replaced_and_its_container_goes(world: World, lane: LongLane) -> None:
    job, container = begun(lane, retry={"max_attempts": 1})
    container.say("checkpoint", state={"half": True})
    execution_id = lane.execution(job)["execution_id"]
    world.states.stop_execution(executionArn=lane.run_arn(job))
    assert lane.reconcile()["restarted"] == []  # it may just have been started
    world.pass_time(121)
    assert lane.reconcile()["restarted"] == [execution_id]
    assert lane.taken() == (0, 0)
    assert lane.stopped == [container.task_arn]
    world.deliver_streams()
    assert lane.runs() == [execution_id, execution_id]
    lane.next(job, run="the new one")
    second = lane.container(job)
    assert second.claim()["resume"] == {"half": True}
    assert container.conclude()["ok"] is False


def test_one_that_waits_with_the_ticket_of_a_stopped_run_asks_anew(world: World, lane: LongLane) -> None:
    _, filler = begun(lane, resources={"vcpu": 4})
    job = lane.submit()
    lane.next(job)
    dead = lane.ask(job)
    world.deliver_streams()
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(20)
    filler.beat()
    world.call("reconciler", {"grace_seconds": 0})
    filler.conclude()
    world.deliver_streams()
    world.deliver_streams()
    assert lane.granted(dead) is None
    assert lane.next(job, run="the new one")["parts"] == ["all"]
    assert lane.container(job).claim()["ok"]


def test_a_slot_that_nobody_holds_is_freed(world: World, lane: LongLane) -> None:
    begun(lane)
    world.dynamodb.update_item(
        TableName="parts",
        Key={"execution_id": {"S": "#lane"}, "part": {"S": "long"}},
        UpdateExpression="SET tasks = :n, cpu = :c",
        ExpressionAttributeValues={":n": {"N": "3"}, ":c": {"N": "4096"}},
    )
    world.function("reconciler").reconciler.__dict__["sleep"] = world.pass_time
    assert lane.reconcile()["recounted"] is True
    assert lane.taken() == (1, 1)


def test_a_container_whose_end_nobody_told_is_noticed(world: World, lane: LongLane) -> None:
    _, container = begun(lane)
    assert lane.reconcile()["containers_gone"] == []
    world.ecs.stop_task(cluster="long", task=container.task_arn, reason="host retired")
    assert len(lane.reconcile()["containers_gone"]) == 1
    assert lane.answers_to(container.token)[-1] == "SendTaskFailure"


def test_one_that_waits_in_line_is_left_alone(world: World, lane: LongLane) -> None:
    key = {"key": "one", "limit": 1}
    first, second = lane.submit(concurrency=key), lane.submit(concurrency=key)
    assert lane.next(first)["parts"] == ["all"]
    assert lane.next(second)["next"] == "end"
    waits = lane.execution(second)["execution_id"]
    lane.end_runs(waits)
    world.settle_down()
    world.pass_time(3600)
    assert waits not in lane.reconcile()["restarted"]
    assert lane.execution(second)["status"] == "waiting"
