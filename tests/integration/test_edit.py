"""Editing a job replaces executions that have not started. Running executions finish under the old revision."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text, to_text
from punctual.domain.schedules.jitter import delay
from tests.integration.conftest import START
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

HOURLY, DAILY = {"cron": "30 * * * *"}, {"cron": "30 3 * * *"}


def edit(world: World, job_id: str, changes: dict[str, Any], query: str = "", expected: int = 200) -> dict[str, Any]:
    status, answer = world.request("PATCH", f"/jobs/{job_id}{query}", changes)
    assert status == expected, answer
    return answer


def planned(world: World, job_id: str) -> list[tuple[str, str]]:
    return [(one["scheduled_at"], one["status"]) for one in world.executions(job_id)]


def test_an_instant_outside_the_new_schedule_is_removed_and_planned_again_when_the_schedule_is_restored(
    world: World,
) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    assert planned(world, job_id) == [("2026-11-16T12:30:00.000Z", "scheduled")]
    edit(world, job_id, {"schedule": DAILY})
    world.run_until_idle()
    assert planned(world, job_id) == [("2026-11-17T03:30:00.000Z", "scheduled")]
    edit(world, job_id, {"schedule": HOURLY})
    world.run_until_idle()
    assert planned(world, job_id) == [("2026-11-16T12:30:00.000Z", "scheduled")]
    world.tick()
    world.run_for(1860, step=60)
    assert planned(world, job_id)[0] == ("2026-11-16T12:30:00.000Z", "succeeded")


def test_a_dry_run_shows_added_removed_and_replaced_executions(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    before = world.items("jobs"), world.items("executions")
    preview = edit(world, job_id, {"schedule": DAILY}, "?dry_run=true")
    assert [one["scheduled_at"] for one in preview["vanish"]] == ["2026-11-16T12:30:00.000Z"]
    assert preview["appear"][0]["scheduled_at"] == "2026-11-17T03:30:00.000Z"
    assert (len(preview["appear"]), preview["repeat"]) == (10, [])
    same = edit(world, job_id, {"parameters": {"v": 2}}, "?dry_run=true")
    assert [one["scheduled_at"] for one in same["repeat"]] == ["2026-11-16T12:30:00.000Z"]
    assert same["vanish"] == []
    assert (world.items("jobs"), world.items("executions")) == before


def test_a_dry_run_of_a_submission_shows_its_instants_and_stores_nothing(world: World) -> None:
    status, preview = world.request("POST", "/jobs?dry_run=true", {"task": "echo", "schedule": HOURLY})
    assert status == 200
    dues = [from_text(one["scheduled_at"]) for one in preview["appear"]]
    assert [due.hour for due in dues] == [12, 13, 14, 15, 16, 17, 18, 19, 20, 21]
    assert world.items("jobs") == []
    status, problem = world.request("POST", "/jobs?dry_run=true", {"task": "echo", "schedule": {"cron": "x"}})
    assert (status, problem["errors"][0]["field"]) == (422, "schedule.cron")


def test_a_running_execution_finishes_under_the_revision_that_it_started_with(world: World) -> None:
    job_id = world.submit(task="test.scripted", schedule={"every_seconds": 60}, parameters={"v": 1})["job_id"]

    def change(context: Context) -> int:
        edit(world, job_id, {"parameters": {"v": 2}, "timeout_seconds": 5})
        world.run_until_idle()
        return context.attempt

    TASK_BODIES.append(change)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    first, second = world.executions(job_id)[:2]
    assert (first["status"], first["parameters"], first["result"]["value"]) == ("succeeded", {"v": 1}, 1)
    assert (second["status"], second["parameters"], second["result"]["value"]) == ("succeeded", {"v": 2}, {"v": 2})


def test_a_work_order_sent_before_the_edit_does_not_run_the_old_revision(world: World) -> None:
    job_id = world.submit(task="test.scripted", schedule={"every_seconds": 60}, parameters={"v": 1})["job_id"]
    world.run_until_idle()
    world.pass_time(60)
    [old] = world.orders()
    edit(world, job_id, {"parameters": {"v": 2}})
    world.deliver_streams()
    assert world.work(old) == {"batchItemFailures": []}
    assert planned(world, job_id)[0][1] == "queued"
    world.run_until_idle()
    assert world.executions(job_id)[0]["result"]["value"] == {"v": 2}


@pytest.mark.parametrize("changed", ["edit", "pause and resume"])
def test_a_job_continues_after_a_cancelled_instant_when_it_is_changed(world: World, changed: str) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    [first] = world.executions(job_id)
    assert world.request("PUT", f"/executions/{first['execution_id']}/cancel")[0] == 200
    world.run_until_idle()
    if changed == "edit":
        edit(world, job_id, {"parameters": {"x": 1}})
        world.run_until_idle()
    else:
        for verb in ("pause", "resume"):
            assert world.request("POST", f"/jobs/{job_id}/{verb}")[0] == 200
            world.run_until_idle()
    assert planned(world, job_id) == [
        ("2026-11-16T12:30:00.000Z", "cancelled"),
        ("2026-11-16T13:30:00.000Z", "scheduled"),
    ]


def test_an_empty_edit_changes_nothing(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    before = world.items("jobs"), world.items("executions")
    assert edit(world, job["job_id"], {})["revision"] == job["revision"]
    assert edit(world, job["job_id"], {}, "?dry_run=true")["repeat"] == []
    world.run_until_idle()
    assert (world.items("jobs"), world.items("executions")) == before


def test_a_leader_of_the_old_revision_does_not_finish_a_job_whose_new_revision_is_not_planned(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    [leader] = world.executions(job_id)
    assert world.request("PUT", f"/executions/{leader['execution_id']}/cancel")[0] == 200
    edit(world, job_id, {"schedule": {"every_seconds": 60, "max_runs": 2}})
    world.call("planner", {"Records": world.stream_records("executions", "planner")})
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "active"
    world.run_for(121, step=20)
    assert [status for _, status in planned(world, job_id)] == ["succeeded", "succeeded", "cancelled"]
    assert world.request("GET", f"/jobs/{job_id}")[1]["state"] == "done"


def deliver_job_records_twice(world: World, later: int) -> None:
    """Deliver the new records of jobs and redeliver them later, as after a failure at the end of the batch."""
    records = world.stream_records("jobs", "planner")
    world.call("planner", {"Records": records})
    world.run_until_idle()
    world.pass_time(later)
    world.call("planner", {"Records": records})
    world.run_until_idle()


def test_a_redelivered_record_of_a_superseded_edit_plans_nothing(world: World) -> None:
    job_id = world.submit(schedule=HOURLY)["job_id"]
    world.run_until_idle()
    edit(world, job_id, {"schedule": {"every_seconds": 30}})
    edit(world, job_id, {"schedule": HOURLY})
    before = world.executions(job_id)
    deliver_job_records_twice(world, later=40)
    assert [one["execution_id"] for one in world.executions(job_id)] == [one["execution_id"] for one in before]


def test_a_redelivered_record_of_a_postponed_job_plans_nothing(world: World) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=30))})["job_id"]
    edit(world, job_id, {"schedule": {"at": to_text(world.now + timedelta(hours=1))}})
    deliver_job_records_twice(world, later=40)
    [one] = world.executions(job_id)
    assert (one["status"], one["scheduled_at"]) == ("scheduled", to_text(world.now + timedelta(seconds=3560)))


def test_instants_missed_before_the_first_of_two_edits_are_recorded(world: World) -> None:
    job_id = world.submit(schedule={"every_seconds": 60}, overlap="allow")["job_id"]
    world.run_until_idle()
    world.pass_time(630)  # an outage: the leader has not been queued
    edit(world, job_id, {"schedule": {"every_seconds": 3600}})
    world.pass_time(30)
    edit(world, job_id, {"schedule": {"every_seconds": 1800}})
    world.run_until_idle()
    due = [to_text(START + timedelta(seconds=60 * number)) for number in range(1, 11)]
    assert [one["scheduled_at"] for one in world.executions(job_id)][:10] == due
    assert len(world.executions(job_id)) == 11


@pytest.mark.parametrize(
    ("submitted", "schedule", "expected"),
    [
        # with skip, a message received while another is processed would be lost
        ({"schedule": HOURLY}, {"queue": True}, "allow"),
        ({"schedule": {"queue": True}}, HOURLY, "skip"),
        ({"schedule": HOURLY, "overlap": "queue_all"}, {"queue": True}, "queue_all"),
        ({"schedule": HOURLY, "overlap": "allow"}, DAILY, "allow"),
    ],
    ids=str,
)
def test_a_default_overlap_rule_follows_the_kind_of_schedule(
    world: World, submitted: dict[str, Any], schedule: dict[str, Any], expected: str
) -> None:
    job_id = world.submit(**submitted)["job_id"]
    assert edit(world, job_id, {"schedule": schedule})["overlap"] == expected


@pytest.mark.parametrize("changes", [{"name": "better"}, {"schedule": {"cron": "0 3 * * *"}}])
def test_an_edit_does_not_lose_waiting_messages(world: World, changes: dict[str, Any]) -> None:
    job_id = world.submit(task="test.scripted", schedule={"queue": True}, overlap="queue_all")["job_id"]

    def send(number: int) -> None:
        message = {"job_id": job_id, "payload": {"n": number}}
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody=json.dumps(message))

    def edit_while_running(_context: Context) -> None:
        for number in (2, 3):
            send(number)
        world.run_until_idle()
        preview = edit(world, job_id, changes, "?dry_run=true")
        assert (preview["vanish"], preview["repeat"]) == ([], [])
        edit(world, job_id, changes)
        world.run_until_idle()

    TASK_BODIES.append(edit_while_running)
    send(1)
    world.run_until_idle()
    ran = [one["parameters"]["n"] for one in world.executions(job_id) if one["status"] == "succeeded"]
    assert sorted(ran) == [1, 2, 3]


def test_an_execution_delayed_by_jitter_is_not_late_when_an_edit_removes_the_jitter(world: World) -> None:
    schedule = {"cron": "0 * * * *", "jitter_seconds": 3600, "starts_at": "2026-11-16T13:00:00Z"}
    due = from_text("2026-11-16T13:00:00Z")
    misfire = {"policy": "skip", "grace_seconds": 60}
    while delay(job_id := world.submit(schedule=schedule, misfire=misfire)["job_id"], due, 3600) < timedelta(minutes=5):
        world.request("DELETE", f"/jobs/{job_id}")  # for one id in twelve
    world.run_until_idle()
    world.idle_for(3720)
    [first] = [one for one in world.executions(job_id) if one["scheduled_at"] == "2026-11-16T13:00:00.000Z"]
    assert first["status"] == "scheduled"  # jitter delays its start
    without = {"schedule": {"cron": "0 * * * *"}}
    preview = edit(world, job_id, without, "?dry_run=true")
    assert [one["execution_id"] for one in preview["repeat"]] == [first["execution_id"]]
    edit(world, job_id, without)
    world.run_until_idle()
    assert world.execution(first["execution_id"])["status"] == "succeeded"


def test_a_longer_jitter_applies_to_planned_executions(world: World) -> None:
    hourly = {"cron": "0 * * * *"}
    world.pass_time(1)
    jobs = [world.submit(schedule=hourly, overlap="allow")["job_id"] for _ in range(4)]
    world.run_until_idle()
    for job_id in jobs:
        change = {"schedule": {**hourly, "jitter_seconds": 3600}}
        assert world.request("PATCH", f"/jobs/{job_id}", change)[0] == 200
    world.run_until_idle()
    world.run_for(7500, step=60)
    for job_id in jobs:
        first = world.executions(job_id)[0]
        assert (first["scheduled_at"], first["status"]) == ("2026-11-16T13:00:00.000Z", "succeeded")
        late = from_text(first["started_at"]) - from_text(first["scheduled_at"])
        wanted = delay(job_id, from_text(first["scheduled_at"]), 3600)
        assert wanted <= late < wanted + timedelta(seconds=61)


def test_an_if_match_header_with_thousands_of_digits_is_refused(world: World) -> None:
    path = f"/jobs/{world.submit(schedule={'every_seconds': 600})['job_id']}"
    answer, problem = world.request("PATCH", path, {"priority": "low"}, headers={"if-match": "9" * 5000})
    assert (answer, problem["errors"][0]["field"]) == (422, "If-Match")


@pytest.mark.parametrize(
    ("job", "change", "field"),
    [
        ({"schedule": {"every_seconds": 600}, "misfire": {"policy": "skip"}}, {"schedule": None}, "misfire"),
        ({"schedule": {"cron": "@daily"}, "window": "day"}, {"schedule": {"at": "2027-01-01T00:00:00Z"}}, "window"),
    ],
)
def test_a_field_that_conflicts_with_an_edit_can_be_removed_in_the_same_edit(
    world: World, job: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    path = f"/jobs/{world.submit(**job)['job_id']}"
    answer, problem = world.request("PATCH", path, change)
    assert (answer, problem["errors"][0]["field"]) == (422, field)
    assert problem["detail"].endswith("the job has this field: set it to null to remove it")
    assert world.request("PATCH", path, {**change, field: None})[0] == 200
