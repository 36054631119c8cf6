"""``GET /calendar``: what ran, what is due, and which dates and local times are skipped."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from punctual.domain.forecasts import job_calendar
from punctual.domain.instant import from_text, to_text
from punctual.stages.api import calendar
from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World


def get_calendar(world: World, **query: Any) -> dict[str, Any]:
    status, found = world.request("GET", f"/calendar?{urlencode(query)}", role="viewer")
    assert status == 200, found
    return found


def around(world: World, before: int = 1, after: int = 7) -> dict[str, str]:
    """A range in days around now."""
    return {"from": to_text(world.now - timedelta(days=before)), "to": to_text(world.now + timedelta(days=after))}


def entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    [job] = found["items"]
    return job["entries"]


def test_past_outcomes_and_future_due_instants_are_merged_in_order(world: World) -> None:
    job = world.submit(name="hourly", schedule={"cron": "0 */6 * * *"}, tags={"dataset": "orders"})
    world.run_until_idle()
    world.pass_time(6 * 3600 - 100)
    world.run_for(240, step=20)
    found = get_calendar(world, **{"from": "2026-11-16T00:00:00Z", "to": "2026-11-17T12:30:00Z"})
    [shown] = found["items"]
    assert {name: shown[name] for name in ("job_id", "job_name", "tags", "state", "timezone")} == {
        "job_id": job["job_id"],
        "job_name": "hourly",
        "tags": {"dataset": "orders"},
        "state": "active",
        "timezone": "UTC",
    }
    assert [(one["at"], one["status"]) for one in shown["entries"]] == [
        ("2026-11-16T12:00:00.000Z", "succeeded"),
        ("2026-11-16T18:00:00.000Z", "succeeded"),
        ("2026-11-17T00:00:00.000Z", "scheduled"),
        ("2026-11-17T06:00:00.000Z", None),
        ("2026-11-17T12:00:00.000Z", None),
    ]
    past, _, planned, later, _ = shown["entries"]
    assert past["ended_at"] is not None
    assert world.execution(planned["execution_id"])["status"] == "scheduled"
    assert later["execution_id"] == f"20261117T060000000Z-{job['job_id']}"
    assert (shown["complete_from"], shown["complete_to"]) == ("2026-11-16T00:00:00.000Z", "2026-11-17T12:30:00.000Z")
    assert found["cursor"] is None


def test_a_planned_execution_shows_its_forecast_end_against_its_deadline(world: World, lane: LongLane) -> None:
    spec = {"schedule": {"cron": "0 2 * * *"}, "resources": {"vcpu": 2}}
    lane.submit(name="safe", deadline={"within_seconds": 36_000}, expected_seconds=3600, **spec)
    lane.submit(name="tight", deadline={"within_seconds": 4000}, expected_seconds=3600, **spec)
    lane.submit(name="late", deadline={"within_seconds": 3000}, expected_seconds=3600, **spec)
    lane.submit(name="unknown", deadline={"within_seconds": 3000}, **spec)
    lane.submit(name="split", partitions={"count": 5, "at_once": 2}, expected_seconds=3600, **spec)
    found = get_calendar(world, **around(world, 0, 3))
    by_name = {job["job_name"]: job["entries"][-1] for job in found["items"]}
    states = {name: one["deadline"] and one["deadline"]["state"] for name, one in by_name.items()}
    assert states == {"safe": "on_track", "tight": "at_risk", "late": "will_miss", "unknown": None, "split": None}
    safe = by_name["safe"]
    assert (safe["at"], safe["median_end"]) == ("2026-11-19T02:00:00.000Z", "2026-11-19T03:00:00.000Z")
    assert safe["deadline"]["at"] == "2026-11-19T12:00:00.000Z"
    assert safe["p95_end"] > safe["median_end"]
    assert by_name["unknown"]["median_end"] is None
    assert (by_name["split"]["tasks"], by_name["split"]["vcpus"]) == (2, 4)
    assert by_name["split"]["median_end"] > "2026-11-19T04:00:00"
    assert (safe["tasks"], safe["vcpus"]) == (1, 2)


def test_a_running_execution_shows_when_it_is_expected_to_end_and_the_slots_it_holds(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane, expected_seconds=3600, resources={"vcpu": 2}, deadline={"within_seconds": 3000})
    world.pass_time(600)
    world.monitor_tick()
    world.deliver_checks()
    [running] = entries(get_calendar(world, **around(world)))
    assert (running["status"], running["origin"], running["tasks"], running["vcpus"]) == ("running", "schedule", 1, 2)
    end = from_text(running["started_at"]) + timedelta(hours=1)
    assert abs(from_text(running["median_end"]) - end) < timedelta(minutes=1)
    assert running["p95_end"] > running["median_end"]
    assert running["deadline"]["probability"] is not None
    container.conclude()
    assert lane.next_parts(job)["next"] == "end"
    [ended] = entries(get_calendar(world, **around(world)))
    assert (ended["median_end"], ended["tasks"], ended["deadline"]["probability"]) == (None, 1, None)


def test_the_slots_of_the_lane_are_added_on_request(world: World, lane: LongLane) -> None:
    start_part(lane, expected_seconds=7200, resources={"vcpu": 2})
    assert get_calendar(world, **around(world))["long_lane"] is None
    slots = get_calendar(world, long_lane="true", **around(world))["long_lane"]
    found = world.request("GET", "/lane", role="viewer")[1]
    assert slots["tasks"] == found["slots"]["tasks"]
    assert slots["hours"] == found["hours"]
    assert slots["hours"][0]["mean_tasks"] == 1


def test_a_queue_job_says_that_its_future_is_unknown(world: World) -> None:
    job = world.submit(name="by-message", schedule={"queue": True})
    world.submit(name="hourly", schedule={"every_seconds": 3600})
    sent = {"messages": [{"payload": {"text": "one"}}]}
    assert world.request("POST", f"/jobs/{job['job_id']}/messages", sent)[0] == 202
    world.run_until_idle()
    found = get_calendar(world, **around(world))
    assert {one["job_name"]: one["takes_messages"] for one in found["items"]} == {"by-message": True, "hourly": False}


def test_skipped_dates_and_clock_changes_are_shown_in_the_zone_of_the_job(world: World) -> None:
    world.submit(schedule={"cron": "30 2 * * *", "timezone": "Europe/Berlin", "skip": ["2027-03-29"]})
    world.run_until_idle()
    found = get_calendar(world, **{"from": "2027-03-26T23:00:00Z", "to": "2027-03-30T22:00:00Z"})
    assert [(one["local"], one["at"], one["flag"], one["execution_id"] is None) for one in entries(found)] == [
        ("2027-03-27T02:30:00", "2027-03-27T01:30:00.000Z", None, False),
        ("2027-03-28T02:30:00", "2027-03-28T01:30:00.000Z", "shifted", False),
        ("2027-03-29T02:30:00", "2027-03-29T00:30:00.000Z", "excluded", True),
        ("2027-03-30T02:30:00", "2027-03-30T00:30:00.000Z", None, False),
    ]
    assert found["clock_changes"] == [
        {"timezone": "Europe/Berlin", "at": "2027-03-28T01:00:00.000Z", "shift_minutes": 60}
    ]


def test_a_paused_job_has_a_past_but_no_future(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 3600})
    world.run_for(3700, step=50)
    assert world.request("POST", f"/jobs/{job['job_id']}/pause")[0] == 200
    world.run_until_idle()
    shown = entries(get_calendar(world, **around(world)))
    assert [one["status"] for one in shown] == ["succeeded"]
    assert max(one["at"] for one in shown) <= to_text(world.now)


def test_a_frequent_job_shows_its_latest_and_its_next_instants_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calendar, "MAX_EXECUTIONS", 7)
    monkeypatch.setattr(job_calendar, "MAX_PLANNED", 10)
    world.submit(schedule={"every_seconds": 60})
    world.run_for(10 * 60, step=60)
    [job] = get_calendar(world, **around(world))["items"]
    stored = [one for one in job["entries"] if one["status"] is not None]
    future = [one for one in job["entries"] if one["status"] is None]
    assert (len(stored), len(future)) == (7, 10)
    assert job["complete_from"] == job["entries"][0]["at"] > "2026-11-16T12:03:00"
    last = from_text(job["entries"][-1]["at"])
    assert job["complete_to"] == to_text(last + timedelta(minutes=1))


def test_the_filters_and_the_cursor_of_jobs_apply(world: World) -> None:
    for number in range(5):
        world.pass_time(1)
        world.submit(
            name=f"j{number}",
            tags={"number": str(number)},
            schedule={"every_seconds": 3600},
            task="sleep" if number % 2 else "echo",
            parameters={"seconds": 1} if number % 2 else {},
        )
    world.submit(name="later", schedule={"at": to_text(world.now + timedelta(days=20))})
    world.run_until_idle()
    names: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = get_calendar(world, limit=2, **around(world), **cursor)
        assert len(page["items"]) <= 2
        names += [job["job_name"] for job in page["items"]]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}
    assert names == ["j4", "j3", "j2", "j1", "j0"]
    asleep = get_calendar(world, task="sleep", **around(world))
    assert [job["job_name"] for job in asleep["items"]] == ["j3", "j1"]
    assert get_calendar(world, owner="another", **around(world))["items"] == []
    assert [job["job_name"] for job in get_calendar(world, name="J2", **around(world))["items"]] == ["j2"]
    world.submit(name="urgent", schedule={"every_seconds": 3600}, priority="high")
    urgent = get_calendar(world, priority="high", **around(world))
    assert [job["job_name"] for job in urgent["items"]] == ["urgent"]
    tagged = get_calendar(world, tag="number:3", **around(world))
    assert [job["job_name"] for job in tagged["items"]] == ["j3"]
    assert get_calendar(world, state="paused", **around(world))["items"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2026-11-16T00:00:00Z", "to": "2026-11-16T00:00:00Z"}, "to"),
        ({"from": "2026-11-16T00:00:00Z", "to": "2026-12-29T00:00:00Z"}, "to"),
        ({"from": "tomorrow", "to": "2026-12-29T00:00:00Z"}, "from"),
        ({"from": "2026-11-16T00:00:00Z"}, "to"),
        ({"from": "2026-11-16T00:00:00Z", "to": "2026-11-17T00:00:00Z", "limit": "51"}, "limit"),
        ({"from": "2026-11-16T00:00:00Z", "to": "2026-11-17T00:00:00Z", "cursor": "x"}, "cursor"),
    ],
)
def test_a_bad_range_is_rejected_by_name(world: World, query: dict[str, str], field: str) -> None:
    status, problem = world.request("GET", f"/calendar?{urlencode(query)}")
    assert (status, problem["errors"][0]["field"]) == (422, field)
