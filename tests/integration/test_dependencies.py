"""Job dependencies: conditions, graphs, data windows, deadlines and both lanes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import from_text, to_text
from tests.integration.dependants import (
    NO_RETRY,
    after,
    batch,
    in_an_hour,
    layers,
    only_execution,
    plan,
    status_and_reason,
)
from tests.integration.long_lane import LongLane
from tests.integration.world import World

# conditions


@pytest.mark.parametrize(
    ("upstream_status", "condition", "expected"),
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
def test_the_condition_decides_whether_the_dependant_runs_or_is_skipped(
    world: World, upstream_status: str, condition: str, expected: str
) -> None:
    tasks: dict[str, dict[str, Any]] = {
        "succeeded": {"task": "echo"},
        "failed": {"task": "fail", "parameters": {"fatal": True}},
        "timed_out": {"task": "test.hang", "timeout_seconds": 1, "retry": NO_RETRY},
    }
    first = world.submit(name="first", **tasks[upstream_status])
    second = world.submit(name="second", depends_on=after(first, condition=condition))
    plan(world)
    assert status_and_reason(world, second) == (
        "waiting",
        f"waits for first: {only_execution(world, first)['execution_id']}",
    )
    world.run_until_idle()
    status, reason = status_and_reason(world, second)
    assert status == expected
    if expected == "skipped":
        assert (
            reason
            == f"upstream {upstream_status.replace('_', ' ')}: first ({only_execution(world, first)['execution_id']})"
        )
    else:
        assert reason is None
    assert world.request("GET", f"/jobs/{second['job_id']}")[1]["state"] == "done"


def test_a_dependant_of_a_finished_upstream_runs_immediately(world: World) -> None:
    first = world.submit()
    world.run_until_idle()
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert status_and_reason(world, second) == ("succeeded", None)
    assert not [item for item in world.items("timers") if "upstream" in item["due"]["S"]]


def test_a_dependant_of_a_failed_upstream_is_skipped_immediately(world: World) -> None:
    first = world.submit(name="first", task="fail", parameters={"fatal": True})
    world.run_until_idle()
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert status_and_reason(world, second) == (
        "skipped",
        f"upstream failed: first ({only_execution(world, first)['execution_id']})",
    )


def test_a_dependant_waits_while_its_upstream_is_retried(world: World) -> None:
    first = world.submit(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 60})
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert [only_execution(world, first)["status"], only_execution(world, second)["status"]] == ["retrying", "waiting"]
    world.run_for(90, step=5)
    assert [only_execution(world, first)["status"], only_execution(world, second)["status"]] == [
        "succeeded",
        "succeeded",
    ]


def test_a_dependant_does_not_start_before_its_own_due_instant(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first), schedule={"at": to_text(world.now + timedelta(seconds=200))})
    world.run_until_idle()
    assert only_execution(world, second)["status"] == "queued"
    world.run_for(210, step=10)
    execution = only_execution(world, second)
    assert execution["status"] == "succeeded"
    assert from_text(execution["started_at"]) >= from_text(execution["scheduled_at"])


def test_a_waiting_dependant_shows_its_upstreams(world: World) -> None:
    first, other = world.submit(name="first"), world.submit(name="other")
    job = world.submit(depends_on=[*after(first), *after(other, condition="finished")])
    assert job["depends_on"] == [
        {"job": first["job_id"], "condition": "succeeded"},
        {"job": other["job_id"], "condition": "finished"},
    ]
    plan(world)
    execution = world.execution(only_execution(world, job)["execution_id"])
    assert execution["reason"] == f"waits for first: {only_execution(world, first)['execution_id']} and 1 more"
    assert execution["upstreams"] == [
        {
            "job_id": one["job_id"],
            "job_name": one["name"],
            "condition": condition,
            "execution_id": only_execution(world, one)["execution_id"],
            "status": "queued",
        }
        for one, condition in ((first, "succeeded"), (other, "finished"))
    ]
    assert world.execution(only_execution(world, first)["execution_id"])["upstreams"] is None
    world.run_until_idle()
    shown = world.execution(only_execution(world, job)["execution_id"])["upstreams"]
    assert [one["status"] for one in shown] == ["succeeded", "succeeded"]


# graphs


def test_fan_in_waits_for_all_upstreams_and_fan_out_starts_all_dependants(world: World) -> None:
    sources = [world.submit() for _ in range(5)]
    middle = world.submit(depends_on=after(*sources))
    sinks = [world.submit(depends_on=after(middle)) for _ in range(5)]
    plan(world)
    *some, last = world.orders()
    for order in some:
        world.work(order)
    plan(world)
    assert only_execution(world, middle)["status"] == "waiting"
    world.pass_time(30)
    world.work(last)
    world.run_until_idle()
    assert {only_execution(world, one)["status"] for one in (*sources, middle, *sinks)} == {"succeeded"}
    assert all(only_execution(world, one)["attempt"] == 1 for one in (middle, *sinks))
    assert from_text(only_execution(world, middle)["started_at"]) == world.now


def test_each_job_of_a_diamond_runs_once_even_if_a_branch_fails(world: World) -> None:
    top, left, right, bottom, cleanup = batch(
        world,
        {"name": "bottom-up", "depends_on": []},
        {"name": "left", "depends_on": [{"job": "bottom-up"}]},
        {"name": "right", "task": "fail", "parameters": {"fatal": True}, "depends_on": [{"job": "bottom-up"}]},
        {"name": "all", "depends_on": [{"job": "left"}, {"job": "right", "condition": "finished"}]},
        {"name": "cleanup", "depends_on": [{"job": "right", "condition": "failed"}, {"job": "all"}]},
    )
    world.run_until_idle()
    assert [only_execution(world, one)["status"] for one in (top, left, right, bottom, cleanup)] == [
        "succeeded",
        "succeeded",
        "failed",
        "succeeded",
        "succeeded",
    ]
    assert all(only_execution(world, one)["attempt"] == 1 for one in (top, left, right, bottom, cleanup))


def test_a_failure_skips_the_whole_chain_and_each_skip_names_its_own_upstream(world: World) -> None:
    chain = batch(
        world,
        {"name": "d", "depends_on": [{"job": "c"}]},
        {"name": "c", "depends_on": [{"job": "b"}]},
        {"name": "b", "depends_on": [{"job": "a"}]},
        {"name": "a", "task": "fail", "parameters": {"fatal": True}},
        {"name": "always", "depends_on": [{"job": "a", "condition": "finished"}]},
    )
    world.run_until_idle()
    d, c, b, a, always = (only_execution(world, one) for one in chain)
    assert (a["status"], always["status"]) == ("failed", "succeeded")
    assert [(one["status"], one["reason"]) for one in (b, c, d)] == [
        ("skipped", f"upstream failed: a ({a['execution_id']})"),
        ("skipped", f"upstream skipped: b ({b['execution_id']})"),
        ("skipped", f"upstream skipped: c ({c['execution_id']})"),
    ]


def test_a_graph_of_a_thousand_jobs_is_accepted_in_one_batch(world: World) -> None:
    jobs = batch(world, *layers(depth=10, width=100))
    assert len(jobs) == 1000
    by_name = {one["name"]: one["job_id"] for one in jobs}
    _, deepest = world.request("GET", f"/jobs/{by_name['9-99']}")
    assert [one["job"] for one in deepest["depends_on"]] == [by_name[name] for name in ("8-99", "8-0", "8-1")]


def test_a_graph_runs_layer_by_layer(world: World) -> None:
    jobs = {one["name"]: one for one in batch(world, *layers(depth=6, width=10))}
    for _ in range(40):
        world.run_until_idle()
        world.pass_time(1)
    ran = {name: only_execution(world, job) for name, job in jobs.items()}
    assert {one["status"] for one in ran.values()} == {"succeeded"}
    assert {one["attempt"] for one in ran.values()} == {1}
    for name, execution in ran.items():
        layer, number = map(int, name.split("-"))
        for n in range(3) if layer else ():
            upstream = ran[f"{layer - 1}-{(number + n) % 10}"]
            assert from_text(upstream["ended_at"]) <= from_text(execution["started_at"])


# recurring jobs


def executions_by_window(world: World, first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the finished executions of two recurring jobs, paired by data window."""
    upstreams = {one["window"]["start"]: one for one in world.executions(first["job_id"])}
    for one in world.executions(second["job_id"]):
        if one["status"] in ("succeeded", "skipped", "failed"):
            yield upstreams.get(one["window"]["start"]), one


