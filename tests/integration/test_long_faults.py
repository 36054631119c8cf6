"""Faults in the long lane: processes that die at any write, lost responses of the reporter, faults of a preemption."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from punctual.aws.reporter_client import ReporterClient
from punctual.domain.long_lane.assignment import read_assignment
from tests.integration.faults import dies_before_write
from tests.integration.long_lane import NO_BACKOFF, Container, LongLane, start_part
from tests.integration.world import World

URGENT = {"resources": {"vcpu": 4}, "expected_seconds": 3600, "deadline": {"within_seconds": 3900}}


@dataclass
class LossyLambda:
    """Invokes the reporter for a container, and loses the first response to each kind of call."""

    world: World
    lost: list[str] = field(default_factory=list)

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        request = json.loads(Payload)
        answer = self.world.call("reporter", request)
        if request["do"] not in self.lost:
            self.lost.append(request["do"])
            raise ReadTimeoutError(endpoint_url=FunctionName)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


def test_calls_of_a_container_whose_responses_are_lost_take_effect_once(world: World, lane: LongLane) -> None:
    job = lane.submit(retry={"max_attempts": 1})
    lane.next_parts(job)
    container = lane.container(job)
    network = LossyLambda(world)
    assignment = read_assignment(container.grant["assignment"])
    reporter = ReporterClient("reporter", assignment, network, sleep=world.pass_time)
    claimed = reporter.call_with_retries("claim", token=container.token, task_arn=container.task_arn)
    assert (claimed["ok"], claimed["attempt"]) == (True, 1)
    assert reporter.call_with_retries("heartbeat", progress=None)["ok"]
    assert reporter.call_with_retries("checkpoint", state={"rows": 7})["ok"]
    result = {"outcome": "succeeded", "value": "done", "error": None}
    reporter.call_with_retries("conclude", result=result)
    assert network.lost == ["claim", "heartbeat", "checkpoint", "conclude"]
    container.stop(exit_code=0)
    assert lane.next_parts(job)["next"] == "end"
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", "done")
    assert [one["outcome"] for one in execution["attempts"]] == ["succeeded"]
    assert lane.used_capacity() == (0, 0)


def test_a_reporter_that_dies_at_any_write_of_a_result_completes_it(lane: LongLane) -> None:
    for number in count(1):
        job, container = start_part(lane, retry={"max_attempts": 1})
        died = dies_before_write(number, lambda to=container: to.conclude(value="done"))
        if died:
            container.conclude(value="done")  # the container repeats the call, and then ends
        container.stop(exit_code=0)
        assert "SendTaskSuccess" in lane.answers_to(container.token)
        assert lane.next_parts(job)["next"] == "end"
        execution = lane.execution(job)
        assert (execution["status"], execution["result"]["value"]) == ("succeeded", "done")
        assert lane.used_capacity() == (0, 0)
        if not died:
            break
    assert number > 2


@pytest.mark.parametrize("grace_seconds", [0, 30])
def test_a_settler_that_dies_at_any_write_completes_a_cancellation_on_redelivery(
    world: World, lane: LongLane, grace_seconds: int
) -> None:
    concurrency = {"key": "k", "limit": 1}
    for number in count(1):
        job = lane.submit(partitions=3, concurrency=concurrency)
        lane.next_parts(job)
        container = lane.container(job, "0000")
        assert container.claim()["ok"]
        lane.request_slot(job, "0001")  # this part gets a slot, and the third one requests none
        path = f"/executions/{lane.execution(job)['execution_id']}/cancel?grace_seconds={grace_seconds}"
        assert world.request("PUT", path)[0] == 200
        records = world.stream_records("executions", "settler")
        died = dies_before_write(number, lambda of=records: world.call("settler", {"Records": of}))
        if died:
            world.call("settler", {"Records": records})
        assert container.task_arn in lane.stopped
        if grace_seconds:
            assert container.conclude("cancelled")["ok"]
            lane.conclude_attempt(job, container.grant, "0000")
        else:
            assert container.conclude(value="late") == {"ok": False}
        world.run_until_idle()
        execution = lane.execution(job)
        assert execution["status"] == "cancelled"
        assert [part["status"] for part in execution["parts"]] == ["cancelled"] * 3
        assert lane.used_capacity() == (0, 0)
        assert not [item for item in world.items("gates") if item["gate"]["S"].startswith("holders#")]
        if not died:
            break
    assert number > 3


def preemptible(lane: LongLane) -> tuple[dict[str, Any], Container]:
    """A part that fills the lane, and that can wait: with half an hour of progress and a checkpoint."""
    patient = {"preemptible": True, "expected_seconds": 3600, "deadline": {"within_seconds": 86_400}}
    job, container = start_part(lane, resources={"vcpu": 4}, retry={"max_attempts": 1, **NO_BACKOFF}, **patient)
    for _ in range(90):
        lane.world.pass_time(20)
        container.heartbeat(percent=50.0)
    container.report("checkpoint", state={"half": True})
    return job, container


def test_an_admission_that_dies_at_any_write_of_a_preemption_completes_it_with_the_next_tick(
    world: World, lane: LongLane
) -> None:
    job, lax = preemptible(lane)
    urgent = lane.submit(**URGENT)
    lane.next_parts(urgent)
    ticket = lane.request_slot(urgent)
    for number in count(1):
        if not dies_before_write(number, lane.tick):
            break
    assert number > 1
    assert lax.task_arn in lane.stopped
    assert lane.execution(urgent)["execution_id"] in lax.heartbeat()["preempt_reason"]
    assert lax.conclude("interrupted", error={"type": "Interrupted", "message": "preempted"})["ok"]
    world.run_until_idle()
    assert lane.grant_for(ticket) is not None
    assert lane.conclude_attempt(job, lax.grant)["retry"] is True
    assert lane.used_capacity() == (1, 4)


@pytest.mark.parametrize("reported", [False, True], ids=["killed", "interrupted, and reported again"])
def test_a_preempted_container_gives_its_slot_up_once_and_resumes_however_it_ends(
    world: World, lane: LongLane, reported: bool
) -> None:
    job, lax = preemptible(lane)
    urgent = lane.submit(**URGENT)
    lane.next_parts(urgent)
    ticket = lane.request_slot(urgent)
    lane.tick()
    interrupted = {"outcome": "interrupted", "error": {"type": "Interrupted", "message": "preempted"}}
    if reported:
        assert lax.conclude(**interrupted)["ok"]
        assert lax.conclude(**interrupted)["ok"] is False
    lax.stop(exit_code=0 if reported else 137)
    conclusion = lane.conclude_attempt(job, lax.grant, Error="Punctual.Stopped", Cause="exit code 137")
    assert conclusion["retry"] is True
    world.run_until_idle()
    grant = lane.grant_for(ticket)
    assert grant is not None
    assert lane.used_capacity() == (1, 4)
    zombie = (lax.heartbeat(percent=99.0), lax.report("checkpoint", state={"late": 1}), lax.conclude(value="late"))
    assert [answer["ok"] for answer in zombie] == [False] * 3
    in_time = Container(world, grant)
    assert in_time.claim()["ok"]
    assert in_time.conclude(value="in time")["ok"]
    again = lane.container(job)
    assert (again.claim()["attempt"], again.claim()["resume"]) == (2, {"half": True})
    assert next(one["outcome"] for one in lane.execution(job)["parts"][0]["attempts"]) == "preempted"
