"""Due instants of the past, asked for by a person."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.keyed import nested, ordered
from tests.integration.long_lane import LongLane
from tests.integration.mishaps import dying_at, just_before, to
from tests.integration.odd_tasks import MEANWHILE, Killed
from tests.integration.world import World

HOURLY = {"cron": "0 * * * *"}
MORNING = {"from": "2026-11-16T06:00:00Z", "to": "2026-11-16T09:00:00Z"}


def backfill(world: World, job: dict[str, Any], query: str = "", **request: Any) -> list[dict[str, Any]]:
    status, answer = world.request("POST", f"/jobs/{job['job_id']}/backfill{query}", request)
    assert status == 201, answer
    return answer["items"]


def hours(items: list[dict[str, Any]]) -> list[int]:
    return [int(one["scheduled_at"][11:13]) for one in items]


def of_the_past(world: World, job: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in world.executions(job["job_id"]) if one["origin"] == "backfill"]


def test_each_instant_of_the_range_runs_once_with_its_own_window(world: World) -> None:
    job = world.submit(schedule=HOURLY, window="hour")
    asked_for = backfill(world, job, **MORNING)
    assert hours(asked_for) == [6, 7, 8]
    world.settle_down()
    ran = of_the_past(world, job)
    assert [one["status"] for one in ran] == ["succeeded"] * 3
    assert [(one["window"]["start"], one["window"]["end"]) for one in ran] == [
        ("2026-11-16T05:00:00.000Z", "2026-11-16T06:00:00.000Z"),
        ("2026-11-16T06:00:00.000Z", "2026-11-16T07:00:00.000Z"),
        ("2026-11-16T07:00:00.000Z", "2026-11-16T08:00:00.000Z"),
    ]
    assert [one["scheduled_at"] for one in asked_for] == [one["scheduled_at"] for one in ran]


def test_a_week_of_the_past_is_a_week_across_the_change_of_clocks(world: World, lane: LongLane) -> None:
    schedule = {"cron": "0 2 * * SUN", "timezone": "America/New_York"}
    job = lane.submit(schedule=schedule, window="week")
    two_weeks = {"from": "2026-11-01T00:00:00Z", "to": "2026-11-09T00:00:00Z"}
    asked_for = backfill(world, job, **two_weeks)
    assert [(one["window"]["start"], one["window"]["end"]) for one in asked_for] == [
        ("2026-10-25T04:00:00.000Z", "2026-11-01T04:00:00.000Z"),
        ("2026-11-01T04:00:00.000Z", "2026-11-08T05:00:00.000Z"),
    ]
    world.settle_down()
    first, second = (one["execution_id"] for one in asked_for)
    assert lane.runs() == [first], "who waits has no state machine run"
    assert world.request("PUT", f"/executions/{first}/cancel")[0] == 200
    world.settle_down()
    assert lane.runs() == sorted([first, second])


def test_a_batch_of_the_past_does_not_overtake_those_who_wait(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 2 * * SUN"})
    [past] = backfill(world, job, **{"from": "2026-01-01T00:00:00Z", "to": "2026-01-05T00:00:00Z"})
    world.settle_down()
    run = {"job_id": job["job_id"], "execution_id": past["execution_id"], "run_arn": "arn:run"}
    world.call("conductor", {"do": "next", **run})
    [part] = world.execution(past["execution_id"])["parts"]
    assert part["latest_start"] > "2026-11-16T12:00"


def test_its_deadline_counts_from_when_it_was_asked_for(world: World) -> None:
    job = world.submit(schedule=HOURLY, deadline={"within_seconds": 600})
    backfill(world, job, **MORNING)
    assert {one["deadline"]["at"] for one in of_the_past(world, job)} == {"2026-11-16T12:10:00.000Z"}


def test_what_has_an_execution_is_left_alone_unless_it_is_asked_for(world: World) -> None:
    job = world.submit(task="fail", schedule=HOURLY, parameters={"fatal": True})
    world.settle_down()
    first = backfill(world, job, **MORNING)
    world.settle_down()
    assert backfill(world, job, **MORNING) == []
    again = backfill(world, job, which="missing_and_failed", **MORNING)
    assert [one["execution_id"] for one in again] == [f"{one['execution_id']}-2" for one in first]
    assert backfill(world, job, which="missing_and_failed", **MORNING) == []  # they have not ended yet


def test_what_succeeded_runs_again_only_with_all(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.settle_down()
    backfill(world, job, **MORNING)
    world.settle_down()
    assert backfill(world, job, which="missing_and_failed", **MORNING) == []
    assert hours(backfill(world, job, which="all", **MORNING)) == [6, 7, 8]


def test_the_newest_may_come_first(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.settle_down()
    assert hours(backfill(world, job, order="newest_first", **MORNING)) == [8, 7, 6]


Mix = Callable[[list[Any]], list[Any]]
NIGHT = {"from": "2026-11-16T00:00:00Z", "to": "2026-11-16T08:00:00Z"}


def as_they_come(things: list[Any]) -> list[Any]:
    return things


def backwards(things: list[Any]) -> list[Any]:
    return things[::-1]


def shuffled(things: list[Any]) -> list[Any]:
    return random.Random(7).sample(things, len(things))


def noted(runs: int) -> list[str]:
    """In which order they start."""
    started: list[str] = []
    MEANWHILE.extend([lambda context: started.append(context.execution_id)] * runs)
    return started


def asked_for_a_night(world: World, **how: Any) -> tuple[dict[str, Any], list[str]]:
    job = world.submit(task="test.meanwhile", schedule=HOURLY)
    world.settle_down()
    return job, [one["execution_id"] for one in backfill(world, job, **NIGHT, **how)]


def run_dry(world: World, records: Mix = as_they_come, messages: Mix = as_they_come) -> None:
    """Deliver all that comes, each time in another order, until nothing comes any more."""
    while True:
        moved = world.deliver_streams(records)
        found: list[Any] = []
        while some := world.orders():
            found += some
        for message in messages(found):
            world.work(message)
        if not moved and not found:
            return


@pytest.mark.parametrize("order", ["oldest_first", "newest_first"])
@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize(
    ("records", "messages"), [(as_they_come, backwards), (backwards, as_they_come), (shuffled, shuffled)]
)
def test_they_start_in_the_wished_order_however_records_and_messages_come(
    world: World, order: str, at_once: int, records: Mix, messages: Mix
) -> None:
    _, wished = asked_for_a_night(world, order=order, at_once=at_once)
    started = noted(8)
    assert wished == sorted(wished, reverse=order == "newest_first")
    run_dry(world, records, messages)
    assert sorted(started) == sorted(wished)
    for earlier, later in zip(wished, wished[at_once:], strict=False):
        assert started.index(earlier) < started.index(later)
    assert world.items("gates") == []


def test_who_has_to_wait_for_its_turn_says_for_whom_and_has_no_order(world: World) -> None:
    _, [first, second, *others] = asked_for_a_night(world)
    world.deliver_streams()
    assert len(world.orders()) == 1
    assert [world.execution(one)["status"] for one in (first, second, *others)] == ["queued"] + ["waiting"] * 7
    waiting_for = world.execution(others[0])["waiting_for"]
    assert (waiting_for["what"], waiting_for["executions"], waiting_for["ahead"]) == ("executions", [first], 1)
    assert waiting_for["detail"] == f"waits for {first}"


def test_in_the_long_lane_they_start_in_the_wished_order_too(world: World, lane: LongLane) -> None:
    job = lane.submit(schedule={"cron": "0 2 * * SUN"})
    weeks = {"from": "2026-10-10T00:00:00Z", "to": "2026-10-31T00:00:00Z"}
    wished = [one["execution_id"] for one in backfill(world, job, order="newest_first", **weeks)]
    for number, one in enumerate(wished, start=1):
        while world.deliver_streams(backwards):
            pass
        assert set(lane.runs()) == set(wished[:number])
        assert world.request("PUT", f"/executions/{one}/cancel")[0] == 200


def test_a_record_that_comes_again_at_any_time_changes_nothing(world: World) -> None:
    _, wished = asked_for_a_night(world)
    records = world.stream_records("executions", "planner")
    started = noted(8)
    for _ in range(30):
        world.call("planner", {"Records": records})
        for message in world.orders():
            world.work(message)
        world.deliver_streams()
    assert started == wished
    world.settle_down()
    assert world.items("gates") == []


def test_a_planner_that_dies_before_it_sends_is_made_up_for(world: World) -> None:
    class Dying:
        def send(self, *_: Any) -> None:
            raise Killed

    _, wished = asked_for_a_night(world)
    records = world.stream_records("executions", "planner")
    module = world.function("planner")
    alive = module.forwarder
    module.forwarder = replace(alive, lanes=Dying())
    with pytest.raises(Killed):
        world.call("planner", {"Records": records})
    module.forwarder = alive
    started = noted(8)
    world.settle_down()
    assert started == []
    world.pass_time(125)  # the record does not come again: it is in the dead-letter queue
    world.tick()
    world.settle_down()
    assert started == wished[:1]
    world.call("planner", {"Records": records})  # and now it does
    world.settle_down()
    assert started == wished
    assert world.items("gates") == []


@pytest.mark.parametrize("table", ["gates", "executions"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_of_a_call_that_broke_off_what_was_stored_runs_and_nothing_else_is_left(
    world: World, table: str, after: int
) -> None:
    job = world.submit(task="test.meanwhile", schedule=HOURLY)
    world.settle_down()
    with dying_at("UpdateItem" if table == "gates" else "PutItem", after, table):
        try:
            backfill(world, job, at_once=4, **NIGHT)
        except Killed:
            pass
        else:
            raise AssertionError("it did not break off")
    stored = [one["execution_id"] for one in of_the_past(world, job)]
    started = noted(8)
    world.tick()
    run_dry(world, backwards)
    assert sorted(started) == stored
    world.pass_time(61)
    world.tick()
    world.tick()
    assert world.items("gates") == []
    backfill(world, job, **NIGHT)
    world.settle_down()
    assert len(started) == 8


def test_one_that_is_cancelled_before_its_order_comes_lets_the_next_one_in(world: World) -> None:
    _, [first, second, third, *others] = asked_for_a_night(world)
    started = noted(8)
    assert world.request("PUT", f"/executions/{first}/cancel")[0] == 200
    world.deliver_streams()
    assert world.request("PUT", f"/executions/{third}/cancel")[0] == 200
    run_dry(world, backwards, backwards)
    assert started == [second, *others]
    assert world.items("gates") == []


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_pause_skips_those_in_line_and_leaves_nothing_behind(world: World, at_once: int) -> None:
    job, wished = asked_for_a_night(world, at_once=at_once)
    world.deliver_streams()
    world.pass_time(1)
    assert world.request("POST", f"/jobs/{job['job_id']}/pause")[0] == 200
    world.settle_down()
    world.tick()
    world.settle_down()
    assert {world.execution(one)["status"] for one in wished} == {"skipped"}
    assert world.items("gates") == []


@pytest.mark.parametrize("seconds", [0, 1])
@pytest.mark.parametrize("stored", [0, 1, 2])
def test_two_who_ask_for_the_same_at_once_get_each_instant_once(world: World, seconds: int, stored: int) -> None:
    job = world.submit(task="test.meanwhile", schedule=HOURLY)
    world.settle_down()
    answers: list[list[str]] = []

    def ask() -> None:
        answers.append([one["execution_id"] for one in backfill(world, job, **MORNING)])

    def meanwhile() -> None:
        world.pass_time(seconds)
        ask()

    with just_before("PutItem", meanwhile, to("executions"), after=stored):
        ask()
    started = noted(3)
    world.tick()
    world.pass_time(seconds)
    run_dry(world, backwards, backwards)
    assert sorted(started) == sorted([*answers[0], *answers[1]])
    assert [int(one[9:11]) for one in sorted(started)] == [6, 7, 8]
    world.pass_time(61)
    world.tick()
    assert world.items("gates") == []


def test_a_dry_run_shows_what_would_be_and_stores_nothing(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.settle_down()
    before = world.items("executions"), world.items("jobs")
    status, foreseen = world.request("POST", f"/jobs/{job['job_id']}/backfill?dry_run=true", MORNING)
    assert status == 200
    assert (hours(foreseen["appear"]), foreseen["vanish"], foreseen["repeat"]) == ([6, 7, 8], [], [])
    assert (world.items("executions"), world.items("jobs")) == before


def test_the_schedule_goes_on_beside_it(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.settle_down()
    backfill(world, job, **MORNING)
    world.run_for(3700, step=20)
    own = [one for one in world.executions(job["job_id"]) if one["origin"] == "schedule"]
    assert [(one["scheduled_at"][11:13], one["status"]) for one in own] == [
        ("12", "succeeded"),
        ("13", "succeeded"),
        ("14", "scheduled"),
    ]


def test_what_the_schedule_has_still_to_plan_is_its_own_business(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.settle_down()
    world.pass_time(1800)  # an outage: nothing was planned meanwhile
    asked_for = backfill(world, job, **{"from": "2026-11-16T12:00:00Z", "to": "2026-11-16T12:30:00Z"})
    assert asked_for == []


def test_in_an_outage_what_was_run_by_hand_does_not_pass_for_the_schedules_own(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 60})
    world.settle_down()
    world.pass_time(1800)
    assert world.request("POST", f"/jobs/{job['job_id']}/run", {})[0] == 201
    asked_for = backfill(world, job, **{"from": "2026-11-16T12:20:00Z", "to": "2026-11-16T12:30:00Z"})
    assert asked_for == []


def test_a_deleted_job_takes_along_what_was_asked_for_and_has_not_started(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    world.settle_down()
    long_ago = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-01T02:00:00Z"}
    backfill(world, job, **long_ago)
    world.deliver_streams()
    world.request("DELETE", f"/jobs/{job['job_id']}")
    world.deliver_streams()
    assert [(one["status"], one["reason"]) for one in of_the_past(world, job)] == [("cancelled", "job deleted")] * 2


def test_an_edit_leaves_what_was_asked_for_as_it_was(world: World) -> None:
    job = world.submit(schedule=HOURLY, parameters={"a": 1})
    world.settle_down()
    backfill(world, job, **MORNING)
    world.request("PATCH", f"/jobs/{job['job_id']}", {"parameters": {"a": 2}, "schedule": {"cron": "30 * * * *"}})
    world.settle_down()
    assert [(one["status"], one["parameters"]) for one in of_the_past(world, job)] == [("succeeded", {"a": 1})] * 3


@pytest.mark.parametrize(
    ("submission", "request_", "field", "words"),
    [
        ({}, MORNING, "schedule", "runs once"),
        ({"schedule": {"queue": True}}, MORNING, "schedule", "runs for every message"),
        ({"schedule": HOURLY}, {"from": "x", "to": "2026-11-16T09:00:00Z"}, "from", "is not an instant"),
        ({"schedule": HOURLY}, {**MORNING, "to": "2026-11-16T05:00:00Z"}, "to", "is not after from"),
        ({"schedule": HOURLY}, {**MORNING, "to": "2026-11-17T05:00:00Z"}, "to", "has not come yet"),
        ({"schedule": {"cron": "* * * * *"}}, {**MORNING, "from": "2026-11-01T05:00:00Z"}, "to", "more than 1,000"),
        ({"schedule": HOURLY}, {**MORNING, "which": "some"}, "which", "missing_and_failed"),
        ({"schedule": HOURLY}, {"to": "2026-11-16T09:00:00Z"}, "from", "required"),
    ],
)
def test_what_cannot_be_backfilled_is_refused_with_the_field_named(
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


def test_only_those_who_manage_the_job_may(world: World) -> None:
    job = world.submit(schedule=HOURLY)
    path = f"/jobs/{job['job_id']}/backfill"
    assert world.request("POST", path, MORNING, role="viewer")[0] == 403
    assert world.request("POST", path, MORNING, team="others")[0] == 403
    assert world.request("POST", "/jobs/01kxq0v9m3c8e7w2r5t4y6h1nb/backfill", MORNING)[0] == 404
    world.request("DELETE", f"/jobs/{job['job_id']}")
    assert world.request("POST", path, MORNING)[0] == 409


def test_a_backfill_runs_no_more_at_once_than_it_may(world: World) -> None:
    job = world.submit(task="test.meanwhile", schedule={"cron": "0 * * * *"})
    world.settle_down()
    day = {"from": "2026-11-16T00:00:00Z", "to": "2026-11-16T05:00:00Z", "at_once": 2}
    answer, stored = world.request("POST", f"/jobs/{job['job_id']}/backfill", day)
    assert (answer, len(stored["items"])) == (201, 5)
    orders = ordered(world)
    backfilled = [one["execution_id"] for one in stored["items"]]

    def look() -> None:
        for order in orders[2:]:
            world.work(order)
        found = [world.execution(one)["status"] for one in backfilled]
        assert found == ["running"] * 2 + ["waiting"] * 3

    orders = [order for order in orders if json.loads(order["body"])["execution_id"] in backfilled]
    nested(world, orders[:2], look)
    world.settle_down()
    assert [world.execution(one)["status"] for one in backfilled] == ["succeeded"] * 5