def test_a_recurring_job_waits_for_the_upstream_execution_of_the_same_window(world: World) -> None:
    schedule = {"cron": "*/2 * * * *"}
    first = world.submit(name="first", task="sleep", parameters={"seconds": 0.01}, schedule=schedule)
    second = world.submit(schedule=schedule, depends_on=after(first))
    world.run_for(605, step=5)
    ended = list(executions_by_window(world, first, second))
    assert len(ended) >= 4
    for upstream, dependant in ended:
        assert dependant["status"] == "succeeded"
        assert dependant["attempt"] == 1
        assert upstream["window"] == dependant["window"]
        assert from_text(upstream["ended_at"]) <= from_text(dependant["started_at"])
    dues = [from_text(one["scheduled_at"]) for one in world.executions(second["job_id"])]
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(minutes=2)}


def test_a_waiting_execution_still_plans_its_successors(world: World) -> None:
    schedule = {"every_seconds": 60}
    first, second = batch(
        world, {"name": "first", "schedule": schedule}, {"schedule": schedule, "depends_on": [{"job": "first"}]}
    )
    for _ in range(8):
        world.tick()
        plan(world)  # no worker runs
        world.pass_time(60)
    dues = [from_text(one["scheduled_at"]) for one in world.executions(second["job_id"])]
    assert len(dues) >= 9
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(seconds=60)}
    world.run_until_idle()
    for upstream, dependant in executions_by_window(world, first, second):
        assert (upstream["status"], dependant["status"]) == ("succeeded", "succeeded")


