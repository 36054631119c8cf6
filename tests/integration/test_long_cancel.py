"""Cancelling what runs in the long lane: its containers are asked to stop, and have a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text
from tests.integration.long_lane import NO_REST, Container, LongLane, begun
from tests.integration.world import STATE_MACHINE, World

ASKED = "cancelled by operator@data-quality"
WEEK = {"dataset": "orders", "week_of": "2026-11-10"}


def cancel(world: World, lane: LongLane, job: dict[str, Any], query: str = "") -> dict[str, Any]:
    """How it stands then. What hears of it has."""
    status, answer = world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel{query}")
    assert status == 200
    world.settle_down()
    return dict(answer)


def ended(lane: LongLane, job: dict[str, Any]) -> tuple[str, str | None]:
    execution = lane.execution(job)
    return execution["status"], execution["reason"]


def partitioned(lane: LongLane, count: int, **submission: Any) -> tuple[dict[str, Any], list[str]]:
    job = lane.submit(partitions=count, **submission)
    return job, lane.next(job)["parts"]


def test_a_container_is_asked_to_stop_and_what_it_returns_in_time_is_kept(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    asked = cancel(world, lane, job)
    assert (asked["status"], asked["reason"]) == ("running", ASKED)
    assert from_text(asked["cancel_at"]) == world.now + timedelta(seconds=30)
    assert ended(lane, job) == ("running", ASKED)
    assert lane.stopped == [container.task_arn]
    assert container.beat() == {"ok": True, "leave": None, "stop_in": 30.0}
    world.pass_time(20)
    assert container.beat(percent=50.0)["stop_in"] == 10.0
    assert container.conclude("cancelled", value={"kept": 7}) == {"ok": True}
    assert lane.taken() == (0, 0)
    assert lane.settle(job, container.grant)["again"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["result"]["value"]) == ("cancelled", ASKED, {"kept": 7})
    assert [(one["number"], one["outcome"], one["error"]) for one in execution["attempts"]] == [(1, "cancelled", None)]
    world.settle_down()
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"
    assert lane.next(job)["next"] == "end"
    assert container.conclude(value="once more")["ok"] is False


def test_one_that_does_not_stop_is_given_up_and_its_late_result_refused(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    cancel(world, lane, job, "?grace_seconds=40")
    world.pass_time(39)
    container.beat()
    assert lane.tick()["lapsed"] == []
    world.pass_time(2)
    assert lane.tick()["lapsed"] == [f"{lane.execution(job)['execution_id']}/all"]
    [(_, failure)] = [said for said in lane.told if said[0] == "SendTaskFailure"]
    assert (failure["taskToken"], failure["error"]) == (container.token, "Punctual.Cancelled")
    answer = lane.settle(job, container.grant, Error=failure["error"], Cause=failure["cause"])
    assert answer["again"] is False
    assert container.conclude(value="late")["ok"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["result"]["value"]) == ("cancelled", ASKED, None)
    assert lane.taken() == (0, 0)


def test_a_result_that_comes_after_its_grace_and_before_anybody_looked_is_not_kept(
    world: World, lane: LongLane
) -> None:
    job, container = begun(lane)
    cancel(world, lane, job)
    world.pass_time(31)
    container.conclude(value="late")
    lane.settle(job, container.grant)
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("cancelled", None)


def test_one_that_ends_in_time_without_having_heard_keeps_its_own_outcome(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    cancel(world, lane, job)
    container.conclude(value=1)
    lane.settle(job, container.grant)
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", 1)
    assert execution["cancel_at"] is not None


@pytest.mark.parametrize("outcome", ["failed", "interrupted", "timed_out"])
def test_what_was_asked_to_stop_is_not_tried_again(world: World, lane: LongLane, outcome: str) -> None:
    job, container = begun(lane, retry=NO_REST)
    cancel(world, lane, job)
    container.conclude(outcome, error={"type": "Broken", "message": "half-way"})
    assert lane.settle(job, container.grant)["again"] is False
    execution = lane.execution(job)
    assert (execution["status"], execution["reason"], execution["attempt"]) == ("cancelled", ASKED, 1)
    assert [one["outcome"] for one in execution["attempts"]] == ["cancelled"]
    assert execution["error"]["message"] == "half-way"


def test_a_container_that_dies_while_it_stops_is_not_replaced(world: World, lane: LongLane) -> None:
    job, container = begun(lane, retry=NO_REST)
    cancel(world, lane, job)
    container.stop(exit_code=137)
    assert lane.answers_to(container.token)[-1] == "SendTaskFailure"
    assert lane.settle(job, container.grant, Error="Punctual.Stopped", Cause="{}")["again"] is False
    assert ended(lane, job) == ("cancelled", ASKED)


def test_an_own_image_that_ends_well_when_it_is_told_to_stop_is_cancelled(world: World, lane: LongLane) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["sleep", "9999"]})
    lane.next(job)
    container = lane.container(job)
    container.appear()
    world.settle_down()
    cancel(world, lane, job)
    assert lane.stopped == [container.task_arn]
    container.stop(exit_code=0)
    [failure] = [params for operation, params in lane.told if operation == "SendTaskFailure"]
    lane.settle(job, container.grant, Error=failure["error"], Cause=failure["cause"])
    assert ended(lane, job) == ("cancelled", ASKED)


def test_the_longest_grace_is_what_fargate_leaves_a_container(world: World, lane: LongLane) -> None:
    job, _ = begun(lane)
    asked = cancel(world, lane, job, "?grace_seconds=600")
    assert from_text(asked["cancel_at"]) == world.now + timedelta(seconds=100)


def test_asking_again_changes_nothing_not_even_the_grace(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    until = cancel(world, lane, job)["cancel_at"]
    world.pass_time(5)
    again = cancel(world, lane, job, "?grace_seconds=0")
    assert (again["status"], again["cancel_at"]) == ("running", until)
    assert container.beat()["stop_in"] == 25.0


def test_of_many_parts_those_that_run_have_a_while_and_the_others_go_at_once(world: World, lane: LongLane) -> None:
    job, names = partitioned(lane, 4, resources={"vcpu": 2}, retry={"backoff_seconds": 3600})
    first, second = lane.container(job, names[0]), lane.container(job, names[1])
    assert first.claim()["ok"]
    assert second.claim()["ok"]
    second.conclude("failed", error={"type": "Broken", "message": "rests for an hour"})
    third = lane.container(job, names[2])  # its container is not there yet
    lane.ask(job, names[3])
    world.settle_down()
    statuses = [part["status"] for part in lane.execution(job)["parts"]]
    assert statuses == ["running", "retrying", "starting", "waiting"]
    cancel(world, lane, job)
    assert [part["status"] for part in lane.execution(job)["parts"]] == ["running", *["cancelled"] * 3]
    assert first.task_arn in lane.stopped
    assert lane.taken() == (1, 2)
    assert third.claim()["ok"] is False
    assert first.conclude("cancelled", value=1)["ok"]
    lane.settle(job, first.grant, names[0])
    assert ended(lane, job) == ("cancelled", ASKED)  # the one that rests is not waited for
    world.settle_down()
    assert world.states.describe_execution(executionArn=lane.run_arn(job))["status"] == "ABORTED"
    assert lane.taken() == (0, 0)


def test_parts_that_all_succeed_in_time_are_not_collected(world: World, lane: LongLane) -> None:
    job, names = partitioned(lane, 2, task="quality.weekly", parameters=WEEK)
    containers = [lane.container(job, name) for name in names]
    for container in containers:
        container.claim()
    cancel(world, lane, job)
    for name, container in zip(names, containers, strict=True):
        container.conclude(value=1)
        lane.settle(job, container.grant, name)
    assert ended(lane, job) == ("cancelled", ASKED)
    assert [part["part"] for part in lane.execution(job)["parts"]] == names


def test_one_whose_only_part_failed_as_it_was_asked_is_cancelled_at_once(world: World, lane: LongLane) -> None:
    job, container = begun(lane, retry={"backoff_seconds": 600})
    status, _ = world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    assert status == 200
    container.conclude("failed", error={"type": "Broken", "message": "just then"})
    world.settle_down()
    assert ended(lane, job) == ("cancelled", ASKED)
    assert [part["status"] for part in lane.execution(job)["parts"]] == ["cancelled"]


def test_one_that_fails_in_the_very_moment_in_which_it_is_asked_is_not_tried_again(
    world: World, lane: LongLane
) -> None:
    job, container = begun(lane, retry=NO_REST)
    function, asked = world.function("reporter"), []

    def clock() -> datetime:
        if not asked:
            asked.append(cancel(world, lane, job))
        return world.now

    function.reporter = replace(function.reporter, clock=clock)  # it has looked at the part, and has not written yet
    assert container.conclude("failed", error={"type": "Broken", "message": "just then"})["ok"] is False
    assert asked
    assert lane.settle(job, container.grant)["again"] is False
    assert ended(lane, job) == ("cancelled", ASKED)


def test_one_whose_only_part_succeeded_as_it_was_asked_has_succeeded(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    container.conclude(value=1)
    world.settle_down()
    lane.settle(job, container.grant)
    assert lane.next(job)["next"] == "end"
    assert ended(lane, job)[0] == "succeeded"


def test_word_that_comes_twice_or_breaks_off_half_way_does_no_harm(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    records = world.stream_records("executions", "settler")
    world.call("settler", {"Records": records})
    lane.stopped.clear()  # as if the function had died just before it
    world.call("settler", {"Records": records})
    assert lane.stopped == [container.task_arn]
    container.conclude("cancelled", value=1)
    world.call("settler", {"Records": records})
    assert ended(lane, job)[0] == "running"  # that its container has ended is its conductor's to say
    lane.settle(job, container.grant)
    assert lane.execution(job)["result"]["value"] == 1


def test_one_whose_state_machine_stopped_meanwhile_is_cancelled_and_not_run_again(world: World, lane: LongLane) -> None:
    job, _ = begun(lane)
    cancel(world, lane, job)
    world.states.stop_execution(executionArn=lane.run_arn(job))
    world.pass_time(200)
    lane.reconcile()
    world.settle_down()
    runs = lane.runs()
    assert len(runs) == 2  # another one, to end it
    execution_id = lane.execution(job)["execution_id"]
    question = {"do": "next", "job_id": job["job_id"], "execution_id": execution_id, "run_arn": "another run"}
    assert world.call("conductor", question)["next"] == "end"
    assert ended(lane, job) == ("cancelled", ASKED)


def test_a_deleted_job_has_what_runs_of_it_stop_in_its_own_time(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    assert world.request("DELETE", f"/jobs/{job['job_id']}")[0] == 200
    world.settle_down()
    assert container.beat()["stop_in"] == 30.0
    container.conclude("cancelled", value="tidied up")
    lane.settle(job, container.grant)
    assert ended(lane, job) == ("cancelled", "job deleted")


def test_the_next_one_waits_until_the_running_one_has_stopped(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 86_400}, overlap="cancel_running")

    def run_now() -> dict[str, Any]:
        status, answer = world.request("POST", f"/jobs/{job['job_id']}/run")
        assert status == 201
        world.settle_down()
        return dict(answer["execution"])

    running = run_now()
    container = started(world, lane, running)
    following = run_now()
    assert step(world, following)["next"] == "end"  # another run comes when it is its turn
    world.settle_down()
    assert world.execution(following["execution_id"])["status"] == "waiting"
    assert container.beat()["stop_in"] == 30.0
    container.conclude("cancelled")
    item = {"job_id": job["job_id"], "execution_id": running["execution_id"], "part": "all", "grant": container.grant}
    world.call("conductor", {"do": "settle", "item": item})
    world.settle_down()
    assert world.execution(running["execution_id"])["status"] == "cancelled"
    assert world.execution(following["execution_id"])["status"] == "queued"


def step(world: World, execution: dict[str, Any]) -> dict[str, Any]:
    """What the state machine of one of a job's executions asks first."""
    key = {"job_id": execution["job_id"], "execution_id": execution["execution_id"]}
    listed = world.states.list_executions(stateMachineArn=STATE_MACHINE)["executions"]
    run = next(one for one in listed if one["name"].startswith(execution["execution_id"]))
    return dict(world.call("conductor", {"do": "next", **key, "run_arn": run["executionArn"]}))


def started(world: World, lane: LongLane, execution: dict[str, Any]) -> Container:
    assert step(world, execution)["parts"] == ["all"]
    key = {"job_id": execution["job_id"], "execution_id": execution["execution_id"]}
    world.call("conductor", {"do": "ask", **key, "part": "all", "ticket": "ticket"})
    world.settle_down()
    grant = lane.granted("ticket")
    assert grant is not None
    container = Container(world, grant)
    assert container.claim()["ok"]
    return container
