"""Pausing and resuming a job, and what becomes of due instants that went by."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text, to_text
from tests.integration.odd_tasks import MEANWHILE
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def act(world: World, job_id: str, what: str, query: str = "") -> dict[str, Any]:
    status, answer = world.request("POST", f"/jobs/{job_id}/{what}{query}")
    assert status == 200, answer
    return answer


def due(world: World, job_id: str) -> list[dict[str, Any]]:
    """Those whose time has come, oldest first."""
    return [one for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= world.now]


def statuses(world: World, job_id: str) -> list[str]:
    return [one["status"] for one in due(world, job_id)]


def instants(world: World, job_id: str) -> list[datetime]:
    return [from_text(one["scheduled_at"]) for one in due(world, job_id)]


def outage(world: World, seconds: int) -> None:
    """Nothing of Punctual runs for that long; then all of it does."""
    world.pass_time(seconds)
    world.tick()
    world.settle_down()


def test_a_paused_job_starts_nothing_and_records_what_was_due(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(130)
    assert statuses(world, job_id) == ["succeeded"] * 2
    world.pass_time(-world.now.second % 60)
    answer = act(world, job_id, "pause")
    assert (answer["state"], answer["next_due_at"]) == ("paused", None)
    world.settle_down()
    world.run_for(600, step=60)
    assert set(statuses(world, job_id)[3:]) <= {"skipped"}
    assert all(one["reason"] == "paused" for one in due(world, job_id)[3:])
    assert len(world.executions(job_id)) == len(due(world, job_id)), "what was planned ahead is forgotten"


def test_resuming_runs_the_latest_that_went_by_and_says_of_the_others_what_covers_them(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(60)
    act(world, job_id, "pause")
    world.settle_down()
    world.pass_time(20 * 60)
    assert act(world, job_id, "resume")["state"] == "active"
    world.settle_down()
    went_by = [one for one in due(world, job_id) if one["reason"] and "covers it" in one["reason"]]
    latest = went_by[-1]["covered_by"]
    assert {one["covered_by"] for one in went_by} == {latest}
    assert {one["status"] for one in went_by} == {"skipped"}
    assert world.execution(latest)["status"] == "succeeded"
    gaps = {
        later - earlier for earlier, later in zip(instants(world, job_id), instants(world, job_id)[1:], strict=False)
    }
    assert gaps == {timedelta(seconds=60)}, "every due instant is recorded"
    world.run_for(180, step=10)
    assert statuses(world, job_id)[-1] == "succeeded"


def test_what_is_late_by_no_more_than_its_grace_runs(world: World) -> None:
    misfire = {"policy": "skip", "grace_seconds": 150}
    job_id = world.submit(schedule=MINUTELY, misfire=misfire, overlap="allow")["job_id"]
    world.run_for(60)
    outage(world, 20 * 60)
    late = [one for one in due(world, job_id) if from_text(one["scheduled_at"]) > world.now - timedelta(seconds=150)]
    assert [one["status"] for one in late] == ["succeeded"] * 3
    missed = [one for one in due(world, job_id) if one["status"] == "missed"]
    assert {one["reason"] for one in missed} == {"its time went by: misfire policy skip"}
    assert len(missed) >= 6


def test_run_all_makes_up_for_every_instant_up_to_its_bound(world: World) -> None:
    misfire = {"policy": "run_all", "grace_seconds": 0}
    job_id = world.submit(schedule=MINUTELY, misfire=misfire, overlap="allow")["job_id"]
    world.run_for(60)
    act(world, job_id, "pause")
    world.settle_down()
    world.pass_time(130 * 60)
    act(world, job_id, "resume")
    world.settle_down(rounds=300)
    went_by = [one for one in due(world, job_id) if from_text(one["scheduled_at"]) < world.now]
    assert [one["status"] for one in went_by[-100:]] == ["succeeded"] * 100
    assert [one["status"] for one in went_by[-110:-100]] == ["missed"] * 10


@pytest.mark.parametrize(("policy", "left_out"), [("run_latest", "skipped"), ("skip", "missed")])
def test_after_an_outage_the_same_rule_sorts_out_what_went_by(world: World, policy: str, left_out: str) -> None:
    job_id = world.submit(schedule=MINUTELY, misfire={"policy": policy}, overlap="allow")["job_id"]
    world.run_for(240, step=10)
    before = len(due(world, job_id))
    planned = sum(
        from_text(one["scheduled_at"]) <= world.now + timedelta(minutes=20) for one in world.executions(job_id)
    )
    outage(world, 20 * 60)
    found = statuses(world, job_id)
    assert found[:before] == ["succeeded"] * before
    ran_late = planned - before - 1  # those were queued before the outage, and their orders waited
    assert found[before : before + ran_late] == ["succeeded"] * ran_late
    late = found[before + ran_late :]
    in_grace = 6  # five minutes, both ends
    assert late == [left_out] * (len(late) - in_grace) + ["succeeded"] * in_grace
    assert instants(world, job_id) == sorted(set(instants(world, job_id)))


def test_an_outage_of_more_instants_than_are_planned_in_one_go_is_sorted_out_to_its_end(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 10}, overlap="allow")["job_id"]
    world.tick()
    world.settle_down()
    outage(world, 2 * 60 * 60)
    world.run_for(60, step=10)
    found = due(world, job_id)
    assert len(found) == (2 * 60 * 60 + 60) // 10
    assert {one["status"] for one in found} == {"skipped", "succeeded"}
    assert sum(one["status"] == "skipped" for one in found) > 600


def test_what_runs_goes_on_through_a_pause(world: World) -> None:
    job_id = world.submit(task="test.meanwhile", schedule=MINUTELY)["job_id"]

    def pause(_context: Context) -> str:
        act(world, job_id, "pause")
        world.settle_down()
        return "done all the same"

    MEANWHILE.append(pause)
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    [one] = due(world, job_id)
    assert (one["status"], one["result"]["value"]) == ("succeeded", "done all the same")


def test_a_paused_job_runs_when_a_person_asks_for_it(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    world.pass_time(1)
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
    assert status == 201
    world.settle_down()
    assert world.execution(answer["execution"]["execution_id"])["status"] == "succeeded"


def test_pausing_and_resuming_at_once_loses_and_doubles_nothing(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.settle_down()
    for _ in range(3):
        act(world, job_id, "pause")
        act(world, job_id, "resume")
    world.run_for(190, step=10)
    assert statuses(world, job_id) == ["succeeded"] * 3
    assert len(set(instants(world, job_id))) == 3


def test_an_edit_while_paused_makes_up_for_nothing_that_the_new_rules_did_not_know(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 3600})["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    world.pass_time(1800)
    status, answer = world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 600}})
    assert (status, answer["state"]) == (200, "paused"), answer
    edited_at = world.now
    world.settle_down()
    world.pass_time(1900)
    act(world, job_id, "resume")
    world.settle_down()
    assert instants(world, job_id) == [edited_at + timedelta(seconds=600 * number) for number in (1, 2, 3)]
    assert statuses(world, job_id) == ["skipped", "skipped", "succeeded"]


def test_an_edit_in_the_very_moment_of_a_resumption_counts(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    act(world, job_id, "resume")
    assert world.request("PATCH", f"/jobs/{job_id}", {"schedule": {"every_seconds": 90}})[0] == 200
    world.settle_down()
    assert {item["revision"]["N"] for item in world.items("executions")} == {"2"}


@pytest.mark.parametrize(
    ("edit", "went_by"),
    [({"parameters": {"n": 1}}, {"skipped", "succeeded"}), ({"schedule": {"every_seconds": 90}}, {"skipped"})],
)
def test_an_edit_in_an_outage_leaves_what_came_due_before_it_on_record(
    world: World, edit: dict[str, Any], went_by: set[str]
) -> None:
    job_id = world.submit(schedule=MINUTELY, misfire={"policy": "run_latest", "grace_seconds": 0})["job_id"]
    world.run_for(61, step=10)
    before = len(due(world, job_id))
    world.pass_time(20 * 60)
    edited_at = world.now
    assert world.request("PATCH", f"/jobs/{job_id}", edit)[0] == 200
    world.tick()
    world.settle_down()
    until_then = [one for one in due(world, job_id) if from_text(one["scheduled_at"]) <= edited_at]
    assert len(until_then) == 21
    assert {one["status"] for one in until_then[before:]} == went_by
    assert instants(world, job_id) == sorted(set(instants(world, job_id)))


@pytest.mark.parametrize(("first", "then"), [("resume", "cannot be resumed"), ("cancel", "cannot be paused")])
def test_what_makes_no_sense_is_refused(world: World, first: str, then: str) -> None:
    job_id = world.submit(schedule={"queue": True})["job_id"]
    if first == "cancel":
        world.request("PUT", f"/jobs/{job_id}/cancel")
        world.request("DELETE", f"/jobs/{job_id}")
    what = "resume" if first == "resume" else "pause"
    if first == "resume":
        world.request("DELETE", f"/jobs/{job_id}")
    status, problem = world.request("POST", f"/jobs/{job_id}/{what}")
    assert status == 409
    assert then in problem["detail"]


def test_dry_runs_show_what_would_vanish_and_appear_and_write_nothing(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(60)
    before = world.items("jobs"), world.items("executions")
    foreseen = act(world, job_id, "pause", "?dry_run=true")
    planned = [one["execution_id"] for one in world.executions(job_id) if one["status"] in ("queued", "scheduled")]
    assert [one["execution_id"] for one in foreseen["vanish"]] == planned
    assert (foreseen["appear"], foreseen["repeat"]) == ([], [])
    assert (world.items("jobs"), world.items("executions")) == before
    act(world, job_id, "pause")
    world.settle_down()
    world.pass_time(10 * 60)
    foreseen = act(world, job_id, "resume", "?dry_run=true")
    act(world, job_id, "resume")
    world.settle_down()
    known = {one["execution_id"]: one["status"] for one in world.executions(job_id)}
    for one in foreseen["appear"]:
        if one["scheduled_at"] <= to_text(world.now):
            assert (known[one["execution_id"]] == "skipped") == (one["note"] is not None)
    assert sum(one["scheduled_at"] > to_text(world.now) for one in foreseen["appear"]) == 10


def test_a_message_for_a_paused_job_is_on_record_and_can_be_done_by_hand(world: World) -> None:
    job_id = world.submit(schedule={"queue": True})["job_id"]
    act(world, job_id, "pause")
    message = json.dumps({"job_id": job_id, "payload": {"n": 7}})
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=message)
    world.settle_down()
    [one] = world.executions(job_id)
    assert (one["status"], one["reason"], one["parameters"]) == ("skipped", "paused", {"n": 7})
    act(world, job_id, "resume")
    status, answer = world.request("POST", f"/executions/{one['execution_id']}/retry", {})
    assert status == 201
    world.settle_down()
    assert world.execution(answer["execution"]["execution_id"])["result"]["value"] == {"n": 7}


def test_a_job_that_was_to_run_once_and_was_paused_past_its_time_runs_when_it_is_resumed(world: World) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now + timedelta(minutes=10))})["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    world.settle_down()
    assert world.executions(job_id) == []
    world.pass_time(3600)
    act(world, job_id, "resume")
    world.settle_down()
    assert statuses(world, job_id) == ["succeeded"]
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def test_a_job_whose_only_run_was_skipped_by_a_pause_is_done_when_it_is_resumed(world: World) -> None:
    job_id = world.submit()["job_id"]
    world.deliver_streams()
    act(world, job_id, "pause")
    world.settle_down()
    assert statuses(world, job_id) == ["skipped"]
    act(world, job_id, "resume")
    world.settle_down()
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def test_after_a_short_pause_nothing_piles_up_whatever_the_grace(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 2}, overlap="allow")["job_id"]
    world.run_for(4, step=1)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.settle_down()
    before = {one["execution_id"] for one in world.executions(job_id)}
    world.pass_time(36)
    status, foreseen = world.request("POST", f"/jobs/{job_id}/resume?dry_run=true")
    assert status == 200
    assert world.request("POST", f"/jobs/{job_id}/resume")[0] == 200
    world.settle_down()
    now = world.now
    made_up = [one for one in world.executions(job_id) if one["execution_id"] not in before]
    gone_by = [one for one in made_up if from_text(one["scheduled_at"]) <= now]
    assert [one["status"] for one in gone_by] == ["skipped"] * (len(gone_by) - 1) + ["succeeded"]
    assert {one["covered_by"] for one in gone_by[:-1]} == {gone_by[-1]["execution_id"]}
    told = {one["execution_id"]: one["note"] for one in foreseen["appear"] if from_text(one["scheduled_at"]) <= now}
    assert list(told) == [one["execution_id"] for one in gone_by]
    assert [note is None for note in told.values()] == [False] * (len(gone_by) - 1) + [True]


def test_word_of_a_pause_that_is_over_skips_nothing(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="allow")["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    act(world, job_id, "resume")
    records = world.stream_records("jobs", "planner")
    world.call("planner", {"Records": records})
    world.deliver_streams()
    world.pass_time(70)
    world.call("planner", {"Records": records})  # it failed at the end, and comes again, before the workers got round
    world.run_for(30, step=10)
    [first, *_] = world.executions(job_id)
    assert (first["status"], first["reason"]) == ("succeeded", None)


def test_an_edit_of_something_else_in_a_pause_leaves_what_came_due_to_the_resumption(world: World) -> None:
    misfire = {"policy": "run_all", "grace_seconds": 0}
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="queue_all", misfire=misfire)["job_id"]
    world.run_for(61, step=10)
    act(world, job_id, "pause")
    world.settle_down()
    paused_at = world.now
    world.pass_time(600)
    assert world.request("PATCH", f"/jobs/{job_id}", {"priority": "high"})[0] == 200
    world.settle_down()
    world.pass_time(300)
    foreseen = act(world, job_id, "resume", "?dry_run=true")
    act(world, job_id, "resume")
    world.settle_down()
    went_by = [one for one in world.executions(job_id) if paused_at < from_text(one["scheduled_at"]) <= world.now]
    assert [one["status"] for one in went_by] == ["succeeded"] * 15
    assert {one["priority"] for one in went_by} == {"high"}
    assert [one["execution_id"] for one in foreseen["appear"][:15]] == [one["execution_id"] for one in went_by]


def test_what_came_due_in_a_pause_by_a_schedule_that_is_gone_is_on_record(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="allow")["job_id"]
    world.run_for(61, step=10)
    act(world, job_id, "pause")
    world.settle_down()
    paused_at = world.now
    for every in (100, 3600):
        world.pass_time(330)
        changes = {"schedule": {"every_seconds": every}}
        foreseen = world.request("PATCH", f"/jobs/{job_id}?dry_run=true", changes)[1]["appear"]
        assert {one["note"] for one in foreseen} == {"skipped: job changed"}
        assert world.request("PATCH", f"/jobs/{job_id}", changes)[0] == 200
        world.settle_down()
        found = {one["execution_id"]: (one["status"], one["reason"]) for one in world.executions(job_id)}
        assert {found[one["execution_id"]] for one in foreseen} == {("skipped", "job changed")}
    act(world, job_id, "resume")
    world.settle_down()
    due = [one for one in world.executions(job_id) if paused_at < from_text(one["scheduled_at"]) <= world.now]
    assert [one["reason"] for one in due] == ["job changed"] * (5 + 3)


@pytest.mark.parametrize("how", ["DELETE", "PUT"])
@pytest.mark.parametrize("schedule", [MINUTELY, "once"])
def test_what_came_due_in_a_pause_is_on_record_when_its_job_goes(world: World, how: str, schedule: Any) -> None:
    in_a_minute = {"at": to_text(world.now + timedelta(seconds=60))}
    job_id = world.submit(schedule=in_a_minute if schedule == "once" else schedule)["job_id"]
    world.settle_down()
    act(world, job_id, "pause")
    world.settle_down()
    world.run_for(190, step=10)
    path = f"/jobs/{job_id}" if how == "DELETE" else f"/jobs/{job_id}/cancel"
    _, foreseen = world.request(how, f"{path}?dry_run=true")
    assert world.executions(job_id) == []
    assert world.request(how, path)[0] == 200
    world.settle_down()
    gone_by = [(one["scheduled_at"], one["status"], one["reason"]) for one in world.executions(job_id)]
    assert len(gone_by) == (1 if schedule == "once" else 3)
    assert {one[1:] for one in gone_by} == {("skipped", "paused")}
    assert [(one["scheduled_at"], one["note"]) for one in foreseen["appear"]] == [
        (due, "skipped: paused") for due, *_ in gone_by
    ]


def test_what_came_due_in_an_outage_is_on_record_when_its_job_goes(world: World) -> None:
    job_id = world.submit(schedule=MINUTELY)["job_id"]
    world.run_for(70)
    world.pass_time(3600)
    _, foreseen = world.request("DELETE", f"/jobs/{job_id}?dry_run=true")
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.settle_down()
    dues = instants(world, job_id)
    assert {later - earlier for earlier, later in pairwise(dues)} == {timedelta(seconds=60)}
    assert world.now - dues[-1] < timedelta(seconds=60)
    assert {(one["status"], one["reason"]) for one in due(world, job_id)[1:]} == {
        ("skipped", "job deleted"),
        ("cancelled", "job deleted"),
    }
    skipped = [one["scheduled_at"] for one in due(world, job_id) if one["status"] == "skipped"]
    assert [one["scheduled_at"] for one in foreseen["appear"]] == skipped


def test_of_ages_of_seconds_the_latest_are_on_record_when_their_job_goes(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 1})["job_id"]
    act(world, job_id, "pause")
    world.settle_down()
    world.pass_time(30 * 86400)
    _, foreseen = world.request("DELETE", f"/jobs/{job_id}?dry_run=true")
    assert (len(foreseen["appear"]), foreseen["left_out"]) == (990, 100_000)
    assert world.request("DELETE", f"/jobs/{job_id}")[0] == 200
    world.settle_down()
    dues = instants(world, job_id)
    assert len(dues) == 990
    assert world.now - dues[-1] < timedelta(seconds=2)


def test_what_comes_due_after_a_pause_that_is_heard_of_late_waits_for_the_resumption(world: World) -> None:
    once = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=3))})["job_id"]
    often = world.submit(schedule={"every_seconds": 2, "max_runs": 5}, misfire={"policy": "run_all"}, overlap="allow")[
        "job_id"
    ]
    world.settle_down()
    world.pass_time(1)
    for job_id in (once, often):
        act(world, job_id, "pause")
    world.pass_time(5)  # the planner comes to it only now
    world.settle_down()
    assert (world.executions(once), world.executions(often)) == ([], [])
    world.pass_time(5)
    for job_id in (once, often):
        act(world, job_id, "resume")
    world.run_for(10)
    assert statuses(world, once) == ["succeeded"]
    assert statuses(world, often) == ["succeeded"] * 5


def test_a_message_that_crosses_a_pause_is_on_record(world: World) -> None:
    job_id = world.submit(schedule={"queue": True})["job_id"]
    world.settle_down()
    body = json.dumps({"job_id": job_id, "payload": {}})
    act(world, job_id, "pause")
    world.pass_time(1)
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=body)
    world.take_in()
    world.settle_down()
    assert [(one["status"], one["reason"]) for one in world.executions(job_id)] == [("skipped", "paused")]
