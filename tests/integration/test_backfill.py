"""Backfills: executions for past instants, requested by an operator."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from punctual.aws.dynamodb import gates
from tests.integration.concurrency_keys import run_nested, work_orders
from tests.integration.faults import crash_at, just_before, on_table
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.long_lane import LongLane
from tests.integration.world import World

HOURLY = {"cron": "0 * * * *"}
MORNING = {"from": "2026-11-16T06:00:00Z", "to": "2026-11-16T09:00:00Z"}


def backfill(world: World, job: dict[str, Any], query: str = "", **request: Any) -> list[dict[str, Any]]:
    status, answer = world.request("POST", f"/jobs/{job['job_id']}/backfill{query}", request)
    assert status == 201, answer
    return answer["items"]


def hours(items: list[dict[str, Any]]) -> list[int]:
    return [int(one["scheduled_at"][11:13]) for one in items]


def backfilled(world: World, job: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in world.executions(job["job_id"]) if one["origin"] == "backfill"]


def test_each_instant_of_the_range_runs_once_with_its_own_window(world: World) -> None:
    job = world.submit(schedule=HOURLY, window="hour")
    created = backfill(world, job, **MORNING)
    assert hours(created) == [6, 7, 8]
    world.run_until_idle()
    ran = backfilled(world, job)
    assert [one["status"] for one in ran] == ["succeeded"] * 3
    assert [(one["window"]["start"], one["window"]["end"]) for one in ran] == [
        ("2026-11-16T05:00:00.000Z", "2026-11-16T06:00:00.000Z"),
        ("2026-11-16T06:00:00.000Z", "2026-11-16T07:00:00.000Z"),
        ("2026-11-16T07:00:00.000Z", "2026-11-16T08:00:00.000Z"),
    ]
    assert [one["scheduled_at"] for one in created] == [one["scheduled_at"] for one in ran]


def test_a_weekly_data_window_spans_a_daylight_saving_change(world: World, lane: LongLane) -> None:
    schedule = {"cron": "0 2 * * SUN", "timezone": "America/New_York"}
    job = lane.submit(schedule=schedule, window="week")
    two_weeks = {"from": "2026-11-01T00:00:00Z", "to": "2026-11-09T00:00:00Z"}
    created = backfill(world, job, **two_weeks)
    assert [(one["window"]["start"], one["window"]["end"]) for one in created] == [
        ("2026-10-25T04:00:00.000Z", "2026-11-01T04:00:00.000Z"),
        ("2026-11-01T04:00:00.000Z", "2026-11-08T05:00:00.000Z"),
    ]
    world.run_until_idle()
    first, second = (one["execution_id"] for one in created)
    assert lane.runs() == [first], "a waiting execution must not have a state machine run"
    assert world.request("PUT", f"/executions/{first}/cancel")[0] == 200
    world.run_until_idle()
    assert lane.runs() == sorted([first, second])


def test_a_backfilled_part_does_not_overtake_waiting_parts(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 2 * * SUN"})
    [past] = backfill(world, job, **{"from": "2026-01-01T00:00:00Z", "to": "2026-01-05T00:00:00Z"})
    world.run_until_idle()
    run = {"job_id": job["job_id"], "execution_id": past["execution_id"], "run_arn": "arn:run"}
    world.call("conductor", {"do": "next_parts", **run})
    [part] = world.execution(past["execution_id"])["parts"]
    assert part["latest_start"] > "2026-11-16T12:00"


def test_the_deadline_of_a_backfill_counts_from_its_request(world: World) -> None:
    job = world.submit(schedule=HOURLY, deadline={"within_seconds": 600})
    backfill(world, job, **MORNING)
    assert {one["deadline"]["at"] for one in backfilled(world, job)} == {"2026-11-16T12:10:00.000Z"}


def test_an_instant_with_an_execution_is_backfilled_only_on_request(world: World) -> None:
    job = world.submit(task="fail", schedule=HOURLY, parameters={"fatal": True})
    world.run_until_idle()
    first = backfill(world, job, **MORNING)
    world.run_until_idle()
    assert backfill(world, job, **MORNING) == []
    again = backfill(world, job, which="missing_and_failed", **MORNING)
    assert [one["execution_id"] for one in again] == [f"{one['execution_id']}-2" for one in first]
    assert backfill(world, job, which="missing_and_failed", **MORNING) == []  # the new executions have not finished


def test_a_succeeded_instant_runs_again_only_with_all(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    backfill(world, job, **MORNING)
    world.run_until_idle()
    assert backfill(world, job, which="missing_and_failed", **MORNING) == []
    assert hours(backfill(world, job, which="all", **MORNING)) == [6, 7, 8]


def test_newest_first_reverses_the_order(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    assert hours(backfill(world, job, order="newest_first", **MORNING)) == [8, 7, 6]


Reorder = Callable[[list[Any]], list[Any]]
NIGHT = {"from": "2026-11-16T00:00:00Z", "to": "2026-11-16T08:00:00Z"}


def unchanged(items: list[Any]) -> list[Any]:
    return items


def reverse(items: list[Any]) -> list[Any]:
    return items[::-1]


def shuffled(items: list[Any]) -> list[Any]:
    return random.Random(7).sample(items, len(items))


def record_starts(runs: int) -> list[str]:
    """A list that receives the execution ids of the next runs, in the order of their starts."""
    started: list[str] = []
    TASK_BODIES.extend([lambda context: started.append(context.execution_id)] * runs)
    return started


def backfill_night(world: World, **how: Any) -> tuple[dict[str, Any], list[str]]:
    job = world.submit(task="test.scripted", schedule=HOURLY)
    world.run_until_idle()
    return job, [one["execution_id"] for one in backfill(world, job, **NIGHT, **how)]


def deliver_until_idle(world: World, records: Reorder = unchanged, messages: Reorder = unchanged) -> None:
    """Deliver records and messages, reordered, until none is left."""
    while True:
        delivered = world.deliver_streams(records)
        found: list[Any] = []
        while some := world.orders():
            found += some
        for message in messages(found):
            world.work(message)
        if not delivered and not found:
            return


@pytest.mark.parametrize("order", ["oldest_first", "newest_first"])
@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize(("records", "messages"), [(unchanged, reverse), (reverse, unchanged), (shuffled, shuffled)])
def test_executions_start_in_the_requested_order_although_records_and_messages_are_reordered(
    world: World, order: str, at_once: int, records: Reorder, messages: Reorder
) -> None:
    _, requested = backfill_night(world, order=order, at_once=at_once)
    started = record_starts(8)
    assert requested == sorted(requested, reverse=order == "newest_first")
    deliver_until_idle(world, records, messages)
    assert sorted(started) == sorted(requested)
    for earlier, later in zip(requested, requested[at_once:], strict=False):
        assert started.index(earlier) < started.index(later)
    assert world.items("gates") == []


def test_a_waiting_execution_names_what_it_waits_for_and_has_no_message(world: World) -> None:
    _, [first, second, *others] = backfill_night(world)
    world.deliver_streams()
    assert len(world.orders()) == 1
    assert [world.execution(one)["status"] for one in (first, second, *others)] == ["queued"] + ["waiting"] * 7
    waiting_for = world.execution(others[0])["waiting_for"]
    assert (waiting_for["what"], waiting_for["executions"], waiting_for["ahead"]) == ("executions", [first], 1)
    assert waiting_for["detail"] == f"waits for {first}"


def test_executions_in_the_long_lane_start_in_the_requested_order(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 2 * * SUN"})
    weeks = {"from": "2026-10-10T00:00:00Z", "to": "2026-10-31T00:00:00Z"}
    requested = [one["execution_id"] for one in backfill(world, job, order="newest_first", **weeks)]
    for number, one in enumerate(requested, start=1):
        while world.deliver_streams(reverse):
            pass
        assert set(lane.runs()) == set(requested[:number])
        assert world.request("PUT", f"/executions/{one}/cancel")[0] == 200


def test_a_redelivered_record_changes_nothing(world: World) -> None:
    _, requested = backfill_night(world)
    records = world.stream_records("executions", "planner")
    started = record_starts(8)
    for _ in range(30):
        world.call("planner", {"Records": records})
        for message in world.orders():
            world.work(message)
        world.deliver_streams()
    assert started == requested
    world.run_until_idle()
    assert world.items("gates") == []


def test_a_planner_crash_before_sending_is_repaired_by_the_sweep(world: World) -> None:
    class CrashingQueues:
        def send(self, *_: Any) -> None:
            raise Killed

    _, requested = backfill_night(world)
    records = world.stream_records("executions", "planner")
    module = world.function("planner")
    original = module.sender
    module.sender = replace(original, work_queues=CrashingQueues())
    with pytest.raises(Killed):
        world.call("planner", {"Records": records})
    module.sender = original
    started = record_starts(8)
    world.run_until_idle()
    assert started == []
    world.pass_time(125)  # the record is not redelivered: it is in the dead-letter queue
    world.tick()
    world.run_until_idle()
    assert started == requested
    assert world.items("gates") == []


@pytest.mark.parametrize("after", [0, 1, 3, 4])
def test_after_a_crash_in_a_backfill_request_the_stored_executions_run_and_nothing_else_is_left(
    world: World, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "NEW_WAITERS_PER_TRANSACTION", 2)  # four transactions store, the fifth grants
    job = world.submit(task="test.scripted", schedule=HOURLY)
    world.run_until_idle()
    with crash_at("TransactWriteItems", after):
        try:
            backfill(world, job, at_once=4, **NIGHT)
        except Killed:
            pass
        else:
            raise AssertionError("the request did not crash")
    stored = [one["execution_id"] for one in backfilled(world, job)]
    assert len(stored) == min(2 * after, 8)
    started = record_starts(8)
    world.tick()
    deliver_until_idle(world, reverse)
    assert sorted(started) == stored
    world.pass_time(61)
    world.tick()
    world.tick()
    assert world.items("gates") == []
    backfill(world, job, **NIGHT)
    world.run_until_idle()
    assert len(started) == 8


def test_cancelling_a_queued_execution_starts_the_next_one(world: World) -> None:
    _, [first, second, third, *others] = backfill_night(world)
    started = record_starts(8)
    assert world.request("PUT", f"/executions/{first}/cancel")[0] == 200
    world.deliver_streams()
    assert world.request("PUT", f"/executions/{third}/cancel")[0] == 200
    deliver_until_idle(world, reverse, reverse)
    assert started == [second, *others]
    assert world.items("gates") == []


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_pause_skips_waiting_executions_and_leaves_no_gate_entry(world: World, at_once: int) -> None:
    job, requested = backfill_night(world, at_once=at_once)
    world.deliver_streams()
    world.pass_time(1)
    assert world.request("POST", f"/jobs/{job['job_id']}/pause")[0] == 200
    world.run_until_idle()
    world.tick()
    world.run_until_idle()
    assert {world.execution(one)["status"] for one in requested} == {"skipped"}
    assert world.items("gates") == []


@pytest.mark.parametrize("seconds", [0, 1])
@pytest.mark.parametrize("stored", [0, 1, 2])
def test_concurrent_requests_for_the_same_range_create_each_instant_once(
    world: World, seconds: int, stored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gates, "NEW_WAITERS_PER_TRANSACTION", 1)
    job = world.submit(task="test.scripted", schedule=HOURLY)
    world.run_until_idle()
    answers: list[list[str]] = []

    def request() -> None:
        answers.append([one["execution_id"] for one in backfill(world, job, **MORNING)])

    def request_concurrently() -> None:
        world.pass_time(seconds)
        request()

    with just_before("TransactWriteItems", request_concurrently, on_table("executions"), after=stored):
        request()
    started = record_starts(3)
    world.tick()
    world.pass_time(seconds)
    deliver_until_idle(world, reverse, reverse)
    assert sorted(started) == sorted([*answers[0], *answers[1]])
    assert [int(one[9:11]) for one in sorted(started)] == [6, 7, 8]
    world.pass_time(61)
    world.tick()
    assert world.items("gates") == []


def test_a_dry_run_shows_the_backfill_and_stores_nothing(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    before = world.items("executions"), world.items("jobs")
    status, preview = world.request("POST", f"/jobs/{job['job_id']}/backfill?dry_run=true", MORNING)
    assert status == 200
    assert (hours(preview["appear"]), preview["vanish"], preview["repeat"]) == ([6, 7, 8], [], [])
    assert (world.items("executions"), world.items("jobs")) == before


def test_the_schedule_continues_during_a_backfill(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    backfill(world, job, **MORNING)
    world.run_for(3700, step=20)
    own = [one for one in world.executions(job["job_id"]) if one["origin"] == "schedule"]
    assert [(one["scheduled_at"][11:13], one["status"]) for one in own] == [
        ("12", "succeeded"),
        ("13", "succeeded"),
        ("14", "scheduled"),
    ]


def test_a_backfill_leaves_instants_to_the_schedule_that_it_has_yet_to_plan(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.run_until_idle()
    world.pass_time(1800)  # an outage: nothing was planned
    created = backfill(world, job, **{"from": "2026-11-16T12:00:00Z", "to": "2026-11-16T12:30:00Z"})
    assert created == []


def test_a_manual_run_in_an_outage_does_not_count_as_the_last_planned_execution(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.run_until_idle()
    world.pass_time(1800)
    assert world.request("POST", f"/jobs/{job['job_id']}/run", {})[0] == 201
    created = backfill(world, job, **{"from": "2026-11-16T12:20:00Z", "to": "2026-11-16T12:30:00Z"})
    assert created == []


def test_deleting_a_job_cancels_its_backfills_that_have_not_started(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.run_until_idle()
    long_ago = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T02:00:00Z"}
    backfill(world, job, **long_ago)
    world.deliver_streams()
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.deliver_streams()
    assert [(one["status"], one["reason"]) for one in backfilled(world, job)] == [("cancelled", "job deleted")] * 2


def test_an_edit_does_not_change_requested_backfills(world: World) -> None:
    job = world.submit(schedule=HOURLY, parameters={"a": 1})
    world.run_until_idle()
    backfill(world, job, **MORNING)
    world.request("PATCH", f"/jobs/{job['job_id']}", {"parameters": {"a": 2}, "schedule": {"cron": "30 * * * *"}})
    world.run_until_idle()
    assert [(one["status"], one["parameters"]) for one in backfilled(world, job)] == [("succeeded", {"a": 1})] * 3


@pytest.mark.parametrize(
    ("submission", "request_", "field", "words"),
    [
        ({}, MORNING, "schedule", "runs once"),
        ({"schedule": {"queue": True}}, MORNING, "schedule", "runs for every message"),
        ({"schedule": HOURLY}, {"from": "x", "to": "2026-11-16T09:00:00Z"}, "from", "is not an instant"),
        ({"schedule": HOURLY}, {**MORNING, "to": "2026-11-16T05:00:00Z"}, "to", "is not after from"),
        ({"schedule": HOURLY}, {**MORNING, "to": "2026-11-17T05:00:00Z"}, "to", "is in the future"),
        ({"schedule": {"cron": "* * * * *"}}, {**MORNING, "from": "2026-11-01T05:00:00Z"}, "to", "more than 1,000"),
        ({"schedule": HOURLY}, {**MORNING, "which": "some"}, "which", "missing_and_failed"),
        ({"schedule": HOURLY}, {"to": "2026-11-16T09:00:00Z"}, "from", "required"),
    ],
)
def test_an_invalid_backfill_is_refused_and_names_the_field(
    world: World, submission: dict[str, Any], request_: dict[str, Any], field: str, words: str
) -> None:
    job = world.submit(**submission)
    before = world.items("executions")
    status, problem = world.request("POST", f"/jobs/{job['job_id']}/backfill", request_)
    assert status == 422
    [error] = problem["errors"]
    assert error["field"] == field
    assert words in error["message"]
    assert world.items("executions") == before


def test_only_an_operator_of_the_owning_team_may_backfill_a_job(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    path = f"/jobs/{job['job_id']}/backfill"
    assert world.request("POST", path, MORNING, role="viewer")[0] == 403
    assert world.request("POST", path, MORNING, team="others")[0] == 403
    assert world.request("POST", "/jobs/01kxq0v9m3c8e7w2r5t4y6h1nb/backfill", MORNING)[0] == 404
    world.request("DELETE", f"/jobs/{job['job_id']}")
    assert world.request("POST", path, MORNING)[0] == 409


def test_a_backfill_runs_at_most_at_once_executions_concurrently(world: World) -> None:
    job = world.submit(task="test.scripted", schedule={"cron": "0 * * * *"})
    world.run_until_idle()
    day = {"from": "2026-11-16T00:00:00Z", "to": "2026-11-16T05:00:00Z", "at_once": 2}
    answer, stored = world.request("POST", f"/jobs/{job['job_id']}/backfill", day)
    assert (answer, len(stored["items"])) == (201, 5)
    orders = work_orders(world)
    created = [one["execution_id"] for one in stored["items"]]

    def look() -> None:
        for order in orders[2:]:
            world.work(order)
        found = [world.execution(one)["status"] for one in created]
        assert found == ["running"] * 2 + ["waiting"] * 3

    orders = [order for order in orders if json.loads(order["body"])["execution_id"] in created]
    run_nested(world, orders[:2], look)
    world.run_until_idle()
    assert [world.execution(one)["status"] for one in created] == ["succeeded"] * 5


def test_a_backfill_with_a_high_at_once_starts_as_many_executions_at_once(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    day = {"from": "2026-11-15T00:00:00Z", "to": "2026-11-15T23:00:00Z"}
    backfill(world, job, at_once=22, **day)
    statuses = [one["status"] for one in backfilled(world, job)]
    assert (statuses.count("queued"), statuses.count("waiting")) == (22, 1)
