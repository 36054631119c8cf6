"""Jobs that wait for other jobs: conditions, graphs, windows, deadlines, both lanes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text, to_text
from tests.integration.dependants import NO_RETRY, after, batch, in_an_hour, layers, only, outcome, plan
from tests.integration.long_lane import LongLane
from tests.integration.world import World

# conditions


@pytest.mark.parametrize(
    ("ends", "condition", "expected"),
    [
        ("succeeded", "succeeded", "succeeded"),
        ("succeeded", "finished", "succeeded"),
        ("succeeded", "failed", "skipped"),
        ("failed", "succeeded", "skipped"),
        ("failed", "finished", "succeeded"),
        ("failed", "failed", "succeeded"),
        ("timed_out", "succeeded", "skipped"),
        ("timed_out", "finished", "succeeded"),
        ("timed_out", "failed", "succeeded"),
    ],
)
def test_a_condition_decides_whether_an_end_lets_the_dependant_go(
    world: World, ends: str, condition: str, expected: str
) -> None:
    tasks: dict[str, dict[str, Any]] = {
        "succeeded": {"task": "echo"},
        "failed": {"task": "fail", "parameters": {"fatal": True}},
        "timed_out": {"task": "test.dawdle", "timeout_seconds": 1, "retry": NO_RETRY},
    }
    first = world.submit(name="first", **tasks[ends])
    second = world.submit(name="second", depends_on=after(first, condition=condition))
    plan(world)
    assert outcome(world, second) == ("waiting", f"waits for first: {only(world, first)['execution_id']}")
    world.settle_down()
    status, reason = outcome(world, second)
    assert status == expected
    if expected == "skipped":
        assert reason == f"upstream {ends.replace('_', ' ')}: first ({only(world, first)['execution_id']})"
    else:
        assert reason is None
    assert world.request("GET", f"/jobs/{second['job_id']}")[1]["state"] == "done"


def test_a_dependant_of_what_has_ended_already_runs_at_once(world: World) -> None:
    first = world.submit()
    world.settle_down()
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert outcome(world, second) == ("succeeded", None)
    assert not [item for item in world.items("timers") if "upstream" in item["due"]["S"]]


def test_a_dependant_of_what_has_failed_already_is_skipped_at_once(world: World) -> None:
    first = world.submit(name="first", task="fail", parameters={"fatal": True})
    world.settle_down()
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream failed: first ({only(world, first)['execution_id']})")


def test_an_upstream_that_is_tried_again_is_waited_for(world: World) -> None:
    first = world.submit(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 60})
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert [only(world, first)["status"], only(world, second)["status"]] == ["retrying", "waiting"]
    world.run_for(90, step=5)
    assert [only(world, first)["status"], only(world, second)["status"]] == ["succeeded", "succeeded"]


def test_a_dependant_does_not_start_before_its_own_due_instant(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first), schedule={"at": to_text(world.now + timedelta(seconds=200))})
    world.settle_down()
    assert only(world, second)["status"] == "queued"
    world.run_for(210, step=10)
    execution = only(world, second)
    assert execution["status"] == "succeeded"
    assert from_text(execution["started_at"]) >= from_text(execution["scheduled_at"])


def test_a_dependant_shows_what_it_waits_for(world: World) -> None:
    first, other = world.submit(name="first"), world.submit(name="other")
    job = world.submit(depends_on=[*after(first), *after(other, condition="finished")])
    assert job["depends_on"] == [
        {"job": first["job_id"], "condition": "succeeded"},
        {"job": other["job_id"], "condition": "finished"},
    ]
    plan(world)
    execution = world.execution(only(world, job)["execution_id"])
    assert execution["reason"] == f"waits for first: {only(world, first)['execution_id']} and 1 more"
    assert execution["upstreams"] == [
        {
            "job_id": one["job_id"],
            "name": one["name"],
            "condition": condition,
            "execution_id": only(world, one)["execution_id"],
            "status": "queued",
        }
        for one, condition in ((first, "succeeded"), (other, "finished"))
    ]
    assert world.execution(only(world, first)["execution_id"])["upstreams"] is None
    world.settle_down()
    shown = world.execution(only(world, job)["execution_id"])["upstreams"]
    assert [one["status"] for one in shown] == ["succeeded", "succeeded"]


# graphs


def test_fan_in_waits_for_all_and_fan_out_lets_all_go(world: World) -> None:
    sources = [world.submit() for _ in range(5)]
    middle = world.submit(depends_on=after(*sources))
    sinks = [world.submit(depends_on=after(middle)) for _ in range(5)]
    plan(world)
    *some, last = world.orders()
    for order in some:
        world.work(order)
    plan(world)
    assert only(world, middle)["status"] == "waiting"
    world.pass_time(30)
    world.work(last)
    world.settle_down()
    assert {only(world, one)["status"] for one in (*sources, middle, *sinks)} == {"succeeded"}
    assert all(only(world, one)["attempt"] == 1 for one in (middle, *sinks))
    assert from_text(only(world, middle)["started_at"]) == world.now


def test_a_diamond_ends_once_however_its_middle_ends(world: World) -> None:
    top, left, right, bottom, cleanup = batch(
        world,
        {"name": "bottom-up", "depends_on": []},
        {"name": "left", "depends_on": [{"job": "bottom-up"}]},
        {"name": "right", "task": "fail", "parameters": {"fatal": True}, "depends_on": [{"job": "bottom-up"}]},
        {"name": "all", "depends_on": [{"job": "left"}, {"job": "right", "condition": "finished"}]},
        {"name": "cleanup", "depends_on": [{"job": "right", "condition": "failed"}, {"job": "all"}]},
    )
    world.settle_down()
    assert [only(world, one)["status"] for one in (top, left, right, bottom, cleanup)] == [
        "succeeded",
        "succeeded",
        "failed",
        "succeeded",
        "succeeded",
    ]
    assert all(only(world, one)["attempt"] == 1 for one in (top, left, right, bottom, cleanup))


def test_skips_go_down_the_whole_chain_and_each_names_its_own_upstream(world: World) -> None:
    chain = batch(
        world,
        {"name": "d", "depends_on": [{"job": "c"}]},
        {"name": "c", "depends_on": [{"job": "b"}]},
        {"name": "b", "depends_on": [{"job": "a"}]},
        {"name": "a", "task": "fail", "parameters": {"fatal": True}},
        {"name": "always", "depends_on": [{"job": "a", "condition": "finished"}]},
    )
    world.settle_down()
    d, c, b, a, always = (only(world, one) for one in chain)
    assert (a["status"], always["status"]) == ("failed", "succeeded")
    assert [(one["status"], one["reason"]) for one in (b, c, d)] == [
        ("skipped", f"upstream failed: a ({a['execution_id']})"),
        ("skipped", f"upstream skipped: b ({b['execution_id']})"),
        ("skipped", f"upstream skipped: c ({c['execution_id']})"),
    ]


def test_a_graph_of_a_thousand_jobs_is_taken_in_one_batch(world: World) -> None:
    jobs = batch(world, *layers(depth=10, width=100))
    assert len(jobs) == 1000
    by_name = {one["name"]: one["job_id"] for one in jobs}
    _, deepest = world.request("GET", f"/jobs/{by_name['9-99']}")
    assert [one["job"] for one in deepest["depends_on"]] == [by_name[name] for name in ("8-99", "8-0", "8-1")]


def test_a_graph_runs_through_layer_by_layer(world: World) -> None:
    jobs = {one["name"]: one for one in batch(world, *layers(depth=6, width=10))}
    for _ in range(40):
        world.settle_down()
        world.pass_time(1)
    ran = {name: only(world, job) for name, job in jobs.items()}
    assert {one["status"] for one in ran.values()} == {"succeeded"}
    assert {one["attempt"] for one in ran.values()} == {1}
    for name, execution in ran.items():
        layer, number = map(int, name.split("-"))
        for n in range(3) if layer else ():
            upstream = ran[f"{layer - 1}-{(number + n) % 10}"]
            assert from_text(upstream["ended_at"]) <= from_text(execution["started_at"])


# recurring jobs


def pairs(world: World, first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Of two recurring jobs, the executions with the same window that have ended."""
    upstreams = {one["window"]["start"]: one for one in world.executions(first["job_id"])}
    for one in world.executions(second["job_id"]):
        if one["status"] in ("succeeded", "skipped", "failed"):
            yield upstreams.get(one["window"]["start"]), one


