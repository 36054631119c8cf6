"""What an execution says that it waits for is what it waits for now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from punctual.domain.instant import to_text
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
