"""Cancellation in the long lane: containers receive a stop request and a grace period."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text
from tests.integration.long_lane import NO_BACKOFF, Container, LongLane, start_part
from tests.integration.world import World
from tests.resources import STATE_MACHINE

CANCELLED_BY = "cancelled by operator@data-quality"
WEEK = {"dataset": "orders", "week_of": "2026-11-10"}


def cancel(world: World, lane: LongLane, job: dict[str, Any], query: str = "") -> dict[str, Any]:
    """Request cancellation, deliver all events, and return the response."""
    status, answer = world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel{query}")
    assert status == 200
    world.run_until_idle()
    return dict(answer)


def status_and_reason(lane: LongLane, job: dict[str, Any]) -> tuple[str, str | None]:
    execution = lane.execution(job)
    return execution["status"], execution["reason"]


def start_partitioned(lane: LongLane, count: int, **submission: Any) -> tuple[dict[str, Any], list[str]]:
    job = lane.submit(partitions=count, **submission)
    return job, lane.next_parts(job)["parts"]


def test_a_container_receives_a_stop_request_and_its_result_within_the_grace_period_is_kept(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    response = cancel(world, lane, job)
    assert (response["status"], response["reason"]) == ("running", CANCELLED_BY)
    assert from_text(response["cancel_at"]) == world.now + timedelta(seconds=30)
    assert status_and_reason(lane, job) == ("running", CANCELLED_BY)
    assert lane.stopped == [container.task_arn]
    assert container.heartbeat() == {"ok": True, "preempt_reason": None, "stop_in": 30.0}
    world.pass_time(20)
    assert container.heartbeat(percent=50.0)["stop_in"] == 10.0
    assert container.conclude("cancelled", value={"kept": 7}) == {"ok": True}
    assert lane.used_capacity() == (0, 0)
    assert lane.conclude_attempt(job, container.grant)["retry"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["result"]["value"]) == (
        "cancelled",
        CANCELLED_BY,
        {"kept": 7},
    )
    assert [(one["number"], one["outcome"], one["error"]) for one in execution["attempts"]] == [(1, "cancelled", None)]
    world.run_until_idle()
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"
    assert lane.next_parts(job)["next"] == "end"
    assert container.conclude(value="once more")["ok"] is False


def test_a_container_that_does_not_stop_loses_its_lease_and_its_late_result_is_rejected(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    cancel(world, lane, job, "?grace_seconds=40")
    world.pass_time(39)
    container.heartbeat()
    assert lane.tick()["expired"] == []
    world.pass_time(2)
    assert lane.tick()["expired"] == [f"{lane.execution(job)['execution_id']}/all"]
    [(_, failure)] = [callback for callback in lane.callbacks if callback[0] == "SendTaskFailure"]
    assert (failure["taskToken"], failure["error"]) == (container.token, "Punctual.Cancelled")
    answer = lane.conclude_attempt(job, container.grant, Error=failure["error"], Cause=failure["cause"])
    assert answer["retry"] is False
    assert container.conclude(value="late")["ok"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["result"]["value"]) == ("cancelled", CANCELLED_BY, None)
    assert lane.used_capacity() == (0, 0)


def test_a_result_after_the_grace_period_is_discarded_even_before_the_next_tick(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    cancel(world, lane, job)
    world.pass_time(31)
    container.conclude(value="late")
    lane.conclude_attempt(job, container.grant)
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("cancelled", None)


def test_a_container_that_succeeds_before_it_sees_the_request_keeps_its_own_outcome(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    cancel(world, lane, job)
    container.conclude(value=1)
    lane.conclude_attempt(job, container.grant)
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", 1)
    assert execution["cancel_at"] is not None


@pytest.mark.parametrize("outcome", ["failed", "interrupted", "timed_out"])
def test_a_cancelled_attempt_is_not_retried(world: World, lane: LongLane, outcome: str) -> None:
    job, container = start_part(lane, retry=NO_BACKOFF)
    cancel(world, lane, job)
    container.conclude(outcome, error={"type": "Broken", "message": "half-way"})
    assert lane.conclude_attempt(job, container.grant)["retry"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["attempt"]) == ("cancelled", CANCELLED_BY, 1)
    assert [one["outcome"] for one in execution["attempts"]] == ["cancelled"]
    assert execution["error"]["message"] == "half-way"


def test_a_container_that_crashes_while_stopping_is_not_replaced(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry=NO_BACKOFF)
    cancel(world, lane, job)
    container.stop(exit_code=137)
    assert lane.answers_to(container.token)[-1] == "SendTaskFailure"
    assert lane.conclude_attempt(job, container.grant, Error="Punctual.Stopped", Cause="{}")["retry"] is False
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)


def test_a_custom_image_that_exits_with_zero_after_a_stop_request_is_cancelled(world: World, lane: LongLane) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["sleep", "9999"]})
    lane.next_parts(job)
    container = lane.container(job)
    container.report_running()
    world.run_until_idle()
    cancel(world, lane, job)
    assert lane.stopped == [container.task_arn]
    container.stop(exit_code=0)
    [failure] = [params for operation, params in lane.callbacks if operation == "SendTaskFailure"]
    lane.conclude_attempt(job, container.grant, Error=failure["error"], Cause=failure["cause"])
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)


def test_the_grace_period_is_limited_by_the_fargate_stop_timeout(world: World, lane: LongLane) -> None:
    job, _ = start_part(lane)
    response = cancel(world, lane, job, "?grace_seconds=600")
    assert from_text(response["cancel_at"]) == world.now + timedelta(seconds=100)


def test_a_second_cancellation_changes_nothing_not_even_the_grace_period(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    until = cancel(world, lane, job)["cancel_at"]
    world.pass_time(5)
    again = cancel(world, lane, job, "?grace_seconds=90")
    assert (again["status"], again["cancel_at"]) == ("running", until)
    assert container.heartbeat()["stop_in"] == 25.0


def test_a_cancellation_without_grace_ends_an_execution_that_was_asked_to_stop(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    cancel(world, lane, job)
    assert cancel(world, lane, job, "?grace_seconds=0")["status"] == "cancelled"
    assert container.heartbeat()["ok"] is False
    assert lane.used_capacity() == (0, 0)


def test_running_parts_get_a_grace_period_and_the_others_are_cancelled_immediately(
    world: World, lane: LongLane
) -> None:
    job, names = start_partitioned(lane, 4, resources={"vcpu": 2}, retry={"backoff_seconds": 3600})
    first, second = lane.container(job, names[0]), lane.container(job, names[1])
    assert first.claim()["ok"]
    assert second.claim()["ok"]
    second.conclude("failed", error={"type": "Broken", "message": "retries in an hour"})
    third = lane.container(job, names[2])  # its container has not started yet
    lane.request_slot(job, names[3])
    world.run_until_idle()
    statuses = [part["status"] for part in lane.execution(job)["parts"]]
    assert statuses == ["running", "retrying", "starting", "waiting"]
    cancel(world, lane, job)
    assert [part["status"] for part in lane.execution(job)["parts"]] == ["running", *["cancelled"] * 3]
    assert first.task_arn in lane.stopped
    assert lane.used_capacity() == (1, 2)
    assert third.claim()["ok"] is False
    assert first.conclude("cancelled", value=1)["ok"]
    lane.conclude_attempt(job, first.grant, names[0])
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)  # does not wait for the part in backoff
    world.run_until_idle()
    assert world.states.describe_execution(executionArn=lane.run_arn(job))["status"] == "ABORTED"
    assert lane.used_capacity() == (0, 0)


def test_parts_that_all_succeed_within_the_grace_period_are_not_collected(world: World, lane: LongLane) -> None:
    job, names = start_partitioned(lane, 2, task="quality.weekly", parameters=WEEK)
    containers = [lane.container(job, name) for name in names]
    for container in containers:
        container.claim()
    cancel(world, lane, job)
    for name, container in zip(names, containers, strict=True):
        container.conclude(value=1)
        lane.conclude_attempt(job, container.grant, name)
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)
    assert [part["part"] for part in lane.execution(job)["parts"]] == names


def test_an_execution_whose_only_part_fails_right_after_the_request_is_cancelled_immediately(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane, retry={"backoff_seconds": 600})
    status, _ = world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    assert status == 200
    container.conclude("failed", error={"type": "Broken", "message": "just then"})
    world.run_until_idle()
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)
    assert [part["status"] for part in lane.execution(job)["parts"]] == ["cancelled"]


def test_a_failure_that_races_with_the_cancellation_is_not_retried(world: World, lane: LongLane) -> None:
    job, container = start_part(lane, retry=NO_BACKOFF)
    function, responses = world.function("reporter"), []

    def clock() -> datetime:
        if not responses:
            responses.append(cancel(world, lane, job))
        return world.now

    ender = replace(function.reporter.ender, clock=clock)
    function.reporter = replace(function.reporter, ender=ender)  # between the reporter's read and its write
    assert container.conclude("failed", error={"type": "Broken", "message": "just then"})["ok"] is False
    assert responses
    assert lane.conclude_attempt(job, container.grant)["retry"] is False
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)


def test_an_execution_whose_only_part_succeeds_right_after_the_request_has_succeeded(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    container.conclude(value=1)
    world.run_until_idle()
    lane.conclude_attempt(job, container.grant)
    assert lane.next_parts(job)["next"] == "end"
    assert status_and_reason(lane, job)[0] == "succeeded"


def test_a_duplicate_or_interrupted_cancellation_record_is_harmless(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    records = world.stream_records("executions", "settler")
    world.call("settler", {"Records": records})
    lane.stopped.clear()  # as if the settler had crashed before StopTask
    world.call("settler", {"Records": records})
    assert lane.stopped == [container.task_arn]
    container.conclude("cancelled", value=1)
    world.call("settler", {"Records": records})  # all parts have stopped: the execution ends with their results
    assert status_and_reason(lane, job)[0] == "cancelled"
    lane.conclude_attempt(job, container.grant)
    assert lane.execution(job)["result"]["value"] == 1


def test_a_cancelled_execution_whose_state_machine_stopped_is_not_run_again(world: World, lane: LongLane) -> None:
    job, _ = start_part(lane)
    cancel(world, lane, job)
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(200)
    lane.reconcile()
    world.run_until_idle()
    runs = lane.runs()
    assert len(runs) == 2  # a second run, which only ends the execution
    execution_id = lane.execution(job)["execution_id"]
    request = {"do": "next_parts", "job_id": job["job_id"], "execution_id": execution_id, "run_arn": "another run"}
    assert world.call("conductor", request)["next"] == "end"
    assert status_and_reason(lane, job) == ("cancelled", CANCELLED_BY)


def test_a_container_that_claims_before_the_settler_knows_of_the_cancellation_is_refused(
    world: World, lane: LongLane
) -> None:
    job = lane.submit()
    lane.next_parts(job)
    container = lane.container(job)
    query = "?grace_seconds=0"
    assert world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel{query}")[0] == 200
    assert container.claim()["ok"] is False
    world.run_until_idle()
    assert lane.used_capacity() == (0, 0)


def test_deleting_a_job_gives_its_running_execution_a_grace_period(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    assert world.request("DELETE", f"/jobs/{job['job_id']}")[0] == 200
    world.run_until_idle()
    assert container.heartbeat()["stop_in"] == 30.0
    container.conclude("cancelled", value="tidied up")
    lane.conclude_attempt(job, container.grant)
    assert status_and_reason(lane, job) == ("cancelled", "job deleted")


def test_the_next_execution_waits_until_the_cancelled_one_has_stopped(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 86_400}, overlap="cancel_running")

    def run_now() -> dict[str, Any]:
        status, answer = world.request("POST", f"/jobs/{job['job_id']}/run")
        assert status == 201
        world.run_until_idle()
        return dict(answer["execution"])

    running = run_now()
    container = started(world, lane, running)
    following = run_now()
    assert step(world, following)["next"] == "end"  # a new run starts when the gate admits it
    world.run_until_idle()
    assert world.execution(following["execution_id"])["status"] == "waiting"
    assert container.heartbeat()["stop_in"] == 30.0
    container.conclude("cancelled")
    item = {"job_id": job["job_id"], "execution_id": running["execution_id"], "part": "all", "grant": container.grant}
    world.call("conductor", {"do": "conclude_attempt", "item": item})
    world.run_until_idle()
    assert world.execution(running["execution_id"])["status"] == "cancelled"
    assert world.execution(following["execution_id"])["status"] == "queued"


def step(world: World, execution: dict[str, Any]) -> dict[str, Any]:
    """Make the first call of the state machine for an execution; return the response."""
    key = {"job_id": execution["job_id"], "execution_id": execution["execution_id"]}
    listed = world.states.list_executions(stateMachineArn=STATE_MACHINE)["executions"]
    run = next(one for one in listed if one["name"].startswith(execution["execution_id"]))
    return dict(world.call("conductor", {"do": "next_parts", **key, "run_arn": run["executionArn"]}))


def started(world: World, lane: LongLane, execution: dict[str, Any]) -> Container:
    assert step(world, execution)["parts"] == ["all"]
    key = {"job_id": execution["job_id"], "execution_id": execution["execution_id"]}
    run_arn = lane.attached_run(execution["job_id"], execution["execution_id"])
    world.call("conductor", {"do": "request_slot", **key, "run_arn": run_arn, "part": "all", "ticket": "ticket"})
    world.run_until_idle()
    grant = lane.grant_for("ticket")
    assert grant is not None
    container = Container(world, grant)
    assert container.claim()["ok"]
    return container
