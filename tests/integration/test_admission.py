"""Slots of the long lane: admission order, preemption, and grants whose delivery was lost."""

from __future__ import annotations

import json
from datetime import timedelta

from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import Container, LongLane, start_part
from tests.integration.world import World


def test_the_part_with_the_least_laxity_is_admitted_first_and_priority_breaks_ties(
    world: World, lane: LongLane
) -> None:
    filler, container = start_part(lane, resources={"vcpu": 4})
    deadline = {"within_seconds": 36_000}
    jobs = {
        "lax": lane.submit(deadline={"within_seconds": 72_000}, expected_seconds=60, resources={"vcpu": 4}),
        "plain": lane.submit(deadline=deadline, expected_seconds=60, resources={"vcpu": 4}),
        "high": lane.submit(deadline=deadline, expected_seconds=60, priority="high", resources={"vcpu": 4}),
        "longer": lane.submit(deadline=deadline, expected_seconds=7200, resources={"vcpu": 4}),
    }
    tickets = {}
    for name, job in jobs.items():
        lane.next_parts(job)
        tickets[name] = lane.request_slot(job)
    world.deliver_streams()
    order = []
    for _ in jobs:
        container.conclude()
        for _ in range(3):
            world.deliver_streams()
        [name] = [one for one, ticket in tickets.items() if lane.grant_for(ticket) and one not in order]
        order.append(name)
        container = Container(world, lane.grant_for(tickets[name]) or {})
        container.claim()
    assert order == ["longer", "high", "plain", "lax"]
    assert filler


def test_a_part_that_does_not_fit_waits_and_is_not_overtaken(world: World, lane: LongLane) -> None:
    _, first = start_part(lane, resources={"vcpu": 2})
    large = lane.submit(resources={"vcpu": 4}, deadline={"within_seconds": 7200}, expected_seconds=3600)
    small = lane.submit(resources={"vcpu": 1}, deadline={"within_seconds": 72_000}, expected_seconds=60)
    tickets = []
    for job in (large, small):
        lane.next_parts(job)
        tickets.append(lane.request_slot(job))
    world.deliver_streams()
    world.deliver_streams()
    assert [lane.grant_for(ticket) for ticket in tickets] == [None, None]
    first.conclude()
    world.deliver_streams()
    world.deliver_streams()
    assert lane.grant_for(tickets[0]) is not None
    assert lane.grant_for(tickets[1]) is None


