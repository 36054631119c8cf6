"""Jobs that wait for other jobs: conditions, windows, graphs, and every way in which word of an end may come."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from punctual.aws import clients as aws
from punctual.domain.instant import from_text, to_text
from tests.integration.long_lane import LongLane
from tests.integration.odd_tasks import Killed
from tests.integration.world import World

NO_RETRY = {"max_attempts": 1}


def after(*jobs: dict[str, Any], condition: str = "succeeded") -> list[dict[str, Any]]:
    return [{"job": job["job_id"], "condition": condition} for job in jobs]


def only(world: World, job: dict[str, Any]) -> dict[str, Any]:
    """The one execution of a job, whatever retries it has."""
    [execution] = [one for one in world.executions(job["job_id"]) if one["origin"] != "retry"]
    return execution


def plan(world: World) -> None:
    """Deliver records until what there is to do lies in the queues; nobody works on it yet."""
    for _ in range(20):
        if not world.deliver_streams():
            return
    raise AssertionError("it does not come to rest")


def batch(world: World, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    status, answer = world.request("POST", "/jobs/batch", {"jobs": [{"task": "echo", **job} for job in jobs]})
    assert status == 201, answer
    return answer["items"]


def outcome(world: World, job: dict[str, Any]) -> tuple[str, str | None]:
    execution = only(world, job)
    return execution["status"], execution["reason"]


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


# upstreams that a person had done again


def retry(world: World, execution_id: str, **parameters: Any) -> str:
    status, answer = world.request("POST", f"/executions/{execution_id}/retry", {"parameters": parameters})
    assert status == 201, answer
    return answer["execution"]["execution_id"]


def failed(world: World) -> tuple[dict[str, Any], str]:
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9})
    world.settle_down()
    return first, only(world, first)["execution_id"]


def test_a_retry_by_hand_that_succeeds_counts_for_who_comes_after(world: World) -> None:
    first, execution_id = failed(world)
    early = world.submit(depends_on=after(first))
    world.settle_down()
    assert outcome(world, early)[0] == "skipped"
    again = retry(world, execution_id, times=0)
    world.settle_down()
    second = world.submit(depends_on=after(first))
    world.settle_down()
    started_once(world, second)
    [shown] = world.execution(only(world, second)["execution_id"])["upstreams"]
    assert (shown["execution_id"], shown["status"]) == (again, "succeeded")
    assert outcome(world, early) == ("skipped", f"upstream failed: first ({execution_id})"), "it stays as it was"
    cleanup = world.submit(depends_on=after(first, condition="failed"))
    world.settle_down()
    started_once(world, cleanup)


def test_of_several_retries_the_latest_counts(world: World) -> None:
    first, execution_id = failed(world)
    for _ in range(4):
        execution_id = retry(world, execution_id)
        world.settle_down()
    assert execution_id.endswith("-5")
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream failed: first ({execution_id})")
    retry(world, execution_id, times=0)
    world.settle_down()
    third = world.submit(depends_on=after(first))
    world.settle_down()
    started_once(world, third)


def test_a_backfill_beside_the_upstreams_execution_is_no_retry_of_it(world: World) -> None:
    schedule = {"cron": "0 * * * *"}
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9}, schedule=schedule)
    world.run_for(60, step=60)
    execution_id = world.executions(first["job_id"])[0]["execution_id"]
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"task": "echo"})[0] == 200
    span = {"from": "2026-11-16T12:00:00Z", "to": "2026-11-16T12:01:00Z"}
    _, answer = world.request("POST", f"/jobs/{first['job_id']}/backfill", {**span, "which": "all"})
    assert [one["execution_id"] for one in answer["items"]] == [f"{execution_id}-2"]
    second = world.submit(schedule=schedule, depends_on=after(first))
    assert world.request("POST", f"/jobs/{second['job_id']}/backfill", span)[0] == 201
    world.settle_down()
    assert world.executions(second["job_id"])[0]["reason"] == f"upstream failed: first ({execution_id})"
    retried = retry(world, execution_id, times=0)
    assert retried == f"{execution_id}-3"
    world.settle_down()
    assert (
        world.request("POST", f"/jobs/{second['job_id']}/backfill", {**span, "which": "missing_and_failed"})[0] == 201
    )
    world.settle_down()
    assert world.executions(second["job_id"])[1]["status"] == "succeeded"


@pytest.mark.parametrize(("times", "expected"), [(0, "succeeded"), (9, "skipped")])
@pytest.mark.parametrize("moment", range(12))
def test_a_retry_that_still_runs_is_waited_for_and_its_end_is_heard(
    world: World, times: int, expected: str, moment: int
) -> None:
    """Also where it ends while its dependant is being held back."""
    first, execution_id = failed(world)
    again = retry(world, execution_id, times=times)
    plan(world)
    [order] = world.orders()
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")

    def retry_ends() -> None:
        world.work(order)
        world.call("settler", {"Records": records(world, "settler")})

    with Interrupted(moment, retry_ends) as interrupted:
        world.call("planner", {"Records": held})
    if interrupted.calls <= moment:
        assert outcome(world, second) == ("waiting", f"waits for first: {again}")
        retry_ends()
    world.settle_down()
    assert only(world, second)["status"] == expected


def test_word_of_a_failure_that_comes_after_its_retry_has_the_dependant_wait_for_that(world: World) -> None:
    first = world.submit(name="first", task="fail", parameters={"fatal": True, "times": 9})
    second = world.submit(depends_on=after(first))
    plan(world)
    [order] = world.orders()
    world.work(order)
    again = retry(world, only(world, first)["execution_id"], times=0)
    plan(world)
    assert outcome(world, second) == ("waiting", f"waits for first: {again}")
    world.settle_down()
    started_once(world, second)


def test_a_skipped_dependant_that_is_retried_lets_those_after_it_go(world: World) -> None:
    first, execution_id = failed(world)
    middle = world.submit(depends_on=after(first))
    world.settle_down()
    retry(world, execution_id, times=0)
    retry(world, only(world, middle)["execution_id"])
    last = world.submit(depends_on=after(middle))
    world.settle_down()
    started_once(world, last)


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


def layers(depth: int, width: int) -> list[dict[str, Any]]:
    """Each job waits for three of the layer above, the deepest first: a batch needs no order."""
    jobs = [
        {
            "name": f"{layer}-{number}",
            "task": "echo",
            "depends_on": [{"job": f"{layer - 1}-{(number + n) % width}"} for n in range(3)] if layer else [],
        }
        for layer in range(depth)
        for number in range(width)
    ]
    return jobs[::-1]


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


# word that comes twice, late, at the same moment, or never


class Interrupted:
    """Does something, once, in the middle of a function: right before its ``nth`` call of DynamoDB."""

    def __init__(self, nth: int, act: Callable[[], None]) -> None:
        self.nth, self.act, self.calls = nth, act, 0

    def __enter__(self) -> Interrupted:
        self.client = aws.dynamodb()
        self.real = self.client._make_api_call
        self.client._make_api_call = self._call
        return self

    def __exit__(self, *_: Any) -> None:
        self.client._make_api_call = self.real

    def _call(self, operation: str, request: dict[str, Any]) -> Any:
        self.calls += 1
        if self.calls == self.nth + 1:
            self.client._make_api_call = self.real
            try:
                self.act()
            finally:
                self.client._make_api_call = self._call
        return self.real(operation, request)


def die() -> None:
    raise Killed


def started_once(world: World, job: dict[str, Any]) -> None:
    execution = only(world, job)
    assert (execution["status"], execution["attempt"], len(execution["attempts"])) == ("succeeded", 1, 1)


def records(world: World, consumer: str) -> list[Any]:
    return world.stream_records("executions", consumer)


@pytest.mark.parametrize("heard", [True, False], ids=["listened to", "not yet listened to"])
@pytest.mark.parametrize("moment", range(9))
def test_an_upstream_that_ends_while_its_dependant_is_being_held_is_not_overlooked(
    world: World, moment: int, heard: bool
) -> None:
    if heard:
        _, second = batch(world, {"name": "first"}, {"name": "second", "depends_on": [{"job": "first"}]})
    else:  # planned before anybody depended on it
        first = world.submit()
        plan(world)
        second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    fresh = records(world, "planner")
    [held] = [one for one in fresh if "depends_on" in one["dynamodb"]["NewImage"]]
    world.call("planner", {"Records": [one for one in fresh if one is not held]})
    [order] = world.orders()

    def upstream_ends() -> None:
        world.work(order)
        world.call("settler", {"Records": records(world, "settler")})

    with Interrupted(moment, upstream_ends) as interrupted:
        world.call("planner", {"Records": [held]})
    if interrupted.calls <= moment:
        upstream_ends()
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("moment", range(6))
def test_a_dependant_that_is_held_while_the_end_is_being_told_is_not_overlooked(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    [order] = world.orders()
    world.work(order)
    ended = records(world, "settler")

    def hold() -> None:
        world.call("planner", {"Records": held})

    with Interrupted(moment, hold) as interrupted:
        world.call("settler", {"Records": ended})
    if interrupted.calls <= moment:
        hold()
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("moment", range(7))
def test_two_upstreams_that_end_together_start_their_dependant_once(world: World, moment: int) -> None:
    first, second = world.submit(), world.submit()
    third = world.submit(depends_on=after(first, second))
    plan(world)
    for order in world.orders():
        world.work(order)
    one, other = records(world, "settler")

    with Interrupted(moment, lambda: world.call("settler", {"Records": [other, other]})):
        world.call("settler", {"Records": [one]})
    world.call("settler", {"Records": [other, one]})
    sent = []
    while fresh := records(world, "planner"):
        world.call("planner", {"Records": fresh})
        sent += world.orders()
    assert len(sent) == 1
    for order in sent:
        world.work(order)
    started_once(world, third)


def test_every_record_twice_and_in_any_order_starts_each_dependant_once(world: World) -> None:
    shuffle = random.Random(11).shuffle

    def twice_in_any_order(fresh: list[Any]) -> list[Any]:
        fresh = [*fresh, *fresh]
        shuffle(fresh)
        return fresh

    jobs = batch(world, *layers(depth=3, width=4))
    failing = world.submit(name="failing", task="fail", parameters={"fatal": True})
    skipped = world.submit(depends_on=[*after(failing), *after(jobs[0])])
    for _ in range(12):
        world.deliver_streams(twice_in_any_order)
        for order in twice_in_any_order(world.orders()):
            world.work(order)
    for job in jobs:
        started_once(world, job)
    assert only(world, skipped)["status"] == "skipped"


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_planner_that_dies_at_any_line_is_made_up_for(world: World, moment: int) -> None:
    first = world.submit()
    plan(world)
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    with Interrupted(moment, die), suppress(Killed):
        world.call("planner", {"Records": held})
    world.call("planner", {"Records": held})
    world.settle_down()
    started_once(world, second)


@pytest.mark.parametrize("ends", ["succeeded", "failed"])
@pytest.mark.parametrize("moment", range(7))
def test_a_settler_that_dies_at_any_line_is_made_up_for(world: World, moment: int, ends: str) -> None:
    task = {"task": "echo"} if ends == "succeeded" else {"task": "fail", "parameters": {"fatal": True}}
    first = world.submit(**task)
    second, third = (world.submit(depends_on=after(first)) for _ in range(2))
    plan(world)
    [order] = world.orders()
    world.work(order)
    ended = records(world, "settler")
    with Interrupted(moment, die), suppress(Killed):
        world.call("settler", {"Records": ended})
    world.call("settler", {"Records": ended})
    world.settle_down()
    for job in (second, third):
        if ends == "succeeded":
            started_once(world, job)
        else:
            assert only(world, job)["status"] == "skipped"


def test_word_that_never_comes_is_made_up_for_within_the_hour(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    plan(world)
    [order] = world.orders()
    world.work(order)
    records(world, "settler")  # lost
    world.run_for(3000, step=60)
    assert only(world, second)["status"] == "waiting"
    world.run_for(900, step=60)
    started_once(world, second)


def test_an_upstream_planned_by_what_its_job_was_before_is_found_within_minutes(world: World) -> None:
    first = world.submit()
    second = world.submit(depends_on=after(first))
    fresh = world.stream_records("jobs", "planner")
    old = next(one for one in fresh if "feeds" not in one["dynamodb"]["NewImage"])
    assert old["dynamodb"]["Keys"] == {"job_id": {"S": first["job_id"]}}
    new = [one for one in fresh if one["dynamodb"]["Keys"] != old["dynamodb"]["Keys"]]
    world.call("planner", {"Records": new})
    world.call("planner", {"Records": records(world, "planner")})
    assert outcome(world, second)[0] == "waiting"
    world.call("planner", {"Records": [old]})  # and nobody is told of the end of what it plans
    world.settle_down()
    assert [only(world, one)["status"] for one in (first, second)] == ["succeeded", "waiting"]
    world.run_for(300, step=20)
    started_once(world, second)


def test_one_timer_at_a_time_looks_after_a_dependant(world: World) -> None:
    first = world.submit(schedule={"at": to_text(world.now + timedelta(days=1))})
    second = world.submit(depends_on=after(first))
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    held = records(world, "planner")
    world.call("planner", {"Records": held})
    world.pass_time(100)
    world.call("planner", {"Records": held})  # again: its timer is for nothing
    upstream = [item for item in world.items("timers") if item["due"]["S"].endswith("#upstream")]
    assert len(upstream) == 2
    queued = 0
    for _ in range(70):
        queued += world.tick()["queued"]
        plan(world)
        world.pass_time(60)
    assert queued == 1
    assert only(world, second)["status"] == "waiting"


def test_a_job_without_dependencies_registers_for_no_end_and_asks_for_none(world: World) -> None:
    tables: list[str] = []
    ends: list[str] = []
    client = aws.dynamodb()
    real = client._make_api_call

    def noting(operation: str, request: dict[str, Any]) -> Any:
        tables.extend(request.get("RequestItems", {request.get("TableName"): None}))
        ends.extend(["end"] * ("end#" in str(request)))
        return real(operation, request)

    client._make_api_call = noting
    job = world.submit(schedule={"every_seconds": 60})
    world.submit()
    world.run_for(120, step=10)
    assert {one["status"] for one in world.executions(job["job_id"])} >= {"succeeded"}
    assert "executions" in tables
    assert ends == []


# upstreams and dependants that are edited, deleted, cancelled


def in_an_hour(world: World) -> dict[str, str]:
    return {"at": to_text(world.now + timedelta(hours=1))}


def test_a_dependant_of_a_job_that_is_deleted_meanwhile_is_skipped(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    execution_id = only(world, first)["execution_id"]
    assert outcome(world, second) == ("waiting", f"waits for first: {execution_id}")
    assert world.request("DELETE", f"/jobs/{first['job_id']}")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream deleted: first ({execution_id})")


def test_a_dependant_of_an_execution_that_is_cancelled_is_skipped(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first, condition="finished"))
    world.settle_down()
    execution_id = only(world, first)["execution_id"]
    assert world.request("PUT", f"/executions/{execution_id}/cancel")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("skipped", f"upstream cancelled: first ({execution_id})")


def test_a_dependant_that_is_deleted_itself_is_withdrawn(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    assert world.request("DELETE", f"/jobs/{second['job_id']}")[0] == 200
    world.settle_down()
    assert outcome(world, second) == ("cancelled", "job deleted")
    world.run_for(3700, step=60)
    assert only(world, first)["status"] == "succeeded"
    assert outcome(world, second) == ("cancelled", "job deleted")


def test_an_upstream_that_is_put_off_is_waited_for_at_its_new_instant(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    later = {"at": to_text(world.now + timedelta(seconds=100))}
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"schedule": later})[0] == 200
    world.settle_down()
    [new] = [one for one in world.executions(first["job_id"]) if one["status"] == "queued"]
    assert outcome(world, second)[1].endswith(new["execution_id"])
    world.run_for(110, step=10)
    started_once(world, second)


def test_an_edit_frees_a_dependant_that_waits(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first))
    world.settle_down()
    status, edited = world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": None})
    assert (status, edited["depends_on"]) == (200, [])
    world.settle_down()
    started_once(world, second)


def test_an_order_sent_before_an_edit_does_not_overtake_what_is_waited_for_since(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(schedule={"at": to_text(world.now + timedelta(seconds=60))})
    world.settle_down()
    assert only(world, second)["status"] == "queued"
    assert world.request("PATCH", f"/jobs/{second['job_id']}", {"depends_on": after(first)})[0] == 200
    plan(world)
    world.pass_time(60)
    [order] = world.orders()
    world.work(order)
    world.run_for(60, step=10)
    assert only(world, second)["status"] == "waiting"
    world.run_for(3600, step=60)
    started_once(world, second)


def test_an_edit_of_something_else_leaves_a_dependency_on_what_is_gone_alone(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    second = world.submit(depends_on=after(first), schedule=in_an_hour(world))
    world.settle_down()
    world.request("DELETE", f"/jobs/{first['job_id']}")
    path = f"/jobs/{second['job_id']}"
    assert world.request("PATCH", path, {"priority": "high"})[0] == 200
    status, problem = world.request("PATCH", path, {"depends_on": after(first)})
    assert (status, problem["errors"][0]["field"]) == (422, "depends_on.0.job")


def test_an_upstream_edited_at_the_moment_somebody_comes_to_depend_on_it_is_not_forgotten(world: World) -> None:
    first = world.submit(schedule=in_an_hour(world))
    seen = adapter(world).get(first["job_id"])
    world.submit(depends_on=after(first))
    assert not adapter(world).replace(replace(seen, revision=seen.revision + 1))
    assert world.request("PATCH", f"/jobs/{first['job_id']}", {"priority": "high"})[0] == 200
    assert adapter(world).get(first["job_id"]).feeds


def adapter(world: World) -> Any:
    """The jobs, as the planner sees them."""
    return world.function("planner").jobs


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


# jobs of a batch that are there already


def keyed(world: World, *jobs: dict[str, Any]) -> tuple[int, Any]:
    load = {"task": "echo", "name": "load", "dedupe_key": "load", "on_duplicate": "return_existing"}
    return world.request(
        "POST", "/jobs/batch", {"jobs": [load | jobs[0], *({"task": "echo"} | one for one in jobs[1:])]}
    )


def test_a_name_in_a_batch_means_the_job_that_has_its_key_already(world: World) -> None:
    first = world.submit(name="nightly", dedupe_key="load", schedule=in_an_hour(world))
    status, answer = keyed(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]})
    assert (status, [one["created"] for one in answer["items"]]) == (201, [False, True])
    load, rep = answer["items"]
    assert load["job_id"] == first["job_id"]
    assert world.request("GET", f"/jobs/{rep['job_id']}")[1]["depends_on"] == after(first)
    world.settle_down()
    assert outcome(world, rep) == ("waiting", f"waits for nightly: {only(world, first)['execution_id']}")
    world.run_for(3660, step=60)
    started_once(world, rep)


def test_it_is_checked_as_any_upstream_is(world: World) -> None:
    world.submit(dedupe_key="load", schedule={"cron": "0 * * * *"})
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    before = world.items("jobs")
    for job, message in (
        (rep, "recurs, and this one runs once"),
        ({**rep, "schedule": {"cron": "30 * * * *"}}, "data window in common"),
    ):
        status, problem = keyed(world, {}, job)
        assert (status, problem["errors"][0]["field"]) == (422, "jobs.1.depends_on.0.job")
        assert message in problem["detail"]
    assert world.items("jobs") == before


def test_circles_and_doubles_by_way_of_a_job_that_is_there_already_are_refused(world: World) -> None:
    first = world.submit(dedupe_key="load", schedule=in_an_hour(world))
    before = world.items("jobs")
    rep = {"name": "rep", "depends_on": [{"job": "load"}]}
    for load, job, field, message in (
        ({"depends_on": [{"job": "rep"}]}, rep, "depends_on", "goes round in a circle"),
        ({"depends_on": [{"job": "load"}]}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({"depends_on": after(first)}, {}, "jobs.0.depends_on.0.job", "is the job itself"),
        ({}, {"depends_on": [{"job": "load"}, *after(first)]}, "jobs.1.depends_on.1.job", "is there twice"),
    ):
        status, problem = keyed(world, load, job)
        assert status == 422, problem
        assert problem["errors"][0]["field"].endswith(field)
        assert message in problem["detail"]
    assert world.items("jobs") == before


@pytest.mark.parametrize("others", [0, 40])
def test_a_key_that_is_taken_while_a_batch_is_stored_names_the_job_that_has_it(world: World, others: int) -> None:
    won = []

    def another() -> None:
        won.append(world.submit(name="quicker", dedupe_key="load", schedule=in_an_hour(world)))

    more = [{"name": f"{n}", "dedupe_key": f"{n}", "depends_on": [{"job": "load"}]} for n in range(others)]
    client, done = aws.dynamodb(), []
    real = client._make_api_call

    def call(operation: str, request: dict[str, Any]) -> Any:
        if operation == "TransactWriteItems" and not done:
            done.append(operation)
            another()
        return real(operation, request)

    client._make_api_call = call
    status, answer = keyed(world, {}, {"name": "rep", "depends_on": [{"job": "load"}]}, *more)
    client._make_api_call = real
    assert status == 201, answer
    assert answer["items"][0] == {"job_id": won[0]["job_id"], "name": "quicker", "created": False}
    for one in answer["items"][1:]:
        assert world.request("GET", f"/jobs/{one['job_id']}")[1]["depends_on"] == after(won[0])
    [holder] = [item for item in world.items("jobs") if item["job_id"]["S"] == won[0]["job_id"]]
    assert holder["feeds"] == {"BOOL": True}


# refusals


def refused(world: World, path: str, body: Any, method: str = "POST") -> dict[str, str]:
    before = len(world.items("jobs"))
    status, problem = world.request(method, path, body)
    assert status == 422, problem
    assert len(world.items("jobs")) == before
    [error] = problem["errors"]
    return error


def test_an_unknown_job_is_refused(world: World) -> None:
    for unknown in ("nightly", "01kxq0v9m3c8e7w2r5t4y6h1nb"):
        error = refused(world, "/jobs", {"task": "echo", "depends_on": [{"job": unknown}]})
        assert error["field"] == "depends_on.0.job"
        assert error["message"].startswith(f"there is no job {unknown!r}: give the id of one that exists")


def test_a_deleted_job_is_refused_with_one_clear_problem(world: World) -> None:
    first = world.submit(name="first", schedule=in_an_hour(world))
    world.request("DELETE", f"/jobs/{first['job_id']}")
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first)})
    assert error == {
        "field": "depends_on.0.job",
        "message": f"job 'first' ({first['job_id']}) is deleted and will not run: leave it out, or name another",
    }


def test_the_same_job_twice_and_too_many_jobs_are_refused(world: World) -> None:
    first = world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first, first)})
    assert error["field"] == "depends_on.1.job"
    assert "twice" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "depends_on": [{"job": f"{n}"} for n in range(101)]})
    assert error["field"] == "depends_on"
    assert "100" in error["message"]


def test_an_unknown_condition_is_refused(world: World) -> None:
    first = world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first, condition="done")})
    assert error["field"] == "depends_on.0.condition"
    assert "finished" in error["message"]


def test_a_queue_job_neither_depends_nor_is_depended_on(world: World) -> None:
    queue, plain = world.submit(schedule={"queue": True}), world.submit()
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(queue)})
    assert error["field"] == "depends_on.0.job"
    assert "schedule.queue" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "schedule": {"queue": True}, "depends_on": after(plain)})
    assert error["field"] == "depends_on"
    assert "schedule.queue" in error["message"]
    jobs = [{"task": "echo", "name": "a"}, {"task": "echo", "schedule": {"queue": True}, "depends_on": [{"job": "a"}]}]
    assert refused(world, "/jobs/batch", {"jobs": jobs})["field"] == "jobs.1.depends_on"


def test_a_job_that_runs_once_and_one_that_recurs_do_not_go_together(world: World) -> None:
    once, recurring = world.submit(), world.submit(schedule={"cron": "0 * * * *"})
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(recurring)})
    assert error["field"] == "depends_on.0.job"
    assert "set schedule here to the upstream's" in error["message"]
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(once), "schedule": {"every_seconds": 60}})
    assert error["field"] == "depends_on.0.job"
    assert "leave schedule out here" in error["message"]


@pytest.mark.parametrize(
    ("upstream", "dependant"),
    [
        ({"schedule": {"cron": "0 * * * *"}}, {"schedule": {"cron": "30 * * * *"}}),
        ({"schedule": {"cron": "0 2 * * *"}, "window": "day"}, {"schedule": {"cron": "0 2 * * *"}}),
        (
            {"schedule": {"cron": "0 2 * * *", "timezone": "Europe/Berlin"}, "window": "day"},
            {"schedule": {"cron": "0 2 * * *"}, "window": "day"},
        ),
        ({"schedule": {"every_seconds": 60}}, {"schedule": {"every_seconds": 61}}),
    ],
)
def test_recurring_jobs_whose_windows_never_agree_are_refused(
    world: World, upstream: dict[str, Any], dependant: dict[str, Any]
) -> None:
    first = world.submit(**upstream)
    error = refused(world, "/jobs", {"task": "echo", "depends_on": after(first), **dependant})
    assert error["field"] == "depends_on.0.job"
    assert "data window" in error["message"]
    assert "same schedule" in error["message"]


def test_equal_intervals_that_were_submitted_apart_are_told_what_keeps_them_from_meeting(world: World) -> None:
    hourly: dict[str, Any] = {"schedule": {"every_seconds": 3600}}
    first = world.submit(**hourly)
    world.pass_time(90)
    error = refused(world, "/jobs", {"task": "echo", **hourly, "depends_on": after(first)})
    assert error["field"] == "depends_on.0.job"
    assert "each counts from its own start, so their instants differ" in error["message"]
    assert error["message"].endswith("the same window, such as day, or the same cron, or submit both in one batch")
    assert "same schedule" not in error["message"]
    batch(world, {"name": "a", **hourly}, {**hourly, "depends_on": [{"job": "a"}]})
    day = world.submit(window="day", **hourly)
    world.submit(window="day", depends_on=after(day), **hourly)


def test_a_name_that_two_jobs_of_a_batch_have_cannot_be_depended_on(world: World) -> None:
    jobs = [{"task": "echo"}, {"task": "echo"}, {"task": "echo", "name": "last", "depends_on": [{"job": "echo"}]}]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] == "jobs.2.depends_on.0.job"
    assert "2 jobs of this batch have the name 'echo'" in error["message"]


def test_a_batch_may_name_its_own_jobs_and_ids_of_others(world: World) -> None:
    first = world.submit()
    last, middle = batch(
        world,
        {"name": "last", "depends_on": [{"job": "middle"}, *after(first)]},
        {"name": "middle", "depends_on": after(first)},
    )
    world.settle_down()
    started_once(world, middle)
    started_once(world, last)
    error = refused(world, "/jobs/batch", {"jobs": [{"task": "echo", "depends_on": [{"job": "nobody"}]}]})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "name of a job of this batch" in error["message"]


def test_a_circle_in_a_batch_is_refused_and_named(world: World) -> None:
    jobs = [
        {"task": "echo", "name": name, "depends_on": [{"job": upstream}]}
        for name, upstream in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] in ("jobs.0.depends_on", "jobs.1.depends_on", "jobs.2.depends_on")
    start = "abc"[int(error["field"][5])]
    circle = {"a": "a → b → c → a", "b": "b → c → a → b", "c": "c → a → b → c"}[start]
    assert error["message"].endswith(f": {circle}")


def test_a_job_that_waits_for_itself_is_refused(world: World) -> None:
    jobs = [{"task": "echo", "name": "a", "depends_on": [{"job": "a"}]}]
    error = refused(world, "/jobs/batch", {"jobs": jobs})
    assert error["field"] == "jobs.0.depends_on.0.job"
    assert "itself" in error["message"]
    job = world.submit(schedule=in_an_hour(world))
    error = refused(world, f"/jobs/{job['job_id']}", {"depends_on": after(job)}, "PATCH")
    assert error["field"] == "depends_on.0.job"
    assert "itself" in error["message"]


def test_a_circle_by_an_edit_is_refused_and_named(world: World) -> None:
    later = in_an_hour(world)
    a = world.submit(name="a", schedule=later)
    b = world.submit(name="b", schedule=later, depends_on=after(a))
    c = world.submit(name="c", schedule=later, depends_on=after(b))
    error = refused(world, f"/jobs/{a['job_id']}", {"depends_on": after(c)}, "PATCH")
    assert error["field"] == "depends_on"
    circle = error["message"].rpartition(": ")[2]
    assert circle in ("a → c → b → a", "c → b → a → c", "b → a → c → b")
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    assert world.request("PATCH", f"/jobs/{c['job_id']}", {"depends_on": after(a)})[0] == 200


def test_two_edits_at_once_that_close_a_circle_are_not_both_kept(world: World) -> None:
    at = {"at": to_text(world.now + timedelta(hours=1))}
    a, b = world.submit(name="a", schedule=at), world.submit(name="b", schedule=at)
    for one in (a, b):
        world.submit(schedule=at, depends_on=after(one))
    world.settle_down()
    events, answers = aws.dynamodb().meta.events, []

    def meanwhile(params: dict[str, Any], **_: Any) -> None:
        if b'"TableName": "jobs"' in bytes(params["body"]):  # the first is checked, and about to be stored
            events.unregister("before-call.dynamodb.PutItem", meanwhile)
            answers.append(world.request("PATCH", f"/jobs/{b['job_id']}", {"depends_on": after(a)}))

    events.register("before-call.dynamodb.PutItem", meanwhile)
    answers.append(world.request("PATCH", f"/jobs/{a['job_id']}", {"depends_on": after(b)}))
    assert [status for status, _ in answers] == [200, 422]
    assert "a → b → a" in answers[1][1]["detail"]
    assert world.request("GET", f"/jobs/{a['job_id']}")[1]["depends_on"] == []
    world.settle_down()
    world.tick()
    world.pass_time(3600)
    world.run_for(120, step=30)
    assert [only(world, one)["status"] for one in (a, b)] == ["succeeded", "succeeded"]
