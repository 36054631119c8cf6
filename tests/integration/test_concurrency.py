"""Priorities, keys that only so many may run of, rates, and what an execution says it waits for."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from punctual import Context
from punctual.aws import clients
from punctual.domain.instant import from_text, to_text
from punctual.domain.jitter import delay
from tests.integration.long_lane import LongLane
from tests.integration.odd_tasks import MEANWHILE, Killed
from tests.integration.world import World

KEY = {"key": "customer-{customer}", "limit": 2}


def submit(world: World, customer: int = 1, concurrency: dict[str, Any] = KEY, **more: Any) -> str:
    parameters = {"customer": customer}
    job = world.submit(task="test.meanwhile", parameters=parameters, concurrency=concurrency, **more)
    return str(job["job_id"])


def status(world: World, job_id: str) -> str:
    [one] = world.executions(job_id)
    return str(one["status"])


def ordered(world: World) -> list[dict[str, Any]]:
    """The orders of all that was submitted, the oldest job first."""
    for _ in range(3):
        world.deliver_streams()
    return sorted(world.orders(), key=lambda one: json.loads(one["body"])["execution_id"])


def nested(world: World, orders: list[dict[str, Any]], inside: Any) -> None:
    """Have each run while the one before still does; then do ``inside``."""
    if not orders:
        inside()
        return
    MEANWHILE.append(lambda _context: nested(world, orders[1:], inside))
    world.work(orders[0])


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


def test_only_so_many_start_in_a_span_of_time_and_the_rest_say_when(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 2, "per_seconds": 60}}
    jobs = [submit(world, concurrency=rate) for _ in range(5)]
    world.settle_down()
    found = sorted(status(world, job) for job in jobs)
    assert found == ["queued"] * 3 + ["succeeded"] * 2
    put_off = [world.executions(job)[0] for job in jobs if status(world, job) == "queued"]
    starts = sorted(from_text(one["retry_at"]) for one in put_off)
    assert starts == [world.now + timedelta(seconds=seconds) for seconds in (30, 60, 90)]
    in_order = sorted(put_off, key=lambda one: str(one["retry_at"]))
    ahead = [world.execution(one["execution_id"])["waiting_for"]["ahead"] for one in in_order]
    assert ahead == [0, 1, 2]
    waiting_for = world.execution(put_off[0]["execution_id"])["waiting_for"]
    assert waiting_for["what"] == "rate"
    assert waiting_for["detail"].startswith("no more than 2 start in 60 seconds: it starts at ")
    for seconds in (30, 30, 30):
        world.pass_time(seconds)
        world.settle_down()
    assert [status(world, job) for job in jobs] == ["succeeded"] * 5
    started = sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)
    for earlier, third in zip(started, started[2:], strict=False):
        assert third - earlier >= timedelta(seconds=30)


BOTH = {"key": "partner", "limit": 1, "rate": {"starts": 1, "per_seconds": 4}}
KEY_OF_BOTH = "key#data-quality#partner"


def started(world: World, jobs: list[str]) -> list[datetime]:
    """When each of them started, the first one first."""
    return sorted(from_text(world.executions(job)[0]["started_at"]) for job in jobs)


def put_off(world: World) -> tuple[str, str]:
    """Two jobs of one key: one that is inside and may start only later, and one that waits behind it."""
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    first = submit(world, concurrency=rare)
    world.settle_down()
    assert status(world, first) == "succeeded"
    world.pass_time(1)
    second = submit(world, concurrency=rare)
    world.settle_down()
    world.pass_time(1)
    third = submit(world, concurrency=rare)
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    return second, third


def test_a_rate_is_kept_where_its_key_has_a_limit_too(world: World) -> None:
    jobs: list[str] = []

    def hold(_context: Context) -> None:
        jobs.extend(submit(world, concurrency=BOTH) for _ in range(4))
        world.pass_time(20)
        world.settle_down()
        assert [status(world, job) for job in jobs] == ["waiting"] * 4

    MEANWHILE.append(hold)
    submit(world, concurrency=BOTH)
    world.settle_down()
    world.run_for(20)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 4
    starts = started(world, jobs)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_a_rate_is_kept_where_its_job_runs_one_after_the_other(world: World) -> None:
    rate = {"key": "partner", "rate": {"starts": 1, "per_seconds": 4}}
    job_id = submit(world, concurrency=rate, schedule={"cron": "@yearly"}, overlap="queue_all")

    def run() -> str:
        answer, ran = world.request("POST", f"/jobs/{job_id}/run", {})
        assert answer == 201
        return str(ran["execution"]["execution_id"])

    ran: list[str] = []

    def hold(_context: Context) -> None:
        for _ in range(3):
            ran.append(run())
            world.settle_down()
        world.pass_time(20)

    MEANWHILE.append(hold)
    run()
    world.settle_down()
    world.run_for(14)
    starts = sorted(from_text(world.execution(one)["started_at"]) for one in ran)
    assert all(later - earlier >= timedelta(seconds=4) for earlier, later in pairwise(starts))


def test_one_that_is_put_off_keeps_its_place_however_often_the_gates_are_looked_after(world: World) -> None:
    second, third = put_off(world)
    starts_at = world.executions(second)[0]["retry_at"]
    world.run_for(300, step=60)
    assert (status(world, second), status(world, third)) == ("queued", "waiting")
    assert world.executions(second)[0]["retry_at"] == starts_at
    world.run_for(300, step=60)
    assert world.executions(second)[0]["started_at"] >= starts_at
    world.run_for(660, step=60)
    assert (status(world, second), status(world, third)) == ("succeeded", "succeeded")


def test_one_that_is_cancelled_while_it_is_put_off_makes_room_at_once(world: World) -> None:
    second, third = put_off(world)
    [one] = world.executions(second)
    assert world.request("PUT", f"/executions/{one['execution_id']}/cancel")[0] == 200
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("cancelled", "queued")
    assert [item["entry"]["S"] for item in world.items("gates") if item["gate"]["S"] != "rate"] == [KEY_OF_BOTH]
    assert world.execution(world.executions(third)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_one_that_a_pause_skips_while_it_is_put_off_makes_room_within_a_minute(world: World) -> None:
    second, third = put_off(world)
    assert world.request("POST", f"/jobs/{second}/pause")[0] == 200
    world.settle_down()
    world.tick()
    world.settle_down()
    assert (status(world, second), status(world, third)) == ("skipped", "queued")


def test_one_that_goes_by_another_key_since_an_edit_makes_room_at_the_old_one(world: World) -> None:
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    moved = submit(world, concurrency=rare, schedule={"every_seconds": 300})
    other = submit(world, concurrency=rare)
    world.settle_down()
    assert status(world, other) == "succeeded"
    world.run_for(360, step=60)
    [late, *_] = world.executions(moved)
    assert (late["status"], late["reason"]) == ("queued", "no more than 1 start in 600 seconds")
    assert world.request("PATCH", f"/jobs/{moved}", {"concurrency": {**rare, "key": "another"}})[0] == 200
    waits = submit(world, concurrency=rare)
    world.settle_down()
    world.tick()
    world.settle_down()
    assert status(world, waits) == "queued"
    assert world.execution(world.executions(waits)[0]["execution_id"])["waiting_for"]["what"] == "rate"


def test_one_that_gets_in_just_as_it_stands_in_line_is_put_off_like_others(world: World) -> None:
    rare = {**BOTH, "rate": {"starts": 1, "per_seconds": 600}}
    first, second = submit(world, concurrency=rare), submit(world, concurrency=rare)
    orders = {json.loads(order["body"])["job_id"]: order for order in ordered(world)}
    first_id = world.executions(first)[0]["execution_id"]

    def leave(params: dict[str, Any], **_: Any) -> None:
        if b'"TableName": "gates"' in bytes(params["body"]):
            world.function("worker").worker.doors.gates.leave(KEY_OF_BOTH, first_id)

    def act(_context: Context) -> None:
        clients.dynamodb().meta.events.register("before-call.dynamodb.PutItem", leave)
        world.work(orders[second])
        clients.dynamodb().meta.events.unregister("before-call.dynamodb.PutItem", leave)

    MEANWHILE.append(act)
    world.work(orders[first])
    late = world.execution(world.executions(second)[0]["execution_id"])
    assert (late["status"], late["waiting_for"]["what"]) == ("queued", "rate")
    assert from_text(late["retry_at"]) == world.now + timedelta(seconds=600)
    world.settle_down()
    world.pass_time(600)
    world.settle_down()
    assert status(world, second) == "succeeded"


def test_an_order_that_comes_twice_reserves_one_start(world: World) -> None:
    rate = {"key": "api", "rate": {"starts": 1, "per_seconds": 60}}
    submit(world, concurrency=rate)
    world.settle_down()
    late = submit(world, concurrency=rate)
    [order] = ordered(world)
    world.work(order)
    starts_at = world.executions(late)[0]["retry_at"]
    world.work(order)
    world.work(order)
    assert world.executions(late)[0]["retry_at"] == starts_at
    after = submit(world, concurrency=rate)
    world.settle_down()
    assert from_text(world.executions(after)[0]["retry_at"]) == from_text(starts_at) + timedelta(seconds=60)


def test_a_worker_that_died_is_replaced_although_no_start_is_free(world: World) -> None:
    def die(_context: Context) -> None:
        raise Killed

    job = submit(world, concurrency={"key": "rare", "limit": 1, "rate": {"starts": 1, "per_seconds": 3600}})
    MEANWHILE.append(die)
    [order] = ordered(world)
    with pytest.raises(Killed):
        world.work(order)
    world.pass_time(45)
    world.tick()
    world.settle_down()
    assert status(world, job) == "succeeded"


def test_in_the_long_lane_one_that_is_put_off_asks_again_when_it_may_start(lane: LongLane) -> None:
    rare = {"key": "rare", "rate": {"starts": 1, "per_seconds": 600}}
    first, second = lane.submit(concurrency=rare), lane.submit(concurrency=rare)
    assert lane.next(first)["parts"] == ["all"]
    answer = lane.next(second)
    assert (answer["next"], answer["parts"]) == ("run", [])
    assert from_text(answer["not_before"]) == lane.world.now + timedelta(seconds=600)
    lane.world.pass_time(600)
    assert lane.next(second)["parts"] == ["all"]


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


def test_a_start_that_was_put_off_for_longer_than_a_queue_holds_comes_by_its_timer(world: World) -> None:
    rate = {"key": "rare", "rate": {"starts": 1, "per_seconds": 1800}}
    jobs = [submit(world, concurrency=rate) for _ in range(2)]
    world.tick()
    world.settle_down()
    assert sorted(status(world, job) for job in jobs) == ["queued", "succeeded"]
    world.run_for(1860, step=60)
    assert [status(world, job) for job in jobs] == ["succeeded"] * 2


def test_what_is_tried_again_or_comes_late_goes_by_a_higher_priority(world: World) -> None:
    job = world.submit(task="fail", parameters={"times": 1}, priority="low", retry={"backoff_seconds": 0})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.receive("low")
    world.work(order)
    world.deliver_streams()
    assert world.receive("low") == []
    [again] = world.receive("normal")
    world.work(again)
    assert status(world, job["job_id"]) == "succeeded"


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


def test_an_execution_that_is_not_due_says_when_it_is(world: World) -> None:
    at = to_text(world.now + timedelta(hours=1))
    job = world.submit(schedule={"at": at})
    world.settle_down()
    [one] = world.executions(job["job_id"])
    waiting_for = world.execution(one["execution_id"])["waiting_for"]
    assert (waiting_for["what"], waiting_for["detail"]) == ("time", f"it is due at {at}")


def test_with_jitter_it_says_when_it_is_due_and_when_it_starts(world: World) -> None:
    due = world.now + timedelta(hours=1)
    job = world.submit(schedule={"every_seconds": 3600, "starts_at": to_text(due), "jitter_seconds": 600})
    world.settle_down()
    [one] = world.executions(job["job_id"])
    starts = due + delay(job["job_id"], due, 600)
    detail = world.execution(one["execution_id"])["waiting_for"]["detail"]
    assert detail == f"it is due at {to_text(due)}, and starts at {to_text(starts)} by its jitter"


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


def test_what_runs_inside_a_gate_is_among_what_runs_now(world: World) -> None:
    world.submit(task="test.meanwhile", schedule={"every_seconds": 60})
    seen: list[Any] = []

    def look(context: Context) -> None:
        _, page = world.request("GET", "/executions?status=running")
        _, overview = world.request("GET", "/overview")
        seen.append(([one["execution_id"] for one in page["items"]] == [context.execution_id], overview["running"]))

    MEANWHILE.append(look)
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    assert seen == [(True, 1)]


def test_in_line_it_says_who_is_inside_now_and_how_many_of_those_before_it_still_wait(world: World) -> None:
    one_at_once = {"key": "one", "limit": 1}
    seen: dict[str, Any] = {}

    def look(job: str) -> tuple[str, list[str], int]:
        waiting_for = world.execution(world.executions(job)[0]["execution_id"])["waiting_for"]
        return waiting_for["detail"], waiting_for["executions"], waiting_for["ahead"]

    def hold(context: Context) -> None:
        jobs = []
        for _ in range(3):
            world.pass_time(1)
            jobs.append(submit(world, concurrency=one_at_once))
            world.settle_down()
        seen["jobs"] = jobs
        assert look(jobs[2]) == ("1 of its key run already", [context.execution_id], 2)
        assert world.request("POST", f"/jobs/{jobs[0]}/pause")[0] == 200
        world.settle_down()
        assert status(world, jobs[0]) == "skipped"
        assert look(jobs[2]) == ("1 of its key run already", [context.execution_id], 1)

    def then(context: Context) -> None:
        assert context.job_id == seen["jobs"][1]
        assert look(seen["jobs"][2]) == ("1 of its key run already", [context.execution_id], 0)
        seen["done"] = True

    MEANWHILE.extend([hold, then])
    submit(world, concurrency=one_at_once)
    world.settle_down()
    assert seen["done"]


def test_of_its_own_job_it_names_who_runs_now_and_not_who_ran_when_it_came(world: World) -> None:
    job_id = submit(world, concurrency={"key": "k", "limit": 5}, schedule={"every_seconds": 60}, overlap="queue_all")
    seen: list[tuple[bool, bool]] = []

    def hold(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(60)
            world.settle_down()

    def look(context: Context) -> None:
        third = world.execution(world.executions(job_id)[2]["execution_id"])["waiting_for"]
        seen.append(
            (third["detail"] == f"waits for {context.execution_id}", third["executions"] == [context.execution_id])
        )

    MEANWHILE.extend([hold, look])
    world.settle_down()
    world.pass_time(60)
    world.settle_down()
    assert seen == [(True, True)]


def test_in_a_queue_it_says_how_many_were_before_it_and_when_that_was_counted(world: World) -> None:
    job = world.submit()["job_id"]
    for _ in range(2):
        world.deliver_streams()
    name = world.executions(job)[0]["execution_id"]
    assert world.execution(name)["waiting_for"] == {
        "what": "worker",
        "detail": "a worker of the queue normal",
        "ahead": None,
        "executions": [],
        "as_of": None,
    }
    world.watch()
    counted_at = to_text(world.now)
    world.pass_time(119)
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["ahead"], waiting_for["as_of"]) == (1, counted_at)
    world.pass_time(2)
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["ahead"], waiting_for["as_of"]) == (None, None)


def test_for_upstreams_it_says_how_many_have_not_ended(world: World) -> None:
    at = to_text(world.now + timedelta(hours=1))
    first, second = world.submit()["job_id"], world.submit(schedule={"at": at})["job_id"]
    last = world.submit(depends_on=[{"job": first}, {"job": second}])["job_id"]
    world.deliver_streams()
    world.deliver_streams()
    name = world.executions(last)[0]["execution_id"]
    upstreams = [world.executions(one)[0]["execution_id"] for one in (first, second)]
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["what"], waiting_for["ahead"], waiting_for["executions"]) == ("upstream", 2, upstreams)
    world.settle_down()
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["what"], waiting_for["ahead"], waiting_for["executions"]) == ("upstream", 1, upstreams[1:])


def test_owners_share_a_queue_fairly_as_each_has_a_message_group(world: World) -> None:
    for team in ("a", "a", "b", "team of Zoë"):
        assert world.request("POST", "/jobs", {"task": "fail", "parameters": {"times": 1}}, team=team)[0] == 201
    for _ in range(2):
        world.deliver_streams()
    orders = world.orders()
    groups = [(json.loads(one["body"])["owner"], one["attributes"]["MessageGroupId"]) for one in orders]
    assert sorted(group for owner, group in groups if owner in ("a", "b")) == ["a", "a", "b"]
    assert len({group for _, group in groups}) == 3
    world.work(orders[0])
    world.pass_time(60)
    world.deliver_streams()
    [again] = world.orders()
    assert again["attributes"]["MessageGroupId"] == orders[0]["attributes"]["MessageGroupId"]


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
