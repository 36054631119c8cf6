"""Slots of the long lane on moto: who gets one, when, and what becomes of a grant that nobody hears."""

from __future__ import annotations

import json
from datetime import timedelta

from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import Container, LongLane, begun
from tests.integration.world import World


def test_the_least_lax_goes_first_and_priority_breaks_ties(world: World, lane: LongLane) -> None:
    filler, container = begun(lane, resources={"vcpu": 4})
    deadline = {"within_seconds": 36_000}
    jobs = {
        "lax": lane.submit(deadline={"within_seconds": 72_000}, expected_seconds=60, resources={"vcpu": 4}),
        "plain": lane.submit(deadline=deadline, expected_seconds=60, resources={"vcpu": 4}),
        "high": lane.submit(deadline=deadline, expected_seconds=60, priority="high", resources={"vcpu": 4}),
        "longer": lane.submit(deadline=deadline, expected_seconds=7200, resources={"vcpu": 4}),
    }
    tickets = {}
    for name, job in jobs.items():
        lane.next(job)
        tickets[name] = lane.ask(job)
    world.deliver_streams()
    order = []
    for _ in jobs:
        container.conclude()
        for _ in range(3):
            world.deliver_streams()
        [name] = [one for one, ticket in tickets.items() if lane.granted(ticket) and one not in order]
        order.append(name)
        container = Container(world, lane.granted(tickets[name]) or {})
        container.claim()
    assert order == ["longer", "high", "plain", "lax"]
    assert filler


def test_what_does_not_fit_waits_and_is_not_overtaken(world: World, lane: LongLane) -> None:
    _, first = begun(lane, resources={"vcpu": 2})
    large = lane.submit(resources={"vcpu": 4}, deadline={"within_seconds": 7200}, expected_seconds=3600)
    small = lane.submit(resources={"vcpu": 1}, deadline={"within_seconds": 72_000}, expected_seconds=60)
    tickets = []
    for job in (large, small):
        lane.next(job)
        tickets.append(lane.ask(job))
    world.deliver_streams()
    world.deliver_streams()
    assert [lane.granted(ticket) for ticket in tickets] == [None, None]
    first.conclude()
    world.deliver_streams()
    world.deliver_streams()
    assert lane.granted(tickets[0]) is not None
    assert lane.granted(tickets[1]) is None