def test_a_recurring_job_waits_for_the_execution_of_the_same_window(world: World) -> None:
    schedule = {"cron": "*/2 * * * *"}
    first = world.submit(name="first", task="sleep", parameters={"seconds": 0.01}, schedule=schedule)
    second = world.submit(schedule=schedule, depends_on=after(first))
    world.run_for(605, step=5)
    ended = list(pairs(world, first, second))
    assert len(ended) >= 4
    for upstream, dependant in ended:
        assert dependant["status"] == "succeeded"
        assert dependant["attempt"] == 1
        assert upstream["window"] == dependant["window"]
        assert from_text(upstream["ended_at"]) <= from_text(dependant["started_at"])
    dues = [from_text(one["scheduled_at"]) for one in world.executions(second["job_id"])]
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(minutes=2)}


def test_what_is_held_back_still_leads_on_to_its_successors(world: World) -> None:
    schedule = {"every_seconds": 60}
    first, second = batch(
        world, {"name": "first", "schedule": schedule}, {"schedule": schedule, "depends_on": [{"job": "first"}]}
    )
    for _ in range(8):
        world.tick()
        plan(world)  # nobody works
        world.pass_time(60)
    dues = [from_text(one["scheduled_at"]) for one in world.executions(second["job_id"])]
    assert len(dues) >= 9
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(seconds=60)}
    world.settle_down()
    for upstream, dependant in pairs(world, first, second):
        assert (upstream["status"], dependant["status"]) == ("succeeded", "succeeded")


