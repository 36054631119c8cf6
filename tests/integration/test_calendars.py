"""Schedules with start, end, skipped dates, run limits and jitter. The clock starts at noon on a Monday."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from croniter import croniter

from punctual import Context
from punctual.domain.instant import from_text
from punctual.domain.schedules.jitter import delay
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World

DAY = 24 * 60 * 60


def planned(world: World, job: dict[str, Any]) -> list[str]:
    return [one["scheduled_at"][:16] for one in world.executions(job["job_id"])]


def run_days(world: World, days: int) -> None:
    """Advance in steps of half a day, enough for executions that are due at noon or at midnight."""
    for _ in range(days * 2):
        for _ in range(2):  # an execution that is queued plans its successor
            world.tick()
            world.run_until_idle()
        world.idle_for(DAY / 2)
    world.tick()
    world.run_until_idle()


def test_skipped_dates_are_never_planned(world: World) -> None:
    job = world.submit(schedule={"cron": "0 0 * * *", "skip": ["weekends", "2026-11-18", "holidays-us"]})
    assert job["schedule"]["skip"] == ["weekends", "2026-11-18", "holidays-us"]
    assert job["schedule"]["on_skip"] == "skip"
    run_days(world, 11)
    assert planned(world, job) == [f"2026-11-{day}T00:00" for day in (17, 19, 20, 23, 24, 25, 27)] + [
        "2026-11-30T00:00"
    ]
    [after_the_weekend] = [one for one in world.executions(job["job_id"]) if "2026-11-23" in one["scheduled_at"]]
    assert after_the_weekend["window"]["start"] == "2026-11-20T00:00:00.000Z"


def test_a_moved_run_is_planned_once_on_the_next_business_day(world: World) -> None:
    schedule = {"cron": "0 0 * * SAT,SUN,TUE", "skip": ["weekends"], "on_skip": "next_business_day"}
    job = world.submit(schedule=schedule, window="day")
    run_days(world, 9)
    assert planned(world, job) == ["2026-11-17T00:00", "2026-11-23T00:00", "2026-11-24T00:00", "2026-11-30T00:00"]
    moved = world.executions(job["job_id"])[1]
    assert moved["status"] == "succeeded"
    assert moved["window"] == {"start": "2026-11-20T00:00:00.000Z", "end": "2026-11-22T00:00:00.000Z"}


class Matches:
    """Counts how often the cron matcher steps to a match: the unit of work of a schedule."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._count = 0
        for name in ("get_next", "get_prev"):
            monkeypatch.setattr(croniter, name, self._counting(getattr(croniter, name)))

    def taken(self) -> int:
        """The number since the last call."""
        taken, self._count = self._count, 0
        return taken

    def _counting(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            self._count += 1
            return step(*arguments, **more)

        return counted


def test_a_thousand_skipped_dates_in_a_row_cost_no_more_work_than_max_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their runs move to the next open date. The skipped dates have 1,440,000 matches."""
    skip = [str((world.now + timedelta(days=n)).date()) for n in range(1000)]
    schedule = {"cron": "* * * * *", "skip": skip, "on_skip": "next_business_day", "max_runs": 10_000}
    matches = Matches(monkeypatch)
    status, preview = world.request("POST", "/schedules/preview", {"schedule": schedule, "count": 100})
    assert status == 200
    assert [one["at"][:16] for one in preview["items"][::99]] == ["2029-08-12T00:00", "2029-08-12T01:39"]
    assert 10_000 <= matches.taken() <= 12_000
    job = world.submit(schedule=schedule)
    assert job["next_due_at"] == "2029-08-12T00:00:00.000Z"
    assert 10_000 <= matches.taken() <= 12_000
    world.run_until_idle()
    assert 1 <= matches.taken() <= 100


def test_a_schedule_plans_nothing_outside_its_start_and_end(world: World) -> None:
    bounds = {"starts_at": "2026-11-18T00:00:00Z", "ends_at": "2026-11-20T12:00:00Z"}
    job = world.submit(schedule={"cron": "0 0 * * *", **bounds})
    assert job["next_due_at"] == "2026-11-18T00:00:00.000Z"
    run_days(world, 6)
    assert planned(world, job) == ["2026-11-18T00:00", "2026-11-19T00:00", "2026-11-20T00:00"]
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["next_due_at"] is None


def test_no_more_than_max_runs_are_planned(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60, "max_runs": 3})
    world.run_for(400, step=20)
    shown = world.executions(job["job_id"])
    assert [one["status"] for one in shown] == ["succeeded"] * 3
    assert world.request("GET", f"/jobs/{job['job_id']}")[1]["schedule"] == {"every_seconds": 60, "max_runs": 3}


def test_an_edit_of_the_schedule_replaces_its_rules_and_restarts_the_run_count(world: World) -> None:
    job = world.submit(schedule={"cron": "0 0 * * *", "max_runs": 2})
    path = f"/jobs/{job['job_id']}"
    run_days(world, 1)
    edited = {"cron": "0 0 * * *", "max_runs": 2, "skip": ["2026-11-18"]}
    status, shown = world.request("PATCH", path, {"schedule": edited})
    assert status == 200, shown
    assert shown["next_due_at"] == "2026-11-19T00:00:00.000Z"
    run_days(world, 6)
    ran = [one["scheduled_at"][:10] for one in world.executions(job["job_id"]) if one["status"] == "succeeded"]
    assert ran == ["2026-11-17", "2026-11-19", "2026-11-20"]


def test_an_edit_of_another_field_keeps_the_schedule(world: World) -> None:
    rules = {"max_runs": 5, "skip": ["holidays-us"], "on_skip": "skip", "jitter_seconds": 30}
    job = world.submit(schedule={"every_seconds": 60, **rules})
    stored = [item["schedule"] for item in world.items("jobs") if "schedule" in item]
    status, edited = world.request("PATCH", f"/jobs/{job['job_id']}", {"name": "other"})
    assert status == 200
    assert edited["schedule"] == job["schedule"] == {"every_seconds": 60, **rules}
    assert [item["schedule"] for item in world.items("jobs") if "schedule" in item] == stored


def test_an_edit_to_a_schedule_that_never_comes_due_is_rejected_and_changes_nothing(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    path = f"/jobs/{job['job_id']}"
    for schedule, field in [
        ({"cron": "0 0 * * SUN", "skip": ["weekends"]}, "schedule.skip"),
        ({"cron": "0 0 * * *", "ends_at": "2026-11-16T13:00:00Z"}, "schedule.ends_at"),
        ({"at": "2026-12-01T00:00:00Z", "max_runs": 1}, "schedule.max_runs"),
    ]:
        status, problem = world.request("PATCH", path, {"schedule": schedule})
        assert (status, problem["errors"][0]["field"]) == (422, field)
    assert world.request("GET", path)[1] == job


def test_an_unknown_calendar_is_rejected_with_the_available_calendars(world: World) -> None:
    for path, body in [
        ("/jobs", {"task": "echo", "schedule": {"every_seconds": 60, "skip": ["holidays-mars"]}}),
        ("/schedules/preview", {"schedule": {"every_seconds": 60, "skip": ["holidays-mars"]}}),
    ]:
        status, problem = world.request("POST", path, body)
        assert (status, problem["errors"][0]["field"]) == (422, "schedule.skip.0")
        assert "weekends, holidays-us" in problem["errors"][0]["message"]


def test_a_backfill_omits_skipped_dates(world: World) -> None:
    job = world.submit(schedule={"cron": "0 0 * * *", "skip": ["weekends", "2026-11-11"], "max_runs": 5})
    request = {"from": "2026-11-09T00:00:00Z", "to": "2026-11-16T00:00:00Z"}
    status, answer = world.request("POST", f"/jobs/{job['job_id']}/backfill", request)
    assert status == 201
    assert [one["scheduled_at"][8:10] for one in answer["items"]] == ["09", "10", "12", "13"]


def test_a_preview_shows_skipped_and_moved_runs(world: World) -> None:
    rules = {"cron": "0 9 1 * *", "timezone": "America/New_York", "skip": ["weekends", "holidays-us"]}
    request = {"schedule": rules, "after": "2026-12-15T00:00:00Z", "count": 2}
    _, preview = world.request("POST", "/schedules/preview", request)
    assert [(one["local"], one["at"], one["flag"]) for one in preview["items"]] == [
        ("2027-01-01T09:00:00", None, "excluded"),
        ("2027-02-01T09:00:00", "2027-02-01T14:00:00.000Z", None),
        ("2027-03-01T09:00:00", "2027-03-01T14:00:00.000Z", None),
    ]
    request["schedule"] = {**rules, "on_skip": "next_business_day"}
    _, preview = world.request("POST", "/schedules/preview", request)
    assert [(one["local"], one["at"], one["flag"]) for one in preview["items"]] == [
        ("2027-01-01T09:00:00", "2027-01-04T14:00:00.000Z", "moved"),
        ("2027-02-01T09:00:00", "2027-02-01T14:00:00.000Z", None),
    ]
    assert world.items("jobs") == []


def test_jitter_delays_each_run_deterministically_and_loses_no_run(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60, "jitter_seconds": 40}, overlap="allow")
    world.run_for(660, step=1)
    ran = [one for one in world.executions(job["job_id"]) if one["started_at"]]
    assert len(ran) >= 10
    for one in ran:
        due, started = from_text(one["scheduled_at"]), from_text(one["started_at"])
        expected_delay = delay(job["job_id"], due, 40)
        assert timedelta() <= started - due - expected_delay <= timedelta(seconds=1)
    assert len({from_text(one["started_at"]) - from_text(one["scheduled_at"]) for one in ran}) > 1


def test_a_job_is_done_when_its_last_run_has_ended(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60, "max_runs": 2})
    world.run_for(190, step=10)
    assert [one["status"] for one in world.executions(job["job_id"])] == ["succeeded"] * 2
    _, shown = world.request("GET", f"/jobs/{job['job_id']}")
    assert (shown["state"], shown["next_due_at"]) == ("done", None)


def job_state(world: World, job: dict[str, Any]) -> str:
    return world.request("GET", f"/jobs/{job['job_id']}")[1]["state"]


def test_a_job_with_max_runs_is_done_when_none_of_its_runs_is_live(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60, "max_runs": 3}, dedupe_key="k")
    world.deliver_streams()
    last = world.executions(job["job_id"])[-1]
    assert world.request("PUT", f"/executions/{last['execution_id']}/cancel")[0] == 200
    world.deliver_streams()
    assert job_state(world, job) == "active"
    assert world.request("POST", "/jobs", {"task": "echo", "dedupe_key": "k"})[0] == 409
    world.run_for(121, step=20)
    assert [one["status"] for one in world.executions(job["job_id"])] == ["succeeded", "succeeded", "cancelled"]
    assert job_state(world, job) == "done"


def test_a_job_with_max_runs_is_not_done_while_an_earlier_run_is_running(world: World) -> None:
    job = world.submit(task="test.scripted", schedule={"every_seconds": 60, "max_runs": 2})
    seen = []

    def meanwhile(_: Context) -> None:
        world.pass_time(60)
        world.run_until_idle()
        seen.append([one["status"] for one in world.executions(job["job_id"])])
        seen.append(job_state(world, job))

    TASK_BODIES.append(meanwhile)
    world.run_for(61, step=20)
    assert seen == [["running", "skipped"], "active"]
    assert job_state(world, job) == "done"


def test_a_manual_run_before_the_due_instant_does_not_complete_a_one_time_job(world: World) -> None:
    job = world.submit(schedule={"at": "2026-11-16T13:00:00Z"})
    world.run_until_idle()
    assert world.request("POST", f"/jobs/{job['job_id']}/run", {})[0] == 201
    world.run_until_idle()
    assert job_state(world, job) == "active"
    world.run_for(3601, step=60)
    assert [one["status"] for one in world.executions(job["job_id"])] == ["succeeded", "succeeded"]
    assert job_state(world, job) == "done"