def test_a_grant_whose_sender_died_is_sent_again_with_the_record(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next(job)
    ticket = lane.ask(job)
    world.deliver_streams()
    records = world.stream_records("parts", "admission")  # "became starting": read by one who dies
    assert records
    assert lane.granted(ticket) is None
    world.call("admission", {"Records": records})
    assert lane.granted(ticket) is not None
    world.call("admission", {"Records": records})
    assert lane.taken()[0] == 1


def test_a_preempted_one_goes_on_later_and_its_history_tells_both(world: World, lane: LongLane) -> None:
    job, lax = begun(
        lane,
        resources={"vcpu": 4},
        preemptible=True,
        expected_seconds=3600,
        deadline={"within_seconds": 86_400},
        retry={"max_attempts": 1},
    )
    for _ in range(90):
        world.pass_time(20)
        lax.beat(percent=50.0)
    lax.say("checkpoint", state={"half": True})
    urgent = lane.submit(resources={"vcpu": 4}, expected_seconds=3600, deadline={"within_seconds": 3900})
    lane.next(urgent)
    ticket = lane.ask(urgent)
    world.deliver_streams()
    assert lane.stopped == [lax.task_arn]
    assert lane.execution(urgent)["execution_id"] in lax.beat()["leave"]
    assert lax.conclude("interrupted", error={"type": "Interrupted", "message": "asked to leave"})["ok"]
    for _ in range(3):
        world.deliver_streams()
    assert lane.granted(ticket) is not None
    again = lane.settle(job, lax.grant)
    assert again["again"] is True
    resting = lane.execution(job)
    assert [one["outcome"] for one in resting["parts"][0]["attempts"]] == ["preempted"]
    assert lane.execution(urgent)["execution_id"] in resting["parts"][0]["attempts"][0]["error"]["message"]
    Container(world, lane.granted(ticket) or {}).claim()
    second_ticket = lane.ask(job)
    world.deliver_streams()
    assert lane.granted(second_ticket) is None  # the urgent one still has the slot
    part = lane.execution(job)["parts"][0]
    assert from_text(part["latest_start"]) > from_text(resting["scheduled_at"]) + timedelta(seconds=86_400 - 3600)


def test_a_grant_for_whoever_asked_and_is_gone_goes_to_the_one_who_asks_again(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next(job)
    lane.ask(job)
    world.deliver_streams()
    world.deliver_streams()  # the slot is given, and nobody hears of it
    second = lane.ask(job)
    world.deliver_streams()
    grant = lane.granted(second)
    assert grant is not None
    assert Container(world, grant).claim()["attempt"] == 1
    assert lane.taken()[0] == 1


def test_who_could_not_ask_rests_before_it_asks_again(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next(job)
    settled = lane.settle(job, None, Error="Punctual.Stale", Cause="")
    assert settled["again"] is True
    assert from_text(settled["at"]) - world.now == timedelta(seconds=15)


def test_an_image_that_is_gone_from_the_settings_fails_its_execution_and_holds_up_nobody(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(task=None, container={"image": "shell", "command": ["true"]})
    other = lane.submit()
    world.function("admission").task_definitions.pop("shell")
    for one in (job, other):
        lane.next(one)
    lane.ask(job)
    ticket = lane.ask(other)
    world.deliver_streams()
    world.deliver_streams()
    assert lane.granted(ticket) is not None
    [(_, told)] = [one for one in lane.told if one[0] == "SendTaskFailure"]
    assert lane.settle(job, None, Error=told["error"], Cause=told["cause"])["again"] is False
    lane.next(job)
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["error"]["message"]) == (
        "failed",
        "the image 'shell' is no longer among the stack's settings",
    )
    assert lane.taken()[0] == 1


def test_partitions_that_run_one_after_the_other_have_to_start_earlier(lane: LongLane) -> None:
    spec = {"expected_seconds": 3600, "deadline": {"within_seconds": 28_800}}
    for at_once, rounds in ((None, 1), (2, 4), (1, 7)):
        job = lane.submit(partitions={"count": 7, **({"at_once": at_once} if at_once else {})}, **spec)
        lane.next(job)
        execution = lane.execution(job)
        starts = {part["latest_start"] for part in execution["parts"]}
        expected = from_text(execution["deadline"]["at"]) - timedelta(seconds=3600 * rounds)
        assert starts == {to_text(expected)}


def test_run_times_are_remembered_and_forecast_the_next(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 3600}, expected_seconds=600, deadline={"within_seconds": 36_000})
    for run in range(6):
        world.pass_time(3600)
        execution = next(one for one in world.executions(job["job_id"]) if one["status"] == "scheduled")
        step = {"job_id": job["job_id"], "execution_id": execution["execution_id"]}
        world.call("conductor", {"do": "next", **step, "run_arn": f"run-{run}"})
        [part] = world.execution(execution["execution_id"])["parts"]
        expected = from_text(execution["deadline"]["at"]) - from_text(part["latest_start"])
        assert expected == timedelta(seconds=600 if run < 5 else 1200)
        world.call("conductor", {"do": "ask", **step, "part": "all", "ticket": f"ticket-{run}"})
        world.deliver_streams()
        world.deliver_streams()
        container = Container(world, lane.granted(f"ticket-{run}") or {})
        container.claim()
        for _ in range(60):
            world.pass_time(20)
            assert container.beat()["ok"]
        container.conclude()
        world.call("conductor", {"do": "next", **step, "run_arn": f"run-{run}"})
        world.deliver_streams()
    stored = world.dynamodb.get_item(TableName="jobs", Key={"job_id": {"S": job["job_id"]}})["Item"]
    assert json.loads(stored["run_times"]["S"]) == {"execution": [1200] * 6, "all": [1200] * 6}