def test_a_recurring_dependant_that_is_due_before_its_upstream_waits_for_it(world: World) -> None:
    first = world.submit(schedule={"cron": "40 12 * * *"}, window="day")
    second = world.submit(schedule={"cron": "20 12 * * *"}, window="day", depends_on=after(first))
    world.run_for(1500, step=60)
    assert world.executions(second["job_id"])[0]["status"] == "waiting"
    world.run_for(1080, step=60)
    [(upstream, dependant)] = executions_by_window(world, first, second)
    assert dependant["status"] == "succeeded"
    assert from_text(dependant["started_at"]) >= from_text(upstream["ended_at"])


def test_a_failed_window_skips_only_the_dependant_of_that_window(world: World) -> None:
    schedule = {"every_seconds": 60}
    first, second = batch(
        world,
        {"name": "first", "task": "fail", "parameters": {"fatal": True}, "schedule": schedule},
        {"schedule": schedule, "depends_on": [{"job": "first"}]},
    )
    world.run_for(200, step=10)
    ended = list(executions_by_window(world, first, second))
    assert len(ended) >= 3
    for upstream, dependant in ended:
        assert dependant["reason"] == f"upstream failed: first ({upstream['execution_id']})"


def test_a_window_without_an_upstream_execution_is_skipped_with_the_reason(world: World) -> None:
    first = world.submit(name="first", schedule={"cron": "0 11 * * *"}, window="day")
    second = world.submit(schedule={"cron": "2 12 * * *"}, window="day", depends_on=after(first))
    world.run_until_idle()
    skipped = world.executions(second["job_id"])[0]
    assert skipped["status"] == "skipped"
    assert skipped["reason"].startswith("upstream has no execution of this window: first (20261116T110000000Z-")


def test_a_deleted_recurring_upstream_skips_later_dependants(world: World) -> None:
    schedule = {"cron": "*/10 * * * *"}
    first = world.submit(name="first", schedule=schedule)
    second = world.submit(schedule=schedule, depends_on=after(first))
    world.run_until_idle()
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
    world.run_until_idle()
    past = [one for one in world.executions(second["job_id"]) if one["origin"] == "backfill"]
    assert [one["status"] for one in past] == ["succeeded", "succeeded", "skipped"]
    assert past[-1]["reason"].startswith("upstream has no execution of this window: first (20261116T110000000Z-")


