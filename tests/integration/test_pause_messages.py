"""A paused queue job keeps its messages, and runs them when it is resumed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import to_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.long_lane import LongLane
from tests.integration.world import World
from tests.resources import STATE_MACHINE

DAY = 24 * 60 * 60
DROP = {"misfire": {"policy": "skip"}}
WAITS = "its job is paused: it runs when the job is resumed"


def queue_job(world: World, **submission: Any) -> str:
    return str(world.submit(schedule={"queue": True}, **submission)["job_id"])


def send(world: World, job_id: str, *numbers: int) -> None:
    for n in numbers:
        body = json.dumps({"job_id": job_id, "payload": {"n": n}})
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)


def waits(execution: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(one["reason"], one["at"], one["until"]) for one in execution["events"] if one["kind"] == "waited"]


def change(world: World, job_id: str, action: str, query: str = "") -> Any:
    status, answer = world.request("POST", f"/jobs/{job_id}/{action}{query}")
    assert status == 200, answer
    return answer


def shown(world: World, job_id: str) -> list[tuple[str, str | None]]:
    return sorted((one["status"], one["reason"]) for one in world.executions(job_id))


def test_messages_that_arrive_during_a_pause_run_when_the_job_is_resumed(world: World) -> None:
    job_id = queue_job(world)
    change(world, job_id, "pause")
    send(world, job_id, 1, 2)
    world.run_until_idle()
    assert shown(world, job_id) == [("scheduled", WAITS)] * 2
    deferred_at, one = to_text(world.now), world.execution(world.executions(job_id)[0]["execution_id"])
    assert (one["waiting_for"]["what"], one["waiting_for"]["detail"]) == ("resume", WAITS)
    assert waits(one) == [("for its job to be resumed", deferred_at, None)]
    world.run_for(600, step=60)
    assert shown(world, job_id) == [("scheduled", WAITS)] * 2
    resumed_at = to_text(world.now)
    change(world, job_id, "resume")
    world.run_until_idle()
    assert shown(world, job_id) == [("succeeded", None)] * 2
    assert sorted(one["parameters"]["n"] for one in world.executions(job_id)) == [1, 2]
    assert {one["attempt"] for one in world.executions(job_id)} == {1}
    ended = world.execution(one["execution_id"])
    assert waits(ended)[0] == ("for its job to be resumed", deferred_at, resumed_at)


def test_a_message_that_was_queued_before_the_pause_runs_when_the_job_is_resumed(world: World) -> None:
    job_id = queue_job(world)
    send(world, job_id, 1)
    world.deliver_intake()
    world.deliver_streams()
    [order] = world.orders()
    change(world, job_id, "pause")
    world.deliver_streams()
    world.work(order)
    assert shown(world, job_id) == [("scheduled", WAITS)]
    change(world, job_id, "resume")
    world.run_until_idle()
    world.work(order)
    [one] = world.executions(job_id)
    assert (one["status"], one["attempt"]) == ("succeeded", 1)


def test_the_policy_skip_drops_messages_of_a_pause(world: World) -> None:
    job_id = queue_job(world, **DROP)
    send(world, job_id, 1)
    world.deliver_intake()
    change(world, job_id, "pause")
    send(world, job_id, 2)
    world.run_until_idle()
    assert shown(world, job_id) == [("skipped", "paused")] * 2
    change(world, job_id, "resume")
    world.run_until_idle()
    assert shown(world, job_id) == [("skipped", "paused")] * 2
    dropped = next(one for one in world.executions(job_id) if one["parameters"]["n"] == 2)
    _, answer = world.request("POST", f"/executions/{dropped['execution_id']}/retry")
    world.run_until_idle()
    assert world.execution(answer["execution"]["execution_id"])["result"]["value"] == {"n": 2}


def test_the_policy_at_the_resume_decides_on_kept_messages(world: World) -> None:
    job_id = queue_job(world)
    change(world, job_id, "pause")
    send(world, job_id, 1)
    world.run_until_idle()
    world.pass_time(5)
    assert world.request("PATCH", f"/jobs/{job_id}", DROP)[0] == 200
    change(world, job_id, "resume")
    world.run_until_idle()
    assert shown(world, job_id) == [("missed", "missed its due instant: misfire policy skip")]


def test_messages_run_by_default_and_the_policy_run_latest_is_rejected(world: World) -> None:
    job_id = queue_job(world)
    assert world.request("GET", f"/jobs/{job_id}")[1]["misfire"]["policy"] == "run_all"
    misfire = {"policy": "run_latest"}
    for request in (
        ("POST", "/jobs", {"task": "echo", "schedule": {"queue": True}, "misfire": misfire}),
        ("PATCH", f"/jobs/{job_id}", {"misfire": misfire}),
    ):
        status, problem = world.request(*request)
        assert (status, problem["errors"][0]["field"]) == (422, "misfire.policy")
        assert "run_all or skip" in problem["detail"]
    status, edited = world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 60}})
    assert (status, edited["misfire"]["policy"]) == (200, "run_latest")


def test_a_message_that_waits_at_a_gate_leaves_its_place_during_a_pause(world: World) -> None:
    key = {"key": "k", "limit": 1}
    job_id, other = queue_job(world, concurrency=key), queue_job(world, task="test.scripted", concurrency=key)
    found: list[Any] = []

    def pause(_: Context) -> None:
        send(world, job_id, 1)
        world.run_until_idle()
        found.extend(shown(world, job_id))
        change(world, job_id, "pause")
        world.deliver_streams()

    TASK_BODIES.append(pause)
    send(world, other, 0)
    world.run_until_idle()
    assert found[0][0] == "waiting"
    assert shown(world, job_id) == [("scheduled", WAITS)]
    send(world, other, 2)
    world.run_until_idle()
    assert [one["status"] for one in world.executions(other)] == ["succeeded"] * 2
    change(world, job_id, "resume")
    world.run_until_idle()
    assert shown(world, job_id) == [("succeeded", None)]


def test_kept_messages_are_cancelled_with_their_job_after_a_pause_of_weeks(world: World) -> None:
    job_id = queue_job(world)
    change(world, job_id, "pause")
    send(world, job_id, 1)
    world.run_until_idle()
    world.pass_time(20 * DAY)
    [one] = change_preview(world, job_id)
    assert one["note"] == "scheduled"
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_until_idle()
    assert shown(world, job_id) == [("cancelled", "job deleted")]


def change_preview(world: World, job_id: str) -> list[dict[str, Any]]:
    return list(world.request("DELETE", f"/jobs/{job_id}?dry_run=true")[1]["vanish"])


def test_messages_of_a_pause_of_weeks_are_found_by_later_changes(world: World) -> None:
    job_id = queue_job(world)
    change(world, job_id, "pause")
    send(world, job_id, 1)
    world.run_until_idle()
    world.pass_time(20 * DAY)
    change(world, job_id, "resume")
    world.deliver_streams()  # the message is queued, and its work order waits for a worker
    assert world.executions(job_id)[0]["status"] == "queued"
    world.pass_time(60)
    change(world, job_id, "pause")
    world.deliver_streams()
    for order in world.orders():
        world.work(order)
    assert shown(world, job_id) == [("scheduled", WAITS)]
    world.pass_time(20 * DAY)
    change(world, job_id, "resume")
    world.run_until_idle()
    assert shown(world, job_id) == [("succeeded", None)]


@pytest.mark.parametrize("resume_first", [True, False])
def test_a_message_is_not_stuck_when_the_job_is_resumed_while_the_planner_handles_the_pause(
    world: World, monkeypatch: pytest.MonkeyPatch, resume_first: bool
) -> None:
    """The planner has read the job as paused; before it defers the message, the job is resumed."""
    job_id = queue_job(world)
    world.run_until_idle()
    change(world, job_id, "pause")
    send(world, job_id, 1)
    world.deliver_intake()
    records = world.stream_records("executions", "planner")
    records_of = world.function("planner").planner.misfire_records
    real = type(records_of).of

    def resume(*arguments: Any) -> Any:
        monkeypatch.setattr(type(records_of), "of", real)
        change(world, job_id, "resume")
        if resume_first:
            world.call("planner", {"Records": world.stream_records("jobs", "planner")})
        return real(*arguments)

    monkeypatch.setattr(type(records_of), "of", resume)
    world.call("planner", {"Records": records})
    assert type(records_of).of is real
    world.run_until_idle()
    assert shown(world, job_id) == [("succeeded", None)]


def test_a_redelivered_record_of_the_pause_does_not_defer_messages_after_the_resume(world: World) -> None:
    job_id = queue_job(world)
    world.run_until_idle()
    change(world, job_id, "pause")
    paused = world.stream_records("jobs", "planner")
    send(world, job_id, 1)
    world.deliver_intake()
    change(world, job_id, "resume")
    world.call("planner", {"Records": paused})
    world.run_until_idle()
    world.call("planner", {"Records": paused})
    world.run_until_idle()
    assert shown(world, job_id) == [("succeeded", None)]


def test_a_dry_run_of_pause_and_resume_shows_what_happens_to_messages(world: World) -> None:
    job_id, dropping = queue_job(world), queue_job(world, **DROP)
    for one in (job_id, dropping):
        send(world, one, 1)
    world.deliver_intake()
    world.deliver_streams()
    assert change(world, job_id, "pause", "?dry_run=true")["vanish"] == []
    assert len(change(world, dropping, "pause", "?dry_run=true")["vanish"]) == 1
    change(world, job_id, "pause")
    world.run_until_idle()
    [one] = change(world, job_id, "resume", "?dry_run=true")["repeat"]
    assert (one["execution_id"], one["note"]) == (world.executions(job_id)[0]["execution_id"], "kept during the pause")


def test_kept_messages_are_skipped_if_the_job_gets_another_schedule(world: World) -> None:
    job_id = queue_job(world)
    change(world, job_id, "pause")
    send(world, job_id, 1)
    world.run_until_idle()
    assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 3600}})[0] == 200
    world.run_until_idle()
    assert shown(world, job_id) == [("skipped", "paused")]


def test_in_the_long_lane_a_message_is_kept_unless_its_state_machine_has_begun(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"queue": True})
    job_id = job["job_id"]
    send(world, job_id, 1)
    world.deliver_intake()
    world.deliver_streams()
    [run] = world.states.list_executions(stateMachineArn=STATE_MACHINE)["executions"]
    lane.next_parts(job, run=run["executionArn"])
    change(world, job_id, "pause")
    send(world, job_id, 2)
    world.deliver_intake()
    world.deliver_streams()
    begun, kept = sorted(world.executions(job_id), key=lambda one: one["parameters"]["n"])
    assert (begun["status"], kept["status"]) == ("queued", "scheduled")
    world.pass_time(3 * 3600)
    lane.reconcile()
    assert world.execution(kept["execution_id"])["status"] == "scheduled"
    change(world, job_id, "resume")
    world.deliver_streams()
    world.deliver_streams()
    assert world.execution(kept["execution_id"])["status"] == "queued"
    assert kept["execution_id"] in lane.runs()
