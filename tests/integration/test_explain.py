"""What an execution says that it waits for is what it waits for now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import to_text
from punctual.domain.schedules.jitter import delay
from tests.integration.keyed import status, submit
from tests.integration.odd_tasks import MEANWHILE
from tests.integration.world import World


def explained(world: World, job_id: str) -> dict[str, Any]:
    [one] = world.executions(job_id)
    return world.execution(one["execution_id"])["waiting_for"]


def test_of_several_upstreams_those_are_named_that_have_not_ended(world: World) -> None:
    first = world.submit(name="first")["job_id"]
    second = world.submit(name="second", schedule={"at": to_text(world.now + timedelta(hours=1))})["job_id"]
    job_id = world.submit(depends_on=[{"job": first}, {"job": second}])["job_id"]
    for _ in range(3):
        world.deliver_streams()
    assert "waits for first" in explained(world, job_id)["detail"]
    world.settle_down()
    [one] = world.executions(job_id)
    shown = world.execution(one["execution_id"])
    assert shown["waiting_for"]["detail"].startswith("waits for second")
    assert shown["reason"] == shown["waiting_for"]["detail"]
    assert shown["waiting_for"]["ahead"] == 1


def test_one_whose_rest_is_over_waits_for_a_worker_of_the_queue_that_has_its_order(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9}, priority="low")["job_id"]
    for _ in range(3):
        world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    world.deliver_streams()
    resting = explained(world, job_id)
    assert (resting["what"], "the next attempt is at" in resting["detail"]) == ("rest", True)
    world.pass_time(600)
    assert explained(world, job_id) == {
        "what": "worker",
        "detail": "a worker of the queue normal",
        "ahead": None,
        "executions": [],
        "as_of": None,
    }
    assert len(world.receive("normal")) == 1


def test_one_that_is_queued_ahead_of_the_end_of_its_rest_still_rests(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9}, retry={"backoff_seconds": 3000})["job_id"]
    world.settle_down()
    world.pass_time(2880)
    world.tick()
    world.deliver_streams()
    [one] = world.executions(job_id)
    assert (one["status"], explained(world, job_id)["what"]) == ("queued", "rest")


@pytest.mark.parametrize(("late", "queue"), [(60, "normal"), (600, "high")])
def test_one_that_was_queued_late_waits_in_a_higher_queue(world: World, late: int, queue: str) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now + timedelta(hours=1))}, misfire={"grace_seconds": 900})[
        "job_id"
    ]
    world.settle_down()
    world.tick()
    world.pass_time(3600 + late)
    world.tick()
    world.deliver_streams()
    assert explained(world, job_id)["detail"] == f"a worker of the queue {queue}"
    assert len(world.receive(queue)) == 1


def test_one_that_was_let_in_late_waits_in_a_higher_queue(world: World) -> None:
    key = {"key": "k", "limit": 1}
    second: list[str] = []

    def meanwhile(_: Any) -> None:
        second.append(world.submit(concurrency=key)["job_id"])
        world.settle_down()
        world.pass_time(600)

    MEANWHILE.append(meanwhile)
    world.submit(task="test.meanwhile", concurrency=key)
    for _ in range(2):
        world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    world.deliver_streams()
    assert explained(world, second[0])["detail"] == "a worker of the queue high"
    assert len(world.receive("high")) == 1


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
