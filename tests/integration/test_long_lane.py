"""The long lane's functions on moto: what they do when things come twice, late, in another order, or never."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from punctual.domain.identity import short_name
from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import Container, LongLane
from tests.integration.world import STATE_MACHINE, World

NO_REST = {"backoff_seconds": 0}


@pytest.fixture
def lane(world: World) -> LongLane:
    return LongLane(world)


def begun(lane: LongLane, **submission: Any) -> tuple[dict[str, Any], Container]:
    """A job whose only part runs."""
    job = lane.submit(**submission)
    assert lane.next(job)["parts"] == ["all"]
    container = lane.container(job)
    assert container.claim()["ok"]
    return job, container


def test_the_way_of_a_long_execution(world: World, lane: LongLane) -> None:
    job = lane.submit(parameters={"a": 1}, resources={"vcpu": 2})
    execution = lane.execution(job)
    assert lane.runs() == [execution["execution_id"]]
    assert lane.next(job) == {
        "next": "run",
        "not_before": execution["scheduled_at"],
        "parts": ["all"],
        "at_once": 1,
    }
    ticket = lane.ask(job)
    world.deliver_streams()
    assert lane.execution(job)["status"] == "waiting"
    world.deliver_streams()
    assert lane.execution(job)["status"] == "starting"
    grant = lane.granted(ticket)
    assert grant is not None
    assert (grant["attempt"], grant["cpu"], grant["memory"]) == (1, "2048", "4096")
    assert grant["capacity"] == [{"CapacityProvider": "FARGATE", "Weight": 1}]
    assert lane.taken() == (1, 2)
    container = Container(world, grant)
    work = container.claim()
    assert (work["task"], work["parameters"], work["resume"]) == ("echo", {"a": 1}, None)
    container.beat(percent=40.0, message="on it")
    running = lane.execution(job)
    assert (running["status"], running["attempt"], running["progress"]["percent"]) == ("running", 1, 40.0)
    assert [one["execution_id"] for one in world.request("GET", "/executions?status=running")[1]["items"]] == [
        running["execution_id"]
    ]
    world.pass_time(30)
    assert container.conclude(value={"a": 1}) == {"ok": True}
    assert lane.answers_to(container.token)[-1] == "SendTaskSuccess"
    assert lane.taken() == (0, 0)
    assert lane.settle(job, grant)["again"] is False
    assert lane.next(job)["next"] == "end"
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["result"]["value"], ended["reason"]) == ("succeeded", {"a": 1}, None)
    assert [(one["number"], one["outcome"]) for one in ended["attempts"]] == [(1, "succeeded")]
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"


def test_each_message_of_a_queue_job_is_a_batch_of_its_own(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"queue": True}, parameters={"a": 1})
    for payload in ({"b": 2}, {"b": 3}):
        body = json.dumps({"job_id": job["job_id"], "payload": payload})
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.take_in()
    world.deliver_streams()
    executions = world.executions(job["job_id"])
    assert sorted(one["parameters"]["b"] for one in executions) == [2, 3]
    assert sorted(lane.runs()) == sorted(short_name(one["execution_id"]) for one in executions)
    assert all(len(name) <= 64 for name in lane.runs())


def test_each_instant_of_a_recurring_job_gets_a_schedule_and_the_next_when_it_is_on_its_way(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(schedule={"every_seconds": 3600})
    [first] = world.executions(job["job_id"])
    assert list(lane.schedules()) == [first["execution_id"]]
    world.pass_time(3540)
    lane.next(job, run="fired")
    world.deliver_streams()
    assert [one["status"] for one in world.executions(job["job_id"])] == ["queued", "scheduled"]
    assert len(lane.schedules()) == 2  # moto fires none, so the first is still there


def test_a_second_state_machine_for_the_same_execution_finds_nothing_to_do(lane: LongLane) -> None:
    job = lane.submit()
    assert lane.next(job)["next"] == "run"
    assert lane.next(job, run=f"{STATE_MACHINE}:another")["next"] == "end"
    assert lane.next(job)["next"] == "run"


def test_what_comes_twice_happens_once(world: World, lane: LongLane) -> None:
    job, container = begun(lane, parameters={"a": 1})
    assert container.claim()["ok"]  # its answer was lost: it asks again
    assert container.conclude(value=1) == {"ok": True}
    assert container.conclude(value=2) == {"ok": False}
    assert lane.taken() == (0, 0)
    assert lane.settle(job, container.grant) == lane.settle(job, container.grant)
    lane.next(job)
    lane.next(job)
    world.settle_down()
    assert lane.execution(job)["result"]["value"] == 1


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


def test_a_spot_interruption_does_not_count_against_the_retries(lane: LongLane) -> None:
    job, first = begun(lane, resources={"vcpu": 1, "spot": True}, retry={"max_attempts": 1})
    assert first.grant["capacity"] == [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1}]
    assert first.conclude("interrupted", error={"type": "Interrupted", "message": "told to leave"})["ok"]
    assert lane.settle(job, first.grant)["again"] is True


@pytest.mark.parametrize("where", ["queued", "waiting", "starting", "running"])
def test_cancelling_works_wherever_it_is_and_leaves_nothing_behind(world: World, lane: LongLane, where: str) -> None:
    filler = begun(lane, resources={"vcpu": 4})[1] if where == "waiting" else None
    job = lane.submit(resources={"vcpu": 2})
    lane.next(job)
    container = None
    if where != "queued":
        ticket = lane.ask(job)
        world.deliver_streams()
        world.deliver_streams()
        if grant := lane.granted(ticket):
            container = Container(world, grant)
    if where == "running":
        assert container is not None
        container.claim()
    execution = lane.execution(job)
    assert execution["status"] == where
    status, answer = world.request("PUT", f"/executions/{execution['execution_id']}/cancel")
    assert (status, answer["status"]) == (200, "cancelled")
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("cancelled", "cancelled by operator@data-quality")
    assert {part["status"] for part in ended["parts"]} == {"cancelled"}
    assert lane.taken() == ((1, 4) if filler else (0, 0))
    described = world.states.describe_execution(executionArn=lane.run_arn(job))
    assert described["status"] == "ABORTED"
    if where == "running":
        assert container is not None
        assert lane.stopped == [container.task_arn]
        assert container.conclude(value="late")["ok"] is False
    assert world.request("PUT", f"/executions/{execution['execution_id']}/cancel")[1]["status"] == "cancelled"
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["state"] == "done"


def test_partitions_run_on_their_own_and_are_collected(world: World, lane: LongLane) -> None:
    job = lane.submit(
        task="quality.weekly",
        parameters={"dataset": "orders"},
        schedule={"cron": "0 2 * * SUN", "timezone": "America/New_York"},
        window="week",
        partitions={"by": "day", "at_once": 3},
    )
    step = lane.next(job, run="run")
    assert (step["parts"], step["at_once"]) == ([f"{n:04d}" for n in range(7)], 3)
    parts = lane.execution(job)["parts"]
    assert parts[0]["window"]["start"] == lane.execution(job)["window"]["start"]
    assert all(one["window"]["end"] == after["window"]["start"] for one, after in pairwise(parts))
    for name in step["parts"]:
        container = lane.container(job, name)
        container.claim()
        container.conclude(value={"part": name})
        world.deliver_streams()
    assert lane.execution(job)["progress"]["done"] == 6  # that all have ended is told at the close
    assert lane.next(job, run="run")["parts"] == ["collect"]
    collector = lane.container(job, "collect")
    work = collector.claim()
    assert work["results"] == [{"value": {"part": name}} for name in step["parts"]]
    collector.conclude(value="the week")
    assert lane.next(job, run="run")["next"] == "end"
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["result"]["value"]) == ("succeeded", "the week")


def test_a_partition_that_fails_for_good_fails_the_execution_and_nothing_is_collected(
    world: World, lane: LongLane
) -> None:
    job = lane.submit(partitions=["a", "b"], retry={"max_attempts": 1})
    lane.next(job)
    for name, outcome in (("0000", "failed"), ("0001", "succeeded")):
        container = lane.container(job, name)
        container.claim()
        container.conclude(outcome, error={"type": "ValueError", "message": "bad"} if outcome == "failed" else None)
    assert lane.next(job)["next"] == "end"
    world.settle_down()
    ended = lane.execution(job)
    assert (ended["status"], ended["reason"]) == ("failed", "1 of 2 parts did not succeed: 0000")
    assert ended["error"]["message"] == "bad"
    assert [part["status"] for part in ended["parts"]] == ["failed", "succeeded"]


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


def test_run_times_are_remembered_and_forecast_the_next(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 3600}, expected_seconds=600, deadline={"within_seconds": 36_000})
    for run in range(6):
        world.pass_time(3600)
        execution = next(one for one in world.executions(job["job_id"]) if one["status"] == "scheduled")
        step = {"job_id": job["job_id"], "execution_id": execution["execution_id"]}
        world.call("conductor", {"do": "next", **step, "conductor": f"run-{run}"})
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
        world.call("conductor", {"do": "next", **step, "conductor": f"run-{run}"})
        world.deliver_streams()
    stored = world.dynamodb.get_item(TableName="jobs", Key={"job_id": {"S": job["job_id"]}})["Item"]
    assert stored["run_times"]["S"] == '{"all":[1200,1200,1200,1200,1200,1200]}'


def test_a_far_execution_gets_a_schedule_that_an_edit_moves_and_a_deletion_removes(
    world: World, lane: LongLane
) -> None:
    first, second = world.now + timedelta(hours=1), world.now + timedelta(hours=2)
    job = lane.submit(schedule={"at": to_text(first)})
    [planned] = world.executions(job["job_id"])
    assert lane.schedules() == {planned["execution_id"]: "at(2026-11-16T12:59:00)"}
    assert lane.runs() == []
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"schedule": {"at": to_text(second)}})
    assert (status, edited["revision"]) == (200, 2)
    world.settle_down()
    moved = [one for one in world.executions(job["job_id"]) if one["status"] == "scheduled"]
    assert lane.schedules() == {moved[0]["execution_id"]: "at(2026-11-16T13:59:00)"}
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.settle_down()
    assert lane.schedules() == {}


def test_an_edit_without_a_new_schedule_keeps_the_instant_and_takes_the_new_rules(world: World, lane: LongLane) -> None:
    at = world.now + timedelta(hours=1)
    job = lane.submit(schedule={"at": to_text(at)}, parameters={"a": 1})
    world.request("PATCH", f"/jobs/{job['job_id']}", {"parameters": {"a": 2}, "resources": {"vcpu": 2}})
    world.settle_down()
    [execution] = world.executions(job["job_id"])
    assert (execution["parameters"], execution["status"]) == ({"a": 2}, "scheduled")
    assert list(lane.schedules()) == [execution["execution_id"]]


def test_an_execution_that_was_half_divided_gets_all_its_parts(lane: LongLane, monkeypatch: pytest.MonkeyPatch) -> None:
    job = lane.submit(partitions=["a", "b", "c"])
    parts = lane.world.function("conductor").conductor.parts
    added: list[str] = []

    def dies_after_one(_self: Any, part: Any) -> None:
        if added:
            raise ConnectionError("the function was killed")
        added.append(part.name)
        add(parts, part)

    add = type(parts).add
    with monkeypatch.context() as dying:
        dying.setattr(type(parts), "add", dies_after_one)
        with pytest.raises(ConnectionError):
            lane.next(job)
    assert len(lane.execution(job)["parts"]) == 1
    assert lane.next(job)["parts"] == ["0000", "0001", "0002"]


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


def test_one_that_changes_to_the_short_lane_runs_there_alone(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
    execution_id = lane.execution(job)["execution_id"]
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"lane": "short"})
    assert (status, edited["lane"], edited["timeout_seconds"]) == (200, "short", 600)
    world.settle_down()
    assert lane.schedules() == {}
    question = {"do": "next", "job_id": job["job_id"], "execution_id": execution_id, "conductor": "fired anyway"}
    assert world.call("conductor", question)["next"] == "end"
    world.run_for(3700, step=60)
    assert lane.execution(job)["status"] == "succeeded"


def test_a_cancel_that_broke_off_before_the_container_was_stopped_is_made_good(world: World, lane: LongLane) -> None:
    job, container = begun(lane)
    world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")
    records = world.stream_records("executions", "settler")
    world.call("settler", {"Records": records})
    lane.stopped.clear()  # as if the function had died just before it
    world.call("settler", {"Records": records})
    assert lane.stopped == [container.task_arn]


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


def test_what_waits_for_days_is_withdrawn_with_its_job(world: World, lane: LongLane) -> None:
    begun(lane, resources={"vcpu": 4})
    job = lane.submit()
    lane.next(job)
    lane.ask(job)
    world.deliver_streams()
    world.pass_time(6 * 86_400)
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.settle_down()
    assert lane.execution(job)["status"] == "cancelled"


def test_partitions_that_run_one_after_the_other_have_to_start_earlier(lane: LongLane) -> None:
    spec = {"expected_seconds": 3600, "deadline": {"within_seconds": 28_800}}
    for at_once, rounds in ((None, 1), (2, 4), (1, 7)):
        job = lane.submit(partitions={"count": 7, **({"at_once": at_once} if at_once else {})}, **spec)
        lane.next(job)
        execution = lane.execution(job)
        starts = {part["latest_start"] for part in execution["parts"]}
        expected = from_text(execution["deadline"]["at"]) - timedelta(seconds=3600 * rounds)
        assert starts == {to_text(expected)}


class TestReconciler:
    """What no message tells of."""

    def test_it_does_nothing_while_all_is_well(self, world: World, lane: LongLane) -> None:
        begun(lane)
        lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
        world.pass_time(25)
        assert not any(lane.reconcile().values())

    def test_a_schedule_that_was_removed_is_set_up_again(self, world: World, lane: LongLane) -> None:
        job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
        execution_id = lane.execution(job)["execution_id"]
        world.scheduler.delete_schedule(Name=execution_id, GroupName="long")
        assert lane.reconcile()["armed"] == [execution_id]
        assert list(lane.schedules()) == [execution_id]

    def test_one_whose_schedule_never_fired_is_started(self, world: World, lane: LongLane) -> None:
        job = lane.submit(schedule={"at": to_text(world.now + timedelta(hours=1))})
        world.pass_time(3700)
        world.scheduler.delete_schedule(Name=lane.execution(job)["execution_id"], GroupName="long")
        assert lane.reconcile()["started"] == [lane.execution(job)["execution_id"]]
        world.deliver_streams()
        assert lane.runs() == [f"{lane.execution(job)['execution_id']}-1"]

    def test_a_schedule_without_an_execution_is_removed(self, world: World, lane: LongLane) -> None:
        world.scheduler.create_schedule(
            Name="orphan",
            GroupName="long",
            ScheduleExpression="at(2027-01-01T00:00:00)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": STATE_MACHINE, "RoleArn": "arn:aws:iam::123456789012:role/schedules"},
        )
        assert lane.reconcile()["disarmed"] == ["orphan"]
        assert lane.schedules() == {}

    def test_a_state_machine_that_stopped_is_replaced_and_its_container_goes(
        self, world: World, lane: LongLane
    ) -> None:
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
        assert sorted(lane.runs()) == [execution_id, f"{execution_id}-1"]
        lane.next(job, run="the new one")
        second = lane.container(job)
        assert second.claim()["resume"] == {"half": True}
        assert container.conclude()["ok"] is False

    def test_one_that_waits_with_the_ticket_of_a_stopped_run_asks_anew(self, world: World, lane: LongLane) -> None:
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

    def test_a_slot_that_nobody_holds_is_freed(self, world: World, lane: LongLane) -> None:
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

    def test_a_container_whose_end_nobody_told_is_noticed(self, world: World, lane: LongLane) -> None:
        _, container = begun(lane)
        assert lane.reconcile()["containers_gone"] == []
        world.ecs.stop_task(cluster="long", task=container.task_arn, reason="host retired")
        assert len(lane.reconcile()["containers_gone"]) == 1
        assert lane.answers_to(container.token)[-1] == "SendTaskFailure"