def test_a_recurring_dependant_may_be_due_before_its_upstream_and_waits_for_it(world: World) -> None:
    first = world.submit(schedule={"cron": "40 12 * * *"}, window="day")
    second = world.submit(schedule={"cron": "20 12 * * *"}, window="day", depends_on=after(first))
    world.run_for(1500, step=60)
    assert world.executions(second["job_id"])[0]["status"] == "waiting"
    world.run_for(1080, step=60)
    [(upstream, dependant)] = pairs(world, first, second)
    assert dependant["status"] == "succeeded"
    assert from_text(dependant["started_at"]) >= from_text(upstream["ended_at"])


def test_each_failed_window_skips_its_dependant_and_no_other(world: World) -> None:
    schedule = {"every_seconds": 60}
    first, second = batch(
        world,
        {"name": "first", "task": "fail", "parameters": {"fatal": True}, "schedule": schedule},
        {"schedule": schedule, "depends_on": [{"job": "first"}]},
    )
    world.run_for(200, step=10)
    ended = list(pairs(world, first, second))
    assert len(ended) >= 3
    for upstream, dependant in ended:
        assert dependant["reason"] == f"upstream failed: first ({upstream['execution_id']})"


def test_a_window_that_its_upstream_never_ran_for_is_skipped_with_the_reason(world: World) -> None:
    first = world.submit(name="first", schedule={"cron": "0 11 * * *"}, window="day")
    second = world.submit(schedule={"cron": "2 12 * * *"}, window="day", depends_on=after(first))
    world.settle_down()
    skipped = world.executions(second["job_id"])[0]
    assert skipped["status"] == "skipped"
    assert skipped["reason"].startswith("upstream has no execution of this window: first (20261116T110000000Z-")


def test_a_deleted_recurring_upstream_skips_what_comes_after(world: World) -> None:
    schedule = {"cron": "*/10 * * * *"}
    first = world.submit(name="first", schedule=schedule)
    second = world.submit(schedule=schedule, depends_on=after(first))
    world.settle_down()
    world.request("DELETE", f"/jobs/{first['job_id']}")
    world.run_for(1300, step=60)
    reasons = [one["reason"] for one in world.executions(second["job_id"]) if one["status"] == "skipped"]
    assert len(reasons) >= 2
    assert all(reason.startswith("upstream deleted: first") for reason in reasons)