# deadlines


def test_the_deadline_forecast_of_a_dependant_includes_the_remaining_time_of_its_upstream(
    world: World, lane: LongLane
) -> None:
    first = lane.submit(name="load", expected_seconds=7200)
    second = world.submit(depends_on=after(first), expected_seconds=60, deadline={"within_seconds": 3600})
    world.run_until_idle()
    deadline = world.execution(only_execution(world, second)["execution_id"])["deadline"]
    assert deadline["state"] == "will_miss"
    assert deadline["cause"].startswith("not started: waits for upstream load, which needs about 2 hours more")
    world.run_for(660, step=60)
    world.deliver_checks()
    assert only_execution(world, second)["deadline"]["state"] == "will_miss"


# the long lane


def test_a_long_dependant_starts_its_state_machine_when_its_upstream_finishes(world: World, lane: LongLane) -> None:
    first = world.submit()
    near = lane.submit(depends_on=after(first))
    plan(world)
    assert only_execution(world, near)["status"] == "waiting"
    assert lane.runs() == []
    world.run_until_idle()
    assert lane.runs() == [only_execution(world, near)["execution_id"]]


def test_a_long_dependant_far_in_the_future_uses_a_timer_instead_of_an_eventbridge_schedule(
    world: World, lane: LongLane
) -> None:
    at = {"at": to_text(world.now + timedelta(minutes=30))}
    first = world.submit(schedule=at)
    far = lane.submit(schedule=at, depends_on=after(first))
    world.run_until_idle()
    assert only_execution(world, far)["status"] == "scheduled"
    assert lane.schedules() == {}
    lane.reconcile()
    assert lane.schedules() == {}
    world.run_for(1700, step=60)
    assert only_execution(world, far)["status"] == "waiting"
    lane.reconcile()
    assert only_execution(world, far)["status"] == "waiting"
    assert lane.runs() == []
    world.run_for(180, step=20)
    assert lane.runs() == [only_execution(world, far)["execution_id"]]


def test_a_long_job_that_gains_a_dependency_is_not_started_by_its_old_schedule(world: World, lane: LongLane) -> None:
    at = {"at": to_text(world.now + timedelta(minutes=30))}
    first = world.submit(schedule=in_an_hour(world))
    second = lane.submit(schedule=at)
    world.run_until_idle()
    assert len(lane.schedules()) == 1
    assert world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": after(first)})[0] == 200
    world.run_until_idle()
    assert lane.schedules() == {}
    assert lane.next_parts(second, run="late firing of the old schedule")["parts"] == []
    assert only_execution(world, second)["status"] == "scheduled"


def test_a_short_dependant_waits_until_its_long_upstream_has_ended(world: World, lane: LongLane) -> None:
    first = lane.submit()
    second = world.submit(depends_on=after(first))
    world.run_until_idle()
    assert only_execution(world, second)["status"] == "waiting"
    world.request("PUT", f"/executions/{only_execution(world, first)['execution_id']}/cancel")
    world.run_until_idle()
    assert status_and_reason(world, second)[0] == "skipped"


def test_equal_schedules_match_windows_even_if_a_calendar_moves_runs_to_monday(world: World) -> None:
    daily = {"cron": "0 2 * * *", "skip": ["weekends"], "on_skip": "next_business_day"}
    load = world.submit(name="load", schedule=daily, window="week")
    report = world.submit(name="report", schedule=daily, window="week", depends_on=after(load))
    world.run_until_idle()
    world.run_for(15 * 3600, step=300)  # until Tuesday 03:00
    first, second = (world.executions(job["job_id"])[0] for job in (load, report))
    assert (second["scheduled_at"], second["window"]) == (first["scheduled_at"], first["window"])
    assert (first["status"], second["status"], second["reason"]) == ("succeeded", "succeeded", None)
