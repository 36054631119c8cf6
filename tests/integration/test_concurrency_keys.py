"""Concurrency keys: a limit on concurrent executions across jobs."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import to_text
from tests.integration.concurrency_keys import KEY_WITH_RATE, run_nested, status, submit, work_orders
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World


def test_a_key_limits_concurrent_executions_across_jobs(world: World) -> None:
    jobs = [submit(world, name=f"export {number}") for number in range(4)]
    other = submit(world, customer=2)
    orders = work_orders(world)
    assert len(orders) == 5

    def look() -> None:
        for order in orders[2:]:
            world.work(order)
        assert sorted(status(world, job) for job in jobs) == ["running", "running", "waiting", "waiting"]
        assert status(world, other) == "succeeded"
        waiting = [world.executions(job)[0] for job in jobs if status(world, job) == "waiting"]
        reasons = [world.execution(one["execution_id"])["waiting_for"] for one in waiting]
        assert {one["what"] for one in reasons} == {"key"}
        assert sorted(one["ahead"] for one in reasons) == [0, 1]
        assert {one["detail"] for one in reasons} == {"2 executions with the same concurrency key are running"}
        assert len(reasons[0]["executions"]) == 2
        assert {reasons[0]["job_names"][one] for one in reasons[0]["executions"]} == {"export 0", "export 1"}

    by_job = {json.loads(order["body"])["job_id"]: order for order in orders}
    orders = [by_job[job] for job in [*jobs, other]]
    run_nested(world, orders[:2], look)
    world.run_until_idle()
    assert [status(world, job) for job in jobs] == ["succeeded"] * 4
    assert world.items("gates") == []


def test_waiters_are_admitted_by_priority_and_waiting_time(world: World) -> None:
    one_at_once = {"key": "one", "limit": 1}
    holder = submit(world, concurrency=one_at_once)
    [order] = work_orders(world)
    admitted: list[str] = []
    world.pass_time(1)
    low = submit(world, concurrency=one_at_once, priority="low")
    world.pass_time(1)
    normal = submit(world, concurrency=one_at_once)
    world.pass_time(25 * 60)
    high = submit(world, concurrency=one_at_once, priority="high")
    world.pass_time(1)
    late_low = submit(world, concurrency=one_at_once, priority="low")

    def record(context: Context) -> None:
        admitted.append(context.job_id)

    def hold(_context: Context) -> None:
        world.run_until_idle()
        assert status(world, late_low) == "waiting"

    TASK_BODIES.extend([hold, record, record, record, record])
    world.work(order)
    world.run_until_idle()
    assert status(world, holder) == "succeeded"
    assert admitted == [normal, low, high, late_low]


def test_teams_do_not_share_a_key(world: World) -> None:
    first = submit(world, concurrency={"key": "one", "limit": 1})
    request = {"task": "test.scripted", "concurrency": {"key": "one", "limit": 1}}
    _, second = world.request("POST", "/jobs", request, team="another")
    orders = work_orders(world)
    run_nested(world, orders, lambda: None)
    assert status(world, first) == status(world, second["job_id"]) == "succeeded"


def test_a_key_is_released_between_attempts(world: World) -> None:
    def fail(_context: Context) -> None:
        raise ValueError("not this time")

    one_at_once = {"key": "one", "limit": 1}
    first = submit(world, concurrency=one_at_once, retry={"backoff_seconds": 600})
    TASK_BODIES.append(fail)
    [order] = work_orders(world)
    world.work(order)
    assert status(world, first) == "retrying"
    second = submit(world, concurrency=one_at_once)
    world.run_until_idle()
    assert status(world, second) == "succeeded"


@pytest.mark.parametrize(
    ("concurrency", "field", "words"),
    [
        ({"key": "c-{missing}", "limit": 1}, "concurrency.key", "names the parameter 'missing', which is missing"),
        ({"key": "c-{customer", "limit": 1}, "concurrency.key", "a brace without a parameter name"),
        ({"key": "c"}, "concurrency", "needs a limit, a rate, or both"),
        ({"key": "c", "rate": {"starts": 201, "per_seconds": 2}}, "concurrency.rate.starts", "per_seconds 2"),
        ({"key": "c", "limit": 0}, "concurrency.limit", "greater than or equal to 1"),
    ],
)
def test_an_invalid_key_is_refused(world: World, concurrency: dict[str, Any], field: str, words: str) -> None:
    request = {"task": "test.scripted", "parameters": {"customer": 1}, "concurrency": concurrency}
    answer, problem = world.request("POST", "/jobs", request)
    assert answer == 422
    assert problem["errors"][0]["field"] == field
    assert words in problem["errors"][0]["message"]
    assert world.items("jobs") == []


MANY_ENOUGH = 5
"""Executions of one instant wait in the order of their ids, which are random: some come before the former queue entry
of the edited one, some after it."""


def test_a_waiter_whose_priority_is_edited_runs_once_and_leaves_no_queue_entry(world: World) -> None:
    key = {"key": "k", "limit": 1}

    def edit_waiter(_context: Context) -> None:
        waiting.append(submit(world, concurrency=key))
        world.run_until_idle()
        assert world.request("PATCH", f"/jobs/{waiting[0]}", {"priority": "high"})[0] == 200
        world.run_until_idle()
        waiting.extend(submit(world, concurrency=key) for _ in range(MANY_ENOUGH))
        world.run_until_idle()
        found = (world.execution(world.executions(one)[0]["execution_id"]) for one in waiting[1:])
        assert sorted(one["waiting_for"]["ahead"] for one in found) == list(range(1, MANY_ENOUGH + 1))

    waiting: list[str] = []
    TASK_BODIES.append(edit_waiter)
    submit(world, concurrency=key)
    world.run_until_idle()
    world.run_for(120, step=60)
    assert [status(world, one) for one in waiting] == ["succeeded"] * len(waiting)
    assert [one["attempt"] for job_id in waiting for one in world.executions(job_id)] == [1] * len(waiting)
    assert not [item for item in world.items("gates") if item["gate"]["S"].startswith("queue#")]


def test_a_manual_run_reports_that_it_waits_for_its_key_or_its_rate(world: World) -> None:
    def run(job_id: str) -> tuple[str, str]:
        answer, ran = world.request("POST", f"/jobs/{job_id}/run", {})
        assert answer == 201
        return ran["outcome"], ran["execution"]["execution_id"]

    yearly = {"schedule": {"cron": "@yearly"}, "overlap": "queue_all"}
    limited = submit(world, concurrency={"key": "one", "limit": 1}, **yearly)
    other = submit(world, concurrency={"key": "one", "limit": 1}, **yearly)
    rated = submit(world, concurrency={"key": "two", "rate": {"starts": 1, "per_seconds": 60}}, **yearly)
    both = submit(world, concurrency=KEY_WITH_RATE, **yearly)
    outcomes: list[str] = []

    def hold(context: Context) -> None:
        outcomes.append(context.execution_id)
        if context.job_id == limited:
            outcomes.extend([run(other)[0], run(limited)[0]])
        else:
            outcomes.append(run(both)[0])

    assert [run(one)[0] for one in (limited, rated, both)] == ["starts now"] * 3
    TASK_BODIES.extend([hold] * 3)
    orders = {json.loads(order["body"])["job_id"]: order for order in work_orders(world)}
    world.work(orders[limited])
    first = outcomes[0]
    assert outcomes[1:] == [f"waits for its concurrency key: in use by {first}", f"waits for {first}"]
    TASK_BODIES.clear()
    world.work(orders[rated])
    in_a_minute = to_text(world.now + timedelta(seconds=60))
    assert run(rated)[0] == f"waits for its rate limit: no start before {in_a_minute}"
    outcomes.clear()
    TASK_BODIES.append(hold)
    world.work(orders[both])
    soon = to_text(world.now + timedelta(seconds=4))
    assert outcomes[1] == f"waits for {outcomes[0]}, and for its rate limit: no start before {soon}"
    world.run_for(130)
    assert run(limited)[0] == run(rated)[0] == run(both)[0] == "starts now"


def test_changing_the_overlap_rule_of_two_waiters_of_a_key_causes_no_deadlock(world: World) -> None:
    key = {"key": "k", "limit": 1}
    submit(world, concurrency=key)
    [order] = work_orders(world)
    jobs: list[str] = []

    def fail(_context: Context) -> None:
        raise ValueError("try again")

    def hold(_context: Context) -> None:
        twice = {"schedule": {"every_seconds": 10, "max_runs": 2}, "overlap": "allow", "retry": {"backoff_seconds": 5}}
        jobs.append(submit(world, concurrency=key, **twice))
        world.run_for(25)
        assert world.request("PATCH", f"/jobs/{jobs[0]}", {"overlap": "queue_all"})[0] == 200
        world.run_until_idle()
        assert [one["status"] for one in world.executions(jobs[0])] == ["waiting"] * 2
        TASK_BODIES.append(fail)  # the first execution keeps its place at the job's gate and releases the key

    TASK_BODIES.append(hold)
    world.work(order)
    world.run_for(600, step=20)
    assert [one["status"] for one in world.executions(jobs[0])] == ["succeeded"] * 2
    assert world.items("gates") == []


def test_a_waiter_of_a_key_that_gets_an_upstream_with_the_same_key_causes_no_deadlock(world: World) -> None:
    key = {"key": "k", "limit": 1}
    in_five_minutes = {"at": to_text(world.now + timedelta(minutes=5))}
    load = submit(world, concurrency=key, schedule=in_five_minutes)
    submit(world, concurrency=key)
    [order] = work_orders(world)
    reports: list[str] = []

    def hold(_context: Context) -> None:
        reports.append(submit(world, concurrency=key))
        world.run_until_idle()
        assert status(world, reports[0]) == "waiting"
        assert world.request("PATCH", f"/jobs/{reports[0]}", {"depends_on": [{"job": load}]})[0] == 200
        world.run_until_idle()

    TASK_BODIES.append(hold)
    world.work(order)
    world.run_for(600, step=20)
    assert [status(world, job) for job in (load, *reports)] == ["succeeded"] * 2