def test_a_backfilled_dependant_waits_for_the_upstream_of_its_window(world: World) -> None:
    schedule = {"cron": "0 * * * *"}
    first = world.submit(name="first", schedule=schedule)
    second = world.submit(schedule=schedule, depends_on=after(first))
    morning = {"from": "2026-11-16T09:00:00Z", "to": "2026-11-16T11:00:00Z"}
    assert world.request("POST", f"/jobs/{first['job_id']}/backfill", morning)[0] == 201
    longer = {**morning, "to": "2026-11-16T12:00:00Z"}
    assert world.request("POST", f"/jobs/{second['job_id']}/backfill", longer)[0] == 201
    world.settle_down()
    past = [one for one in world.executions(second["job_id"]) if one["origin"] == "backfill"]
    assert [one["status"] for one in past] == ["succeeded", "succeeded", "skipped"]
    assert past[-1]["reason"].startswith("upstream has no execution of this window: first (20261116T110000000Z-")


# deadlines


def test_the_deadline_of_a_dependant_counts_how_long_its_upstream_still_takes(world: World, lane: LongLane) -> None:
    first = lane.submit(name="load", expected_seconds=7200)
    second = world.submit(depends_on=after(first), expected_seconds=60, deadline={"within_seconds": 3600})
    world.settle_down()
    deadline = world.execution(only(world, second)["execution_id"])["deadline"]
    assert deadline["state"] == "will_miss"
    assert deadline["cause"].startswith("not started: waits for load, which will take about 2 hours more")
    world.run_for(660, step=60)
    world.look()
    assert only(world, second)["deadline"]["state"] == "will_miss"


# the long lane


def test_a_long_dependant_starts_its_state_machine_when_its_upstream_has_ended(world: World, lane: LongLane) -> None:
    first = world.submit()
    near = lane.submit(depends_on=after(first))
    plan(world)
    assert only(world, near)["status"] == "waiting"
    assert lane.runs() == []
    world.settle_down()
    assert lane.runs() == [only(world, near)["execution_id"]]


def test_a_long_dependant_far_ahead_waits_for_a_timer_and_not_for_a_schedule(world: World, lane: LongLane) -> None:
    at = {"at": to_text(world.now + timedelta(minutes=30))}
    first = world.submit(schedule=at)
    far = lane.submit(schedule=at, depends_on=after(first))
    world.settle_down()
    assert only(world, far)["status"] == "scheduled"
    assert lane.schedules() == {}
    lane.reconcile()
    assert lane.schedules() == {}
    world.run_for(1700, step=60)
    assert only(world, far)["status"] == "waiting"
    lane.reconcile()
    assert only(world, far)["status"] == "waiting"
    assert lane.runs() == []
    world.run_for(180, step=20)
    assert lane.runs() == [only(world, far)["execution_id"]]


def test_a_long_job_that_comes_to_depend_on_another_is_not_started_by_the_schedule_it_had(
    world: World, lane: LongLane
) -> None:
    at = {"at": to_text(world.now + timedelta(minutes=30))}
    first = world.submit(schedule=in_an_hour(world))
    second = lane.submit(schedule=at)
    world.settle_down()
    assert len(lane.schedules()) == 1
    assert world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": after(first)})[0] == 200
    world.settle_down()
    assert lane.schedules() == {}
    assert lane.next(second, run="fired all the same")["parts"] == []
    assert only(world, second)["status"] == "scheduled"


def test_a_short_dependant_of_a_long_job_goes_when_that_has_ended(world: World, lane: LongLane) -> None:
    first = lane.submit()
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert only(world, second)["status"] == "waiting"
    world.request("PUT", f"/executions/{only(world, first)['execution_id']}/cancel")
    world.settle_down()
    assert outcome(world, second)[0] == "skipped"


def test_the_same_schedule_and_window_meet_also_where_a_calendar_moves_runs_to_monday(world: World) -> None:
    daily = {"cron": "0 2 * * *", "skip": ["weekends"], "on_skip": "next_business_day"}
    load = world.submit(name="load", schedule=daily, window="week")
    report = world.submit(name="report", schedule=daily, window="week", depends_on=after(load))
    world.settle_down()
    world.run_for(15 * 3600, step=300)  # until Tuesday 03:00
    first, second = (world.executions(job["job_id"])[0] for job in (load, report))
    assert (second["scheduled_at"], second["window"]) == (first["scheduled_at"], first["window"])
    assert (first["status"], second["status"], second["reason"]) == ("succeeded", "succeeded", None)
