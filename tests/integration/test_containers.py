"""What containers of the long lane say, or fail to say, and what follows from it, on moto."""

from __future__ import annotations

import pytest

from tests.integration.long_lane import NO_REST, Container, LongLane, begun
from tests.integration.world import World


def test_a_container_that_falls_silent_loses_its_lease_and_what_it_says_later_is_refused(
    world: World, lane: LongLane
) -> None:
    job, silent = begun(lane, retry=NO_REST)
    world.pass_time(31)
    assert lane.tick()["lapsed"]
    assert lane.answers_to(silent.token)[-1] == "SendTaskFailure"
    assert lane.stopped == [silent.task_arn]
    settled = lane.settle(job, silent.grant, Error="Punctual.Lost", Cause="not heard of")
    assert settled["again"] is True
    assert lane.taken() == (0, 0)
    for said in (silent.beat(percent=99.0), silent.say("checkpoint", state={"late": 1}), silent.conclude(value="late")):
        assert said["ok"] is False
    second = lane.container(job)
    assert second.claim()["attempt"] == 2
    assert second.claim()["resume"] is None
    second.conclude(value="good")
    lane.next(job)
    world.settle_down()
    ended = lane.execution(job)
    assert ended["result"]["value"] == "good"
    assert [one["outcome"] for one in ended["attempts"]] == ["lost", "succeeded"]


def test_the_next_attempt_gets_the_last_checkpoint(lane: LongLane) -> None:
    job, first = begun(lane, retry=NO_REST)
    first.say("checkpoint", state={"hours": 10})
    first.say("checkpoint", state={"hours": 84})
    first.stop(exit_code=137, reason="OutOfMemoryError: container killed")
    assert lane.answers_to(first.token)[-1] == "SendTaskFailure"
    cause = [params["cause"] for _, params in lane.told if params.get("error") == "Punctual.Stopped"][-1]
    lane.settle(job, first.grant, Error="Punctual.Stopped", Cause=cause)
    failed = lane.execution(job)["parts"][0]["attempts"][0]
    assert failed["error"]["message"] == (
        "the container stopped with exit code 137: OutOfMemoryError: container killed"
    )
    second = lane.container(job)
    assert second.claim()["resume"] == {"hours": 84}


def test_a_container_that_reported_and_then_stopped_is_not_judged_again(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    container.conclude(value="done")
    container.stop(exit_code=0)
    assert set(lane.answers_to(container.token)) == {"SendTaskHeartbeat", "SendTaskSuccess"}
    lane.settle(job, container.grant)
    assert lane.next(job)["next"] == "end"
    world.settle_down()
    assert lane.execution(job)["status"] == "succeeded"


def test_a_container_that_cannot_be_started_is_tried_again_and_ends_in_the_words_of_aws(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(retry={"max_attempts": 2, **NO_REST})
    lane.next(job)
    words = "Capacity is unavailable at this time. Please try again later or in a different availability zone"
    for again in (True, False):
        container = lane.container(job)
        settled = lane.settle(job, container.grant, Error="ECS.AmazonECSException", Cause=words)
        assert settled["again"] is again
        assert lane.taken() == (0, 0)
    assert lane.next(job)["next"] == "end"
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("failed", f"2 of 2 attempts: {words}")
    assert ended["error"] == {"type": "ECS.AmazonECSException", "message": words, "trace": None}


@pytest.mark.parametrize(
    ("error", "outcome", "status"),
    [("States.Timeout", "timed_out", "timed_out"), ("States.HeartbeatTimeout", "lost", "failed")],
)
def test_what_the_state_machine_saw_decides_when_the_container_said_nothing(
    world: World, lane: LongLane, error: str, outcome: str, status: str
) -> None:
    job, container = begun(lane, retry={"max_attempts": 1})
    assert lane.settle(job, container.grant, Error=error, Cause="")["again"] is False
    lane.next(job)
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["attempts"][0]["outcome"]) == (status, outcome)
    assert lane.stopped == [container.task_arn]


def test_the_word_of_a_superseded_state_machine_settles_nothing(lane: LongLane) -> None:
    job, first = begun(lane, retry=NO_REST)
    lane.settle(job, first.grant, Error="Punctual.Lost", Cause="silent")
    second = lane.container(job)
    second.claim()
    lane.settle(job, first.grant, Error="Punctual.Lost", Cause="late")  # about attempt 1 again
    assert lane.execution(job)["parts"][0]["status"] == "running"
    assert lane.taken()[0] == 1


def test_a_spot_interruption_does_not_count_against_the_retries(lane: LongLane) -> None:
    job, first = begun(lane, resources={"vcpu": 1, "spot": True}, retry={"max_attempts": 1})
    assert first.grant["capacity"] == [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1}]
    assert first.conclude("interrupted", error={"type": "Interrupted", "message": "told to leave"})["ok"]
    assert lane.settle(job, first.grant)["again"] is True


def test_an_own_image_is_judged_by_its_exit_code(world: World, lane: LongLane) -> None:
    container_of = {"image": "shell", "command": ["sh", "-c", "true"]}
    job = lane.submit(task=None, container=container_of, retry={"max_attempts": 1})
    lane.next(job)
    container = lane.container(job)
    assert (container.grant["task_definition"], container.grant["command"]) == ("shell", ["sh", "-c", "true"])
    container.appear()
    assert lane.execution(job)["status"] == "running"
    world.pass_time(3600)
    assert lane.tick()["lapsed"] == []  # it does not beat, and need not
    container.stop(exit_code=0)
    assert lane.answers_to(container.token)[-1] == "SendTaskSuccess"
    lane.next(job)
    world.settle_down()
    assert lane.execution(job)["status"] == "succeeded"


def test_a_container_that_comes_up_after_its_execution_was_cancelled_is_stopped(world: World, lane: LongLane) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["sleep", "9999"]})
    lane.next(job)
    container = lane.container(job)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    world.settle_down()
    assert lane.stopped == []
    container.appear()
    assert lane.stopped == [container.task_arn]


def test_of_two_containers_for_one_attempt_the_first_runs_on_and_answers_to_the_newer_token(
    world: World, lane: LongLane
) -> None:
    job, first = begun(lane, retry={"max_attempts": 1})
    second = Container(world, first.grant)  # RunTask had succeeded, and was tried again all the same
    assert second.claim()["ok"] is False
    second.stop(exit_code=0)
    assert "SendTaskFailure" not in lane.answers_to(second.token)
    first.conclude(value="good")
    assert lane.answers_to(second.token)[-1] == "SendTaskSuccess"
    lane.next(job)
    world.settle_down()
    assert lane.execution(job)["result"]["value"] == "good"
