"""Keys that only so many may run of at once, across jobs."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import to_text
from tests.integration.keyed import BOTH, nested, ordered, status, submit
from tests.integration.odd_tasks import MEANWHILE
from tests.integration.world import World


def test_no_more_than_its_limit_of_a_key_run_at_once_across_jobs(world: World) -> None:
    jobs = [submit(world) for _ in range(4)]
    other = submit(world, customer=2)
    orders = ordered(world)
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
        assert {one["detail"] for one in reasons} == {"2 of its key run already"}
        assert len(reasons[0]["executions"]) == 2

    by_job = {json.loads(order["body"])["job_id"]: order for order in orders}
    orders = [by_job[job] for job in [*jobs, other]]
    nested(world, orders[:2], look)
    world.settle_down()
    assert [status(world, job) for job in jobs] == ["succeeded"] * 4
    assert world.items("gates") == []


def test_whoever_waits_goes_in_by_priority_and_by_how_long_it_has_waited(world: World) -> None:
    one_at_once = {"key": "one", "limit": 1}
    holder = submit(world, concurrency=one_at_once)
    [order] = ordered(world)
    went_in: list[str] = []
    world.pass_time(1)
    low = submit(world, concurrency=one_at_once, priority="low")
    world.pass_time(1)
    normal = submit(world, concurrency=one_at_once)
    world.pass_time(25 * 60)
    high = submit(world, concurrency=one_at_once, priority="high")
    world.pass_time(1)
    late_low = submit(world, concurrency=one_at_once, priority="low")

    def note(context: Context) -> None:
        went_in.append(context.job_id)

    def hold(_context: Context) -> None:
        world.settle_down()
        assert status(world, late_low) == "waiting"

    MEANWHILE.extend([hold, note, note, note, note])
    world.work(order)
    world.settle_down()
    assert status(world, holder) == "succeeded"
    assert went_in == [normal, low, high, late_low]


def test_a_key_is_the_teams_own(world: World) -> None:
    first = submit(world, concurrency={"key": "one", "limit": 1})
    request = {"task": "test.meanwhile", "concurrency": {"key": "one", "limit": 1}}
    _, second = world.request("POST", "/jobs", request, team="another")
    orders = ordered(world)
    nested(world, orders, lambda: None)
    assert status(world, first) == status(world, second["job_id"]) == "succeeded"


def test_between_attempts_a_key_is_free_for_others(world: World) -> None:
    def fail(_context: Context) -> None:
        raise ValueError("not this time")

    one_at_once = {"key": "one", "limit": 1}
    first = submit(world, concurrency=one_at_once, retry={"backoff_seconds": 600})
    MEANWHILE.append(fail)
    [order] = ordered(world)
    world.work(order)
    assert status(world, first) == "retrying"
    second = submit(world, concurrency=one_at_once)
    world.settle_down()
    assert status(world, second) == "succeeded"


@pytest.mark.parametrize(
    ("concurrency", "field", "words"),
    [
        ({"key": "c-{missing}", "limit": 1}, "concurrency.key", "names the parameter 'missing', which is not there"),
        ({"key": "c-{customer", "limit": 1}, "concurrency.key", "a brace that belongs to no parameter"),
        ({"key": "c"}, "concurrency", "needs a limit, a rate, or both"),
        ({"key": "c", "rate": {"starts": 201, "per_seconds": 2}}, "concurrency.rate.starts", "per_seconds 2"),
        ({"key": "c", "limit": 0}, "concurrency.limit", "greater than or equal to 1"),
    ],
)
def test_a_key_that_cannot_be_is_refused(world: World, concurrency: dict[str, Any], field: str, words: str) -> None:
    request = {"task": "test.meanwhile", "parameters": {"customer": 1}, "concurrency": concurrency}
    answer, problem = world.request("POST", "/jobs", request)
    assert answer == 422
    assert problem["errors"][0]["field"] == field
    assert words in problem["errors"][0]["message"]
    assert world.items("jobs") == []


def test_one_that_gets_another_turn_while_it_waits_goes_once_and_leaves_nothing_in_line(world: World) -> None:
    key = {"key": "k", "limit": 1}

    def act(_context: Context) -> None:
        waiting.append(submit(world, concurrency=key))
        world.settle_down()
        assert world.request("PATCH", f"/jobs/{waiting[0]}", {"priority": "high"})[0] == 200
        world.settle_down()
        waiting.append(submit(world, concurrency=key))
        world.settle_down()
        behind = world.execution(world.executions(waiting[1])[0]["execution_id"])
        assert behind["waiting_for"]["ahead"] == 1

    waiting: list[str] = []
    MEANWHILE.append(act)
    submit(world, concurrency=key)
    world.settle_down()
    world.run_for(120, step=60)
    assert [status(world, one) for one in waiting] == ["succeeded", "succeeded"]
    assert [one["attempt"] for job_id in waiting for one in world.executions(job_id)] == [1, 1]
    assert not [item for item in world.items("gates") if item["gate"]["S"].startswith("line#")]


def test_run_now_says_that_it_waits_for_its_key_or_its_rate(world: World) -> None:
    def run(job_id: str) -> tuple[str, str]:
        answer, ran = world.request("POST", f"/jobs/{job_id}/run", {})
        assert answer == 201
        return ran["outcome"], ran["execution"]["execution_id"]

    yearly = {"schedule": {"cron": "@yearly"}, "overlap": "queue_all"}
    limited = submit(world, concurrency={"key": "one", "limit": 1}, **yearly)
    other = submit(world, concurrency={"key": "one", "limit": 1}, **yearly)
    rated = submit(world, concurrency={"key": "two", "rate": {"starts": 1, "per_seconds": 60}}, **yearly)
    both = submit(world, concurrency=BOTH, **yearly)
    said: list[str] = []

    def hold(context: Context) -> None:
        said.append(context.execution_id)
        if context.job_id == limited:
            said.extend([run(other)[0], run(limited)[0]])
        else:
            said.append(run(both)[0])

    assert [run(one)[0] for one in (limited, rated, both)] == ["starts now"] * 3
    MEANWHILE.extend([hold] * 3)
    orders = {json.loads(order["body"])["job_id"]: order for order in ordered(world)}
    world.work(orders[limited])
    first = said[0]
    assert said[1:] == [f"waits for its key: {first} run already", f"waits for {first}"]
    MEANWHILE.clear()
    world.work(orders[rated])
    in_a_minute = to_text(world.now + timedelta(seconds=60))
    assert run(rated)[0] == f"waits for its rate: no start before {in_a_minute}"
    said.clear()
    MEANWHILE.append(hold)
    world.work(orders[both])
    soon = to_text(world.now + timedelta(seconds=4))
    assert said[1] == f"waits for {said[0]}, and for its rate: no start before {soon}"
    world.run_for(130)
    assert run(limited)[0] == run(rated)[0] == run(both)[0] == "starts now"


def test_two_that_wait_for_a_key_and_then_go_by_another_overlap_do_not_wait_for_each_other(world: World) -> None:
    key = {"key": "k", "limit": 1}
    submit(world, concurrency=key)
    [order] = ordered(world)
    jobs: list[str] = []

    def fail(_context: Context) -> None:
        raise ValueError("try again")

    def hold(_context: Context) -> None:
        twice = {"schedule": {"every_seconds": 10, "max_runs": 2}, "overlap": "allow", "retry": {"backoff_seconds": 5}}
        jobs.append(submit(world, concurrency=key, **twice))
        world.run_for(25)
        assert world.request("PATCH", f"/jobs/{jobs[0]}", {"overlap": "queue_all"})[0] == 200
        world.settle_down()
        assert [one["status"] for one in world.executions(jobs[0])] == ["waiting"] * 2
        MEANWHILE.append(fail)  # the first keeps its place in the job, and gives back that of the key

    MEANWHILE.append(hold)
    world.work(order)
    world.run_for(600, step=20)
    assert [one["status"] for one in world.executions(jobs[0])] == ["succeeded"] * 2
    assert world.items("gates") == []


def test_one_that_waits_for_a_key_and_then_for_another_job_of_it_lets_that_go_first(world: World) -> None:
    key = {"key": "k", "limit": 1}
    in_five_minutes = {"at": to_text(world.now + timedelta(minutes=5))}
    load = submit(world, concurrency=key, schedule=in_five_minutes)
    submit(world, concurrency=key)
    [order] = ordered(world)
    reports: list[str] = []

    def hold(_context: Context) -> None:
        reports.append(submit(world, concurrency=key))
        world.settle_down()
        assert status(world, reports[0]) == "waiting"
        assert world.request("PATCH", f"/jobs/{reports[0]}", {"depends_on": [{"job": load}]})[0] == 200
        world.settle_down()

    MEANWHILE.append(hold)
    world.work(order)
    world.run_for(600, step=20)
    assert [status(world, job) for job in (load, *reports)] == ["succeeded"] * 2


def test_one_that_got_its_place_just_before_it_had_to_wait_elsewhere_hands_it_on_within_a_minute(world: World) -> None:
    key = {"key": "k", "limit": 1}
    job = submit(world, concurrency=key, schedule={"every_seconds": 10, "max_runs": 2}, overlap="queue_all")
    passed_on: list[bool] = []

    def hold(_context: Context) -> None:
        """The second waits for the first, which has lost its place at the key to it."""
        world.run_for(15)
        first, second = (one["execution_id"] for one in world.executions(job))
        gates = world.function("worker").worker.gatekeeper.gates
        passed_on.append(gates.pass_on("key#data-quality#k", first, second))
        raise ValueError("try again")

    MEANWHILE.append(hold)
    world.run_for(300, step=20)
    assert passed_on == [True]
    assert [one["status"] for one in world.executions(job)] == ["succeeded"] * 2
