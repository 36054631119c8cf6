"""``waiting_for`` of an execution names its current cause of waiting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from punctual import Context
from punctual.domain.instant import from_text, to_text
from punctual.domain.schedules.jitter import delay
from punctual.stages.api import explain
from tests.integration.concurrency_keys import status, submit
from tests.integration.fixture_tasks import TASK_BODIES
from tests.integration.world import World


def waiting_reason(world: World, job_id: str) -> dict[str, Any]:
    [one] = world.executions(job_id)
    return world.execution(one["execution_id"])["waiting_for"]


def test_only_unfinished_upstreams_are_named(world: World) -> None:
    first = world.submit(name="first")["job_id"]
    second = world.submit(name="second", schedule={"at": to_text(world.now + timedelta(hours=1))})["job_id"]
    job_id = world.submit(depends_on=[{"job": first}, {"job": second}])["job_id"]
    for _ in range(3):
        world.deliver_streams()
    assert "waits for first" in waiting_reason(world, job_id)["detail"]
    world.run_until_idle()
    [one] = world.executions(job_id)
    shown = world.execution(one["execution_id"])
    assert shown["waiting_for"]["detail"].startswith("waits for second")
    assert shown["reason"] == shown["waiting_for"]["detail"]
    assert shown["waiting_for"]["ahead"] == 1


def test_after_its_backoff_an_execution_waits_for_a_worker_of_the_queue_with_its_message(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9}, priority="low")["job_id"]
    for _ in range(3):
        world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    world.deliver_streams()
    shown = waiting_reason(world, job_id)
    assert (shown["what"], "the next attempt is at" in shown["detail"]) == ("rest", True)
    world.pass_time(600)
    assert waiting_reason(world, job_id) == {
        "what": "worker",
        "detail": "waits for a worker of the queue normal",
        "until": None,
        "ahead": None,
        "executions_ahead": [],
        "executions": [],
        "job_names": {},
        "as_of": None,
    }
    assert len(world.receive("normal")) == 1


def test_an_execution_queued_before_the_end_of_its_backoff_still_shows_the_backoff(world: World) -> None:
    job_id = world.submit(task="fail", parameters={"times": 9}, retry={"backoff_seconds": 3000})["job_id"]
    world.run_until_idle()
    world.pass_time(2880)
    world.tick()
    world.deliver_streams()
    [one] = world.executions(job_id)
    assert (one["status"], waiting_reason(world, job_id)["what"]) == ("queued", "rest")


@pytest.mark.parametrize(("late", "queue"), [(60, "normal"), (600, "high")])
def test_an_execution_that_was_queued_late_waits_in_a_higher_priority_queue(
    world: World, late: int, queue: str
) -> None:
    job_id = world.submit(schedule={"at": to_text(world.now + timedelta(hours=1))}, misfire={"grace_seconds": 900})[
        "job_id"
    ]
    world.run_until_idle()
    world.tick()
    world.pass_time(3600 + late)
    world.tick()
    world.deliver_streams()
    assert waiting_reason(world, job_id)["detail"] == f"waits for a worker of the queue {queue}"
    assert len(world.receive(queue)) == 1


def test_an_execution_admitted_late_at_a_gate_waits_in_a_higher_priority_queue(world: World) -> None:
    key = {"key": "k", "limit": 1}
    second: list[str] = []

    def submit_another(_: Any) -> None:
        second.append(world.submit(concurrency=key)["job_id"])
        world.run_until_idle()
        world.pass_time(600)

    TASK_BODIES.append(submit_another)
    world.submit(task="test.scripted", concurrency=key)
    for _ in range(2):
        world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    world.deliver_streams()
    assert waiting_reason(world, second[0])["detail"] == "waits for a worker of the queue high"
    assert len(world.receive("high")) == 1


def test_an_execution_that_is_not_due_shows_its_instant(world: World) -> None:
    at = to_text(world.now + timedelta(hours=1))
    job = world.submit(schedule={"at": at})
    world.run_until_idle()
    [one] = world.executions(job["job_id"])
    waiting_for = world.execution(one["execution_id"])["waiting_for"]
    assert (waiting_for["what"], waiting_for["detail"]) == ("time", f"it is due at {at}")


def test_with_jitter_an_execution_shows_its_instant_and_its_start(world: World) -> None:
    due = world.now + timedelta(hours=1)
    job = world.submit(schedule={"every_seconds": 3600, "starts_at": to_text(due), "jitter_seconds": 600})
    world.run_until_idle()
    [one] = world.executions(job["job_id"])
    starts = due + delay(job["job_id"], due, 600)
    detail = world.execution(one["execution_id"])["waiting_for"]["detail"]
    assert detail == f"it is due at {to_text(due)}, and starts at {to_text(starts)} because of its jitter"


def test_a_waiter_shows_the_current_holders_and_how_many_waiters_are_ahead(world: World) -> None:
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
            world.run_until_idle()
        seen["jobs"] = jobs
        assert look(jobs[2]) == ("1 execution with the same concurrency key is running", [context.execution_id], 2)
        with mock.patch.object(explain, "MAX_WAITERS_AHEAD", 1):
            assert look(jobs[2])[2] == 1
        assert world.request("POST", f"/jobs/{jobs[0]}/pause")[0] == 200
        world.run_until_idle()
        assert status(world, jobs[0]) == "skipped"
        assert look(jobs[2]) == ("1 execution with the same concurrency key is running", [context.execution_id], 1)

    def then(context: Context) -> None:
        assert context.job_id == seen["jobs"][1]
        assert look(seen["jobs"][2]) == (
            "1 execution with the same concurrency key is running",
            [context.execution_id],
            0,
        )
        seen["done"] = True

    TASK_BODIES.extend([hold, then])
    submit(world, concurrency=one_at_once)
    world.run_until_idle()
    assert seen["done"]


def test_a_waiter_names_the_execution_that_is_running_now_not_the_one_that_ran_when_it_joined(world: World) -> None:
    job_id = submit(world, concurrency={"key": "k", "limit": 5}, schedule={"every_seconds": 60}, overlap="queue_all")
    seen: list[tuple[bool, bool]] = []

    def hold(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(60)
            world.run_until_idle()

    def look(context: Context) -> None:
        third = world.execution(world.executions(job_id)[2]["execution_id"])["waiting_for"]
        seen.append(
            (third["detail"] == f"waits for {context.execution_id}", third["executions"] == [context.execution_id])
        )

    TASK_BODIES.extend([hold, look])
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    assert seen == [(True, True)]


def test_a_queued_execution_shows_the_queue_length_and_when_it_was_counted(world: World) -> None:
    job = world.submit()["job_id"]
    for _ in range(2):
        world.deliver_streams()
    name = world.executions(job)[0]["execution_id"]
    assert world.execution(name)["waiting_for"] == {
        "what": "worker",
        "detail": "waits for a worker of the queue normal",
        "until": None,
        "ahead": None,
        "executions_ahead": [],
        "executions": [],
        "job_names": {},
        "as_of": None,
    }
    world.monitor_tick()
    counted_at = to_text(world.now)
    world.pass_time(119)
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["ahead"], waiting_for["as_of"]) == (1, counted_at)
    world.pass_time(2)
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["ahead"], waiting_for["as_of"]) == (None, None)


def test_a_queued_execution_shows_when_the_queue_is_expected_to_be_drained(world: World) -> None:
    TASK_BODIES.append(lambda _context: world.pass_time(30))
    submit(world)
    world.monitor_tick()
    world.run_until_idle()
    world.pass_time(30)
    world.monitor_tick()
    job = world.submit()["job_id"]
    world.deliver_streams()
    world.deliver_streams()
    world.pass_time(60)
    world.monitor_tick()
    waiting_for = world.execution(world.executions(job)[0]["execution_id"])["waiting_for"]
    assert (waiting_for["what"], waiting_for["ahead"]) == ("worker", 1)
    drained_at = world.now + timedelta(seconds=3)  # ten workers, each of which needs 30 seconds
    assert abs(from_text(waiting_for["until"]) - drained_at) < timedelta(seconds=1)


def test_a_dependant_shows_how_many_upstreams_are_unfinished(world: World) -> None:
    at = to_text(world.now + timedelta(hours=1))
    first, second = world.submit()["job_id"], world.submit(schedule={"at": at})["job_id"]
    last = world.submit(depends_on=[{"job": first}, {"job": second}])["job_id"]
    world.deliver_streams()
    world.deliver_streams()
    name = world.executions(last)[0]["execution_id"]
    upstreams = [world.executions(one)[0]["execution_id"] for one in (first, second)]
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["what"], waiting_for["ahead"], waiting_for["executions"]) == ("upstream", 2, upstreams)
    world.run_until_idle()
    waiting_for = world.execution(name)["waiting_for"]
    assert (waiting_for["what"], waiting_for["ahead"], waiting_for["executions"]) == ("upstream", 1, upstreams[1:])
