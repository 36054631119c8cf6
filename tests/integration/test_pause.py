"""Pausing and resuming a job, and the handling of instants missed in the pause."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text, to_text
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def request_action(world: World, job_id: str, action: str, query: str = "") -> dict[str, Any]:
    status, answer = world.request("POST", f"/jobs/{job_id}/{action}{query}")
    assert status == 200, answer
    return answer


def due_executions(world: World, job_id: str) -> list[dict[str, Any]]:
    """Executions that are due, oldest first."""
    return [one for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= world.now]


def statuses(world: World, job_id: str) -> list[str]:
    return [one["status"] for one in due_executions(world, job_id)]


def instants(world: World, job_id: str) -> list[datetime]:
    return [from_text(one["scheduled_at"]) for one in due_executions(world, job_id)]


def outage(world: World, seconds: int) -> None:
    """No function runs for this long. Then the dispatcher ticks and everything is delivered."""
    world.pass_time(seconds)
    world.tick()
    world.run_until_idle()


def test_a_paused_job_starts_nothing_skips_due_executions_and_removes_planned_ones(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(130)
    assert statuses(world, job_id) == ["succeeded"] * 2
    world.pass_time(50)  # the third execution is due, and its order is not delivered yet
    assert len(world.executions(job_id)) > 3
    answer = request_action(world, job_id, "pause")
    assert (answer["state"], answer["next_due_at"]) == ("paused", None)
    world.run_until_idle()
    world.run_for(600, step=60)
    found = [(one["status"], one["reason"]) for one in world.executions(job_id)]
    assert found == [("succeeded", None), ("succeeded", None), ("skipped", "paused")]


def test_resuming_runs_the_latest_missed_instant_and_records_that_it_covers_the_others(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(60)
    request_action(world, job_id, "pause")
    world.run_until_idle()
    world.pass_time(20 * 60)
    assert request_action(world, job_id, "resume")["state"] == "active"
    world.run_until_idle()
    overdue = [one for one in due_executions(world, job_id) if one["reason"] and "covered by" in one["reason"]]
    latest = overdue[-1]["covered_by"]
    assert {one["covered_by"] for one in overdue} == {latest}
    assert {one["status"] for one in overdue} == {"skipped"}
    assert world.execution(latest)["status"] == "succeeded"
    gaps = {
        later - earlier for earlier, later in zip(instants(world, job_id), instants(world, job_id)[1:], strict=False)
    }
    assert gaps == {timedelta(seconds=60)}, "every due instant must be recorded"
    world.run_for(180, step=10)
    assert statuses(world, job_id)[-1] == "succeeded"


def test_an_execution_that_is_late_within_its_grace_runs(world: World) -> None:
    misfire = {"policy": "skip", "grace_seconds": 150}
    job_id = world.submit(schedule=MINUTELY, misfire=misfire, overlap="allow")["job_id"]
    world.run_for(60)
    outage(world, 20 * 60)
    late = [
        one
        for one in due_executions(world, job_id)
        if from_text(one["scheduled_at"]) > world.now - timedelta(seconds=150)
    ]
    assert [one["status"] for one in late] == ["succeeded"] * 3
    missed = [one for one in due_executions(world, job_id) if one["status"] == "missed"]
    assert {one["reason"] for one in missed} == {"missed its due instant: misfire policy skip"}
    assert len(missed) >= 6


def test_run_all_runs_every_missed_instant_up_to_its_limit(world: World) -> None:
    misfire = {"policy": "run_all", "grace_seconds": 0}
    job_id = world.submit(schedule=MINUTELY, misfire=misfire, overlap="allow")["job_id"]
    world.run_for(60)
    request_action(world, job_id, "pause")
    world.run_until_idle()
    world.pass_time(130 * 60)
    request_action(world, job_id, "resume")
    world.run_until_idle(rounds=300)
    overdue = [one for one in due_executions(world, job_id) if from_text(one["scheduled_at"]) < world.now]
    assert [one["status"] for one in overdue[-100:]] == ["succeeded"] * 100
    assert [one["status"] for one in overdue[-110:-100]] == ["missed"] * 10


@pytest.mark.parametrize(("policy", "misfired"), [("run_latest", "skipped"), ("skip", "missed")])
def test_after_an_outage_the_misfire_policy_applies_to_missed_instants(
    world: World, policy: str, misfired: str
) -> None:
    job_id = world.submit(schedule=MINUTELY, misfire={"policy": policy}, overlap="allow")["job_id"]
    world.run_for(240, step=10)
    before = len(due_executions(world, job_id))
    planned = sum(
        from_text(one["scheduled_at"]) <= world.now + timedelta(minutes=20) for one in world.executions(job_id)
    )
    outage(world, 20 * 60)
    found = statuses(world, job_id)
    assert found[:before] == ["succeeded"] * before
    ran_late = planned - before - 1  # these were queued before the outage, so their messages were in the queue
    assert found[before : before + ran_late] == ["succeeded"] * ran_late
    late = found[before + ran_late :]
    in_grace = 6  # five minutes, both ends included
    assert late == [misfired] * (len(late) - in_grace) + ["succeeded"] * in_grace
    assert instants(world, job_id) == sorted(set(instants(world, job_id)))


def test_an_outage_longer_than_one_planning_batch_is_planned_to_its_end(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 10}, overlap="allow")["job_id"]
    world.tick()
    world.run_until_idle()
    outage(world, 2 * 60 * 60)
    world.run_for(60, step=10)
    found = due_executions(world, job_id)
    assert len(found) == (2 * 60 * 60 + 60) // 10
    assert {one["status"] for one in found} == {"skipped", "succeeded"}
    assert sum(one["status"] == "skipped" for one in found) > 600


def test_a_running_execution_continues_through_a_pause(world: World) -> None:
    job_id = world.submit(task="test.scripted", schedule=MINUTELY)["job_id"]

    def pause(_context: Context) -> str:
        request_action(world, job_id, "pause")
        world.run_until_idle()
        return "done all the same"

    TASK_BODIES.append(pause)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    [one] = due_executions(world, job_id)
    assert (one["status"], one["result"]["value"]) == ("succeeded", "done all the same")


def test_a_manual_run_of_a_paused_job_runs(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    world.pass_time(1)
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
    assert status == 201
    world.run_until_idle()
    assert world.execution(answer["execution"]["execution_id"])["status"] == "succeeded"


def test_repeated_pause_and_resume_neither_lose_nor_duplicate_executions(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_until_idle()
    for _ in range(3):
        request_action(world, job_id, "pause")
        request_action(world, job_id, "resume")
    world.run_for(190, step=10)
    assert statuses(world, job_id) == ["succeeded"] * 3
    assert len(set(instants(world, job_id))) == 3


def test_after_an_edit_while_paused_a_resume_handles_only_instants_of_the_new_schedule(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3600})["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    world.pass_time(1800)
    status, answer = world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 600}})
    assert (status, answer["state"]) == (200, "paused"), answer
    edited_at = world.now
    world.run_until_idle()
    world.pass_time(1900)
    request_action(world, job_id, "resume")
    world.run_until_idle()
    assert instants(world, job_id) == [edited_at + timedelta(seconds=600 * number) for number in (1, 2, 3)]
    assert statuses(world, job_id) == ["skipped", "skipped", "succeeded"]


def test_an_edit_right_after_a_resume_takes_effect(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    request_action(world, job_id, "resume")
    assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 90}})[0] == 200
    world.run_until_idle()
    assert {item["revision"]["N"] for item in world.items("executions")} == {"2"}


@pytest.mark.parametrize(
    ("edit", "recorded"),
    [({"parameters": {"n": 1}}, {"skipped", "succeeded"}), ({"schedule": {"every_seconds": 90}}, {"skipped"})],
)
def test_an_edit_in_an_outage_records_the_instants_missed_before_it(
    world: World, edit: dict[str, Any], recorded: set[str]
) -> None:
    job_id = world.submit(schedule=MINUTELY, misfire={"policy": "run_latest", "grace_seconds": 0})["job_id"]
    world.run_for(61, step=10)
    before = len(due_executions(world, job_id))
    world.pass_time(20 * 60)
    edited_at = world.now
    assert world.request("PATCH", f"/jobs/{job_id}", edit)[0] == 200
    world.tick()
    world.run_until_idle()
    until_edit = [one for one in due_executions(world, job_id) if from_text(one["scheduled_at"]) <= edited_at]
    assert len(until_edit) == 21
    assert {one["status"] for one in until_edit[before:]} == recorded
    assert instants(world, job_id) == sorted(set(instants(world, job_id)))


@pytest.mark.parametrize(("action", "message"), [("resume", "cannot be resumed"), ("pause", "cannot be paused")])
@pytest.mark.parametrize("cancelled", [False, True], ids=["deleted", "cancelled-and-deleted"])
def test_a_deleted_job_can_be_neither_paused_nor_resumed(
    world: World, action: str, message: str, cancelled: bool
) -> None:
    job_id = world.submit(schedule={"queue": True})["job_id"]
    if cancelled:
        world.request("PUT", f"/jobs/{job_id}/cancel")
    world.request("DELETE", f"/jobs/{job_id}")
    status, problem = world.request("POST", f"/jobs/{job_id}/{action}")
    assert status == 409
    assert message in problem["detail"]


def test_dry_runs_show_removed_and_added_executions_and_write_nothing(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(60)
    before = world.items("jobs"), world.items("executions")
    preview = request_action(world, job_id, "pause", "?dry_run=true")
    planned = [one["execution_id"] for one in world.executions(job_id) if one["status"] in ("queued", "scheduled")]
    assert [one["execution_id"] for one in preview["vanish"]] == planned
    assert (preview["appear"], preview["repeat"]) == ([], [])
    assert (world.items("jobs"), world.items("executions")) == before
    request_action(world, job_id, "pause")
    world.run_until_idle()
    world.pass_time(10 * 60)
    preview = request_action(world, job_id, "resume", "?dry_run=true")
    request_action(world, job_id, "resume")
    world.run_until_idle()
    known = {one["execution_id"]: one["status"] for one in world.executions(job_id)}
    for one in preview["appear"]:
        if one["scheduled_at"] <= to_text(world.now):
            assert (known[one["execution_id"]] == "skipped") == (one["note"] is not None)
    assert sum(one["scheduled_at"] > to_text(world.now) for one in preview["appear"]) == 10


def test_a_one_time_job_paused_past_its_instant_runs_when_it_is_resumed(world: World) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now + timedelta(minutes=10))})["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    world.run_until_idle()
    assert world.executions(job_id) == []
    world.pass_time(3600)
    request_action(world, job_id, "resume")
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded"]
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def test_a_job_whose_only_execution_was_skipped_by_a_pause_is_done_when_it_is_resumed(world: World) -> None:
    job_id = world.submit()["job_id"]
    world.deliver_streams()
    request_action(world, job_id, "pause")
    world.run_until_idle()
    assert statuses(world, job_id) == ["skipped"]
    request_action(world, job_id, "resume")
    world.run_until_idle()
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def test_after_a_short_pause_only_the_latest_missed_instant_runs_even_within_the_grace(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 2}, overlap="allow")["job_id"]
    world.run_for(4, step=1)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.run_until_idle()
    before = {one["execution_id"] for one in world.executions(job_id)}
    world.pass_time(36)
    status, preview = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert status == 200
    assert world.request("POST", f"/jobs/{job_id}/resume")[0] == 200
    world.run_until_idle()
    now = world.now
    added = [one for one in world.executions(job_id) if one["execution_id"] not in before]
    overdue = [one for one in added if from_text(one["scheduled_at"]) <= now]
    assert [one["status"] for one in overdue] == ["skipped"] * (len(overdue) - 1) + ["succeeded"]
    assert {one["covered_by"] for one in overdue[:-1]} == {overdue[-1]["execution_id"]}
    notes = {one["execution_id"]: one["note"] for one in preview["appear"] if from_text(one["scheduled_at"]) <= now}
    assert list(notes) == [one["execution_id"] for one in overdue]
    assert [note is None for note in notes.values()] == [False] * (len(overdue) - 1) + [True]


def test_a_redelivered_record_of_an_earlier_pause_skips_nothing(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="allow")["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    request_action(world, job_id, "resume")
    records = world.stream_records("jobs", "planner")
    world.call("planner", {"Records": records})
    world.deliver_streams()
    world.pass_time(70)
    world.call("planner", {"Records": records})  # redelivered after a failure, before the workers start
    world.run_for(30, step=10)
    [first, *_] = world.executions(job_id)
    assert (first["status"], first["reason"]) == ("succeeded", None)


def test_an_edit_in_a_pause_that_keeps_the_schedule_leaves_missed_instants_to_the_resume(world: World) -> None:
    misfire = {"policy": "run_all", "grace_seconds": 0}
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="queue_all", misfire=misfire)["job_id"]
    world.run_for(61, step=10)
    request_action(world, job_id, "pause")
    world.run_until_idle()
    paused_at = world.now
    world.pass_time(600)
    assert world.request("PATCH", f"/jobs/{job_id}", {"priority": "high"})[0] == 200
    world.run_until_idle()
    world.pass_time(300)
    preview = request_action(world, job_id, "resume", "?dry_run=true")
    request_action(world, job_id, "resume")
    world.run_until_idle()
    overdue = [one for one in world.executions(job_id) if paused_at < from_text(one["scheduled_at"]) <= world.now]
    assert [one["status"] for one in overdue] == ["succeeded"] * 15
    assert {one["priority"] for one in overdue} == {"high"}
    assert [one["execution_id"] for one in preview["appear"][:15]] == [one["execution_id"] for one in overdue]


def test_instants_missed_in_a_pause_are_recorded_when_the_schedule_is_replaced(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="allow")["job_id"]
    world.run_for(61, step=10)
    request_action(world, job_id, "pause")
    world.run_until_idle()
    paused_at = world.now
    for every in (100, 3600):
        world.pass_time(330)
        changes = {"schedule": {"every_seconds": every}}
        preview = world.request("PATCH", f"/jobs/{job_id}?dry_run=true", changes)[1]["appear"]
        assert {one["note"] for one in preview} == {"skipped: job changed"}
        assert world.request("PATCH", f"/jobs/{job_id}", changes)[0] == 200
        world.run_until_idle()
        found = {one["execution_id"]: (one["status"], one["reason"]) for one in world.executions(job_id)}
        assert {found[one["execution_id"]] for one in preview} == {("skipped", "job changed")}
    request_action(world, job_id, "resume")
    world.run_until_idle()
    overdue = [one for one in world.executions(job_id) if paused_at < from_text(one["scheduled_at"]) <= world.now]
    assert [one["reason"] for one in overdue] == ["job changed"] * (5 + 3)


@pytest.mark.parametrize("method", ["DELETE", "PUT"])
@pytest.mark.parametrize("schedule", [MINUTELY, "once"])
def test_instants_missed_in_a_pause_are_recorded_when_the_job_ends(world: World, method: str, schedule: Any) -> None:
    in_a_minute = {"at": to_text(world.now + timedelta(seconds=60))}
    job_id = world.submit(schedule=in_a_minute if schedule == "once" else schedule)["job_id"]
    world.run_until_idle()
    request_action(world, job_id, "pause")
    world.run_until_idle()
    world.run_for(190, step=10)
    path = f"/jobs/{job_id}" if method == "DELETE" else f"/jobs/{job_id}/cancel"
    _, preview = world.request(method, f"{path}?dry_run=true")
    assert world.executions(job_id) == []
    assert world.request(method, path)[0] == 200
    world.run_until_idle()
    overdue = [(one["scheduled_at"], one["status"], one["reason"]) for one in world.executions(job_id)]
    assert len(overdue) == (1 if schedule == "once" else 3)
    assert {one[1:] for one in overdue} == {("skipped", "paused")}
    assert [(one["scheduled_at"], one["note"]) for one in preview["appear"]] == [
        (scheduled_at, "skipped: paused") for scheduled_at, *_ in overdue
    ]


def test_instants_missed_in_an_outage_are_recorded_when_the_job_is_deleted(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(70)
    world.pass_time(3600)
    _, preview = world.request("DELETE", f"/jobs/{job_id}?dry_run=true")
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_until_idle()
    dues = instants(world, job_id)
    assert {later - earlier for earlier, later in pairwise(dues)} == {timedelta(seconds=60)}
    assert world.now - dues[-1] < timedelta(seconds=60)
    assert {(one["status"], one["reason"]) for one in due_executions(world, job_id)[1:]} == {
        ("skipped", "job deleted"),
        ("cancelled", "job deleted"),
    }
    skipped = [one["scheduled_at"] for one in due_executions(world, job_id) if one["status"] == "skipped"]
    assert [one["scheduled_at"] for one in preview["appear"]] == skipped


def test_of_very_many_missed_instants_the_latest_990_are_recorded_when_the_job_is_deleted(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 1})["job_id"]
    request_action(world, job_id, "pause")
    world.run_until_idle()
    world.pass_time(30 * 86400)
    _, preview = world.request("DELETE", f"/jobs/{job_id}?dry_run=true")
    assert (len(preview["appear"]), preview["left_out"]) == (990, 100_000)
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.run_until_idle()
    dues = instants(world, job_id)
    assert len(dues) == 990
    assert world.now - dues[-1] < timedelta(seconds=2)


def test_instants_due_after_a_pause_wait_for_the_resume_although_the_planner_sees_the_pause_late(world: World) -> None:
    once = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=3))})["job_id"]
    often = world.submit(schedule={"every_seconds": 2, "max_runs": 5}, misfire={"policy": "run_all"}, overlap="allow")[
        "job_id"
    ]
    world.run_until_idle()
    world.pass_time(1)
    for job_id in (once, often):
        request_action(world, job_id, "pause")
    world.pass_time(5)  # the planner receives the pause only now
    world.run_until_idle()
    assert (world.executions(once), world.executions(often)) == ([], [])
    world.pass_time(5)
    for job_id in (once, often):
        request_action(world, job_id, "resume")
    world.run_for(10)
    assert statuses(world, once) == ["succeeded"]
    assert statuses(world, often) == ["succeeded"] * 5