def test_a_grant_whose_sender_crashed_is_sent_again_on_redelivery(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    ticket = lane.request_slot(job)
    world.deliver_streams()
    records = world.stream_records("parts", "admission")  # the change to "starting": the handler that reads it crashes
    assert records
    assert lane.grant_for(ticket) is None
    world.call("admission", {"Records": records})
    assert lane.grant_for(ticket) is not None
    world.call("admission", {"Records": records})
    assert lane.used_capacity()[0] == 1


def test_a_preempted_part_resumes_later_and_its_history_names_the_preemption(world: World, lane: LongLane) -> None:
    job, lax = start_part(
        lane,
        resources={"vcpu": 4},
        preemptible=True,
        expected_seconds=3600,
        deadline={"within_seconds": 86_400},
        retry={"max_attempts": 1},
    )
    for _ in range(90):
        world.pass_time(20)
        lax.heartbeat(percent=50.0)
    lax.report("checkpoint", state={"half": True})
    urgent = lane.submit(resources={"vcpu": 4}, expected_seconds=3600, deadline={"within_seconds": 3900})
    lane.next_parts(urgent)
    ticket = lane.request_slot(urgent)
    world.deliver_streams()
    assert lane.stopped == [lax.task_arn]
    assert lane.execution(urgent)["execution_id"] in lax.heartbeat()["preempt_reason"]
    assert lax.conclude("interrupted", error={"type": "Interrupted", "message": "preempted"})["ok"]
    for _ in range(3):
        world.deliver_streams()
    assert lane.grant_for(ticket) is not None
    again = lane.conclude_attempt(job, lax.grant)
    assert again["retry"] is True
    preempted = lane.execution(job)
    assert [one["outcome"] for one in preempted["parts"][0]["attempts"]] == ["preempted"]
    assert lane.execution(urgent)["execution_id"] in preempted["parts"][0]["attempts"][0]["error"]["message"]
    Container(world, lane.grant_for(ticket) or {}).claim()
    second_ticket = lane.request_slot(job)
    world.deliver_streams()
    assert lane.grant_for(second_ticket) is None  # the urgent execution still holds the slot
    part = lane.execution(job)["parts"][0]
    assert from_text(part["latest_start"]) > from_text(preempted["scheduled_at"]) + timedelta(seconds=86_400 - 3600)


def test_a_grant_whose_requester_is_gone_goes_to_the_next_request_for_the_same_part(
    world: World, lane: LongLane
) -> None:
    job = lane.submit()
    lane.next_parts(job)
    lane.request_slot(job)
    world.deliver_streams()
    world.deliver_streams()  # the slot is granted, but the requester is gone
    second = lane.request_slot(job)
    world.deliver_streams()
    grant = lane.grant_for(second)
    assert grant is not None
    assert Container(world, grant).claim()["attempt"] == 1
    assert lane.used_capacity()[0] == 1


def test_a_failed_slot_request_backs_off_before_the_next_one(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    conclusion = lane.conclude_attempt(job, None, Error="Punctual.Stale", Cause="")
    assert conclusion["retry"] is True
    assert from_text(conclusion["retry_at"]) - world.now == timedelta(seconds=15)


def test_an_image_removed_from_the_settings_fails_its_execution_and_blocks_no_other(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["true"]})
    other = lane.submit()
    world.function("admission").task_definitions.pop("shell")
    for one in (job, other):
        lane.next_parts(one)
    lane.request_slot(job)
    ticket = lane.request_slot(other)
    world.deliver_streams()
    world.deliver_streams()
    assert lane.grant_for(ticket) is not None
    [(_, callback)] = [one for one in lane.callbacks if one[0] == "SendTaskFailure"]
    assert lane.conclude_attempt(job, None, Error=callback["error"], Cause=callback["cause"])["retry"] is False
    lane.next_parts(job)
    world.run_until_idle()
    ended = lane.execution(job)
    assert (ended["status"], ended["error"]["message"]) == (
        "failed",
        "the image 'shell' is no longer in the stack's settings: add it, or edit the job",
    )
    assert lane.used_capacity()[0] == 1


def test_partitions_that_run_sequentially_have_an_earlier_latest_start(lane: LongLane) -> None:
    spec = {"expected_seconds": 3600, "deadline": {"within_seconds": 28_800}}
    for at_once, rounds in ((None, 1), (2, 4), (1, 7)):
        job = lane.submit(partitions={"count": 7, **({"at_once": at_once} if at_once else {})}, **spec)
        lane.next_parts(job)
        execution = lane.execution(job)
        starts = {part["latest_start"] for part in execution["parts"]}
        expected = from_text(execution["deadline"]["at"]) - timedelta(seconds=3600 * rounds)
        assert starts == {to_text(expected)}


def test_recorded_run_times_forecast_the_next_run(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 3600}, expected_seconds=600, deadline={"within_seconds": 36_000})
    for run in range(6):
        world.pass_time(3600)
        execution = next(one for one in world.executions(job["job_id"]) if one["status"] == "scheduled")
        step = {"job_id": job["job_id"], "execution_id": execution["execution_id"]}
        world.call("conductor", {"do": "next_parts", **step, "run_arn": f"run-{run}"})
        [part] = world.execution(execution["execution_id"])["parts"]
        expected = from_text(execution["deadline"]["at"]) - from_text(part["latest_start"])
        assert expected == timedelta(seconds=600 if run < 5 else 1200)
        request = {"do": "request_slot", **step, "run_arn": f"run-{run}", "part": "all", "ticket": f"ticket-{run}"}
        world.call("conductor", request)
        world.deliver_streams()
        world.deliver_streams()
        container = Container(world, lane.grant_for(f"ticket-{run}") or {})
        container.claim()
        for _ in range(60):
            world.pass_time(20)
            assert container.heartbeat()["ok"]
        container.conclude()
        world.call("conductor", {"do": "next_parts", **step, "run_arn": f"run-{run}"})
        world.deliver_streams()
    stored = world.dynamodb.get_item(TableName="jobs", Key={"job_id": {"S": job["job_id"]}})["Item"]
    assert json.loads(stored["run_times"]["S"]) == {"execution": [1200] * 6, "all": [1200] * 6}
