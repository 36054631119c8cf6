"""Reports of long-lane containers to the reporter, missing reports, and their consequences."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from punctual.domain.errors import Unreadable, UnverifiedContainer
from punctual.domain.instant import from_text
from tests.integration.faults import just_before, on_table
from tests.integration.long_lane import NO_BACKOFF, Container, LongLane, start_part
from tests.integration.world import World, runner_overrides

QUOTA_USED_UP = (
    '{"Failures": [{"Reason": "You\'ve reached the limit on the number of vCPUs you can run concurrently"}]}'
)


def test_a_container_without_heartbeats_loses_its_lease_and_its_later_reports_are_rejected(
    world: World, lane: LongLane
) -> None:
    job, silent = start_part(lane, retry=NO_BACKOFF)
    world.pass_time(31)
    assert lane.tick()["expired"]
    assert lane.answers_to(silent.token)[-1] == "SendTaskFailure"
    assert lane.stopped == [silent.task_arn]
    conclusion = lane.conclude_attempt(job, silent.grant, Error="Punctual.Lost", Cause="no heartbeat")
    assert conclusion["retry"] is True
    assert lane.used_capacity() == (0, 0)
    for response in (
        silent.heartbeat(percent=99.0),
        silent.report("checkpoint", state={"late": 1}),
        silent.conclude(value="late"),
    ):
        assert response["ok"] is False
    second = lane.container(job)
    assert second.claim()["attempt"] == 2
    assert second.claim()["resume"] is None
    second.conclude(value="good")
    lane.next_parts(job)
    world.run_until_idle()
    ended = lane.execution(job)
    assert ended["result"]["value"] == "good"
    assert [one["outcome"] for one in ended["attempts"]] == ["lost", "succeeded"]


def test_the_next_attempt_gets_the_last_checkpoint(lane: LongLane) -> None:
    job, first = start_part(lane, retry=NO_BACKOFF)
    first.report("checkpoint", state={"hours": 10})
    first.report("checkpoint", state={"hours": 84})
    first.stop(exit_code=137, reason="OutOfMemoryError: container killed")
    assert lane.answers_to(first.token)[-1] == "SendTaskFailure"
    cause = [params["cause"] for _, params in lane.callbacks if params.get("error") == "Punctual.Stopped"][-1]
    lane.conclude_attempt(job, first.grant, Error="Punctual.Stopped", Cause=cause)
    failed = lane.execution(job)["parts"][0]["attempts"][0]
    assert failed["error"]["message"] == (
        "the container stopped with exit code 137: OutOfMemoryError: container killed"
    )
    second = lane.container(job)
    assert second.claim()["resume"] == {"hours": 84}


def test_a_container_that_stops_after_its_report_is_not_concluded_twice(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    container.conclude(value="done")
    container.stop(exit_code=0)
    assert set(lane.answers_to(container.token)) == {"SendTaskHeartbeat", "SendTaskSuccess"}
    lane.conclude_attempt(job, container.grant)
    assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    assert lane.execution(job)["status"] == "succeeded"


def test_a_container_that_cannot_start_is_retried_and_fails_with_the_error_of_aws(world: World, lane: LongLane) -> None:
    job = lane.submit(retry={"max_attempts": 2, **NO_BACKOFF})
    lane.next_parts(job)
    cause = "No Fargate configuration exists for given values: 256 CPU, 4096 memory."
    for again in (True, False):
        container = lane.container(job)
        conclusion = lane.conclude_attempt(job, container.grant, Error="ECS.ClientException", Cause=cause)
        assert conclusion["retry"] is again
        assert lane.used_capacity() == (0, 0)
    assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("failed", f"attempt 2 of 2 failed: {cause}")
    assert ended["error"] == {"type": "ECS.ClientException", "message": cause, "trace": None}


def test_a_container_that_aws_has_no_capacity_for_waits_without_a_slot_and_without_counting_attempts(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(retry={"max_attempts": 1})
    lane.next_parts(job)
    for delay in (30, 60):
        container, now = lane.container(job), world.now
        conclusion = lane.conclude_attempt(job, container.grant, Error="AmazonECS.Unknown", Cause=QUOTA_USED_UP)
        assert conclusion["retry"] is True
        assert from_text(conclusion["retry_at"]) == now + timedelta(seconds=delay)
        again = lane.conclude_attempt(job, container.grant, Error="AmazonECS.Unknown", Cause=QUOTA_USED_UP)
        assert again == conclusion  # a repeated call changes nothing
        assert lane.used_capacity() == (0, 0)
        world.deliver_streams()
        waiting = lane.execution(job)
        assert (waiting["status"], waiting["waiting_for"]["what"]) == ("retrying", "capacity")
        assert "Fargate On-Demand vCPU resource count (L-3032A538)" in waiting["waiting_for"]["detail"]
        assert waiting["waiting_for"]["until"] == conclusion["retry_at"]
        world.pass_time(delay)
    container = lane.container(job)
    assert container.claim()["ok"]
    container.conclude(value="done")
    assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    ended = lane.execution(job)
    assert ended["status"] == "succeeded"
    assert [one["outcome"] for one in ended["attempts"]] == ["not_started", "not_started", "succeeded"]


def test_a_container_that_started_although_its_start_was_given_up_is_refused(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    late = lane.container(job)
    lane.conclude_attempt(job, late.grant, Error="ECS.SdkClientException", Cause="Read timed out")
    assert not late.claim()["ok"]
    world.pass_time(30)
    assert lane.container(job).claim()["ok"]


@pytest.mark.parametrize(
    ("error", "outcome", "status"),
    [("States.Timeout", "timed_out", "timed_out"), ("States.HeartbeatTimeout", "lost", "failed")],
)
def test_the_state_machine_error_decides_the_outcome_if_the_container_did_not_report(
    world: World, lane: LongLane, error: str, outcome: str, status: str
) -> None:
    job, container = start_part(lane, retry={"max_attempts": 1})
    assert lane.conclude_attempt(job, container.grant, Error=error, Cause="")["retry"] is False
    lane.next_parts(job)
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["attempts"][0]["outcome"]) == (status, outcome)
    assert lane.stopped == [container.task_arn]


def test_a_late_conclusion_of_a_superseded_attempt_changes_nothing(lane: LongLane) -> None:
    job, first = start_part(lane, retry=NO_BACKOFF)
    lane.conclude_attempt(job, first.grant, Error="Punctual.Lost", Cause="silent")
    second = lane.container(job)
    second.claim()
    lane.conclude_attempt(job, first.grant, Error="Punctual.Lost", Cause="late")  # refers to attempt 1
    assert lane.execution(job)["parts"][0]["status"] == "running"
    assert lane.used_capacity()[0] == 1


def test_a_late_timeout_of_an_attempt_does_not_end_a_part_that_waits_for_the_next_slot(lane: LongLane) -> None:
    job, first = start_part(lane, retry=NO_BACKOFF)
    timeout = {"Error": "States.Timeout", "Cause": ""}
    lane.conclude_attempt(job, first.grant, **timeout)
    lane.request_slot(job)
    lane.conclude_attempt(job, first.grant, **timeout)  # the call is repeated
    assert lane.execution(job)["parts"][0]["status"] == "waiting"
    lane.conclude_attempt(job, None, **timeout)  # the slot request times out
    assert lane.execution(job)["parts"][0]["status"] == "failed"


def test_a_spot_interruption_does_not_count_against_the_retries(lane: LongLane) -> None:
    job, first = start_part(lane, resources={"vcpu": 1, "spot": True}, retry={"max_attempts": 1})
    assert first.grant["capacity"] == [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1}]
    assert first.conclude("interrupted", error={"type": "Interrupted", "message": "spot interruption"})["ok"]
    assert lane.conclude_attempt(job, first.grant)["retry"] is True


def test_a_custom_image_succeeds_or_fails_by_its_exit_code(world: World, lane: LongLane) -> None:
    custom_image = {"image": "shell", "command": ["sh", "-c", "true"]}
    job = lane.submit(task=None, container=custom_image, retry={"max_attempts": 1})
    lane.next_parts(job)
    container = lane.container(job)
    assert (container.grant["task_definition"], container.grant["command"]) == ("shell", ["sh", "-c", "true"])
    container.report_running()
    assert lane.execution(job)["status"] == "running"
    world.pass_time(3600)
    assert lane.tick()["expired"] == []  # a custom image sends no heartbeats
    container.stop(exit_code=0)
    assert lane.answers_to(container.token)[-1] == "SendTaskSuccess"
    lane.next_parts(job)
    world.run_until_idle()
    assert lane.execution(job)["status"] == "succeeded"


def test_a_container_that_starts_after_the_cancellation_is_stopped(world: World, lane: LongLane) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["sleep", "9999"]})
    lane.next_parts(job)
    container = lane.container(job)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    world.run_until_idle()
    assert lane.stopped == []
    container.report_running()
    assert lane.stopped == [container.task_arn]


def test_of_two_containers_for_one_attempt_the_first_continues_and_reports_to_the_newer_token(
    world: World, lane: LongLane
) -> None:
    job, first = start_part(lane, retry={"max_attempts": 1})
    second = Container(world, first.grant)  # RunTask had succeeded, but was retried
    assert second.claim()["ok"] is False
    second.stop(exit_code=0)
    assert lane.answers_to(second.token) == []
    first.heartbeat()
    assert lane.answers_to(second.token) == ["SendTaskHeartbeat"]
    first.conclude(value="good")
    assert lane.answers_to(second.token)[-1] == "SendTaskSuccess"
    lane.next_parts(job)
    world.run_until_idle()
    assert lane.execution(job)["result"]["value"] == "good"


def test_of_two_containers_with_a_custom_image_the_second_is_stopped_and_its_token_is_answered(
    world: World, lane: LongLane
) -> None:
    custom_image = {"image": "shell", "command": ["sh", "-c", "false"]}
    job = lane.submit(task=None, container=custom_image, retry={"max_attempts": 1})
    lane.next_parts(job)
    first = lane.container(job)
    first.report_running()
    second = Container(world, first.grant)  # RunTask had succeeded, but was retried
    second.report_running()
    assert lane.stopped == [second.task_arn]
    second.stop(exit_code=143)
    assert lane.execution(job)["parts"][0]["status"] == "running"
    first.stop(exit_code=1)
    assert lane.answers_to(second.token) == ["SendTaskFailure"]


def test_a_second_container_that_stops_before_its_claim_leaves_its_token_to_the_first(
    world: World, lane: LongLane
) -> None:
    _, first = start_part(lane)
    second = Container(world, first.grant)
    second.stop(exit_code=1)
    first.heartbeat()  # otherwise the run, which waits for the newer token, hears no heartbeat
    assert lane.answers_to(second.token) == ["SendTaskHeartbeat"]
    first.conclude()
    assert lane.answers_to(second.token)[-1] == "SendTaskSuccess"


def test_a_second_container_that_stops_after_the_first_has_ended_answers_its_own_token(
    world: World, lane: LongLane
) -> None:
    _, first = start_part(lane)
    second = Container(world, first.grant)
    with just_before("UpdateItem", first.conclude, on_table("parts")):
        second.stop(exit_code=1)
    assert lane.answers_to(second.token) == ["SendTaskSuccess"]


@pytest.mark.parametrize("status", ["RUNNING", "STOPPED"])
def test_a_container_cannot_forge_an_event_about_another_container(world: World, lane: LongLane, status: str) -> None:
    job, victim = start_part(lane)
    forged = {**victim.assignment, "key": "made up"}
    override = runner_overrides({"PUNCTUAL_ASSIGNMENT": json.dumps(forged), "PUNCTUAL_TASK_TOKEN": "made up"})
    detail = {"taskArn": victim.task_arn, "lastStatus": status, "overrides": override}
    with pytest.raises(Unreadable):
        world.call("reporter", {"detail-type": "ECS Task State Change", "detail": detail})
    assert lane.stopped == []
    assert lane.execution(job)["parts"][0]["status"] == "running"


def test_a_container_cannot_claim_its_part_as_another_container(world: World, lane: LongLane) -> None:
    _, victim = start_part(lane)
    job = lane.submit()
    lane.next_parts(job)
    forger = lane.container(job)
    with pytest.raises(UnverifiedContainer):
        forger.report("claim", token=forger.token, task_arn=victim.task_arn)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel?grace_seconds=0")
    world.run_until_idle()
    assert victim.task_arn not in lane.stopped
