"""A worker that dies before its claim: the dispatcher has the execution sent again within two minutes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from punctual.domain.executions.work_order import read_work_order
from punctual.domain.instant import from_text, to_text
from punctual.stages.dispatch import start_checks
from punctual.stages.run.work import _entrant
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

TICKS = 2
"""The first check of a start comes with the first tick that is a minute later."""
OVERLAPS = ("allow", "skip")
"""Without a gate, and with the gate of the job."""


def send(world: World) -> None:
    world.deliver_streams()
    world.deliver_streams()


def timers(world: World) -> list[list[str]]:
    """Instant, execution and reason of all timers."""
    found = [item["due"]["S"].split("#") for item in world.items("timers") if item["bucket"]["S"] != "sweep"]
    return sorted(found)


def lose_orders(world: World) -> list[dict[str, Any]]:
    """Let the workers that receive the visible orders die before they do anything."""
    return world.orders()


def pass_ticks(world: World, count: int = TICKS) -> None:
    for _ in range(count):
        world.pass_time(60)
        world.tick()
        send(world)


def statuses(world: World, job_id: str) -> list[str]:
    return [one["status"] for one in world.executions(job_id)]


def assert_started_within_two_minutes(world: World, job_id: str, since: Any) -> None:
    world.run_until_idle()
    [execution] = [one for one in world.executions(job_id) if one["started_at"]]
    assert execution["status"] == "succeeded"
    assert timedelta() < from_text(execution["started_at"]) - since <= timedelta(minutes=2, seconds=5)


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_a_run_whose_worker_dies_before_the_claim_starts_within_two_minutes(world: World, overlap: str) -> None:
    job = world.submit(task="echo", schedule={"every_seconds": 3600}, overlap=overlap)
    world.request("POST", f"/jobs/{job['job_id']}/run")
    submitted_at = world.now
    send(world)
    assert len(lose_orders(world)) == 1
    pass_ticks(world)
    assert_started_within_two_minutes(world, job["job_id"], submitted_at)


def test_a_scheduled_execution_is_checked_without_a_timer_of_the_check(world: World) -> None:
    due = world.now + timedelta(minutes=10)
    job = world.submit(task="echo", schedule={"at": to_text(due)})
    send(world)
    while world.now < due:
        pass_ticks(world, 1)
    assert len(lose_orders(world)) == 1
    assert [reason for _, _, reason in timers(world)] == ["due"]
    pass_ticks(world, 1)
    assert [reason for _, _, reason in timers(world)] == ["due", "start"]  # the order that was sent again is checked
    assert_started_within_two_minutes(world, job["job_id"], due)


def test_a_message_whose_worker_dies_starts_within_two_minutes(world: World) -> None:
    job = world.submit(task="echo", schedule={"queue": True})
    world.request("POST", f"/jobs/{job['job_id']}/messages", {"messages": [{}]})
    sent_at = world.now
    world.deliver_intake()
    send(world)
    assert len(lose_orders(world)) == 1
    pass_ticks(world)
    assert_started_within_two_minutes(world, job["job_id"], sent_at)


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_a_retry_whose_worker_dies_before_the_claim_starts_within_two_minutes(world: World, overlap: str) -> None:
    job = world.submit(
        task="fail",
        parameters={"times": 1},
        retry={"backoff_seconds": 10},
        schedule={"every_seconds": 3600},
        overlap=overlap,
    )
    world.request("POST", f"/jobs/{job['job_id']}/run")
    send(world)
    [order] = world.orders()
    world.work(order)
    send(world)
    world.pass_time(10)
    retry_at = world.now
    assert len(lose_orders(world)) == 1
    pass_ticks(world)
    assert_started_within_two_minutes(world, job["job_id"], retry_at)


def test_an_execution_that_got_its_place_starts_within_two_minutes_after_its_worker_died(world: World) -> None:
    jobs = [world.submit(task="echo", concurrency={"key": "k", "limit": 1}) for _ in range(2)]
    send(world)
    first, second = world.orders()
    gates = world.function("worker").worker.gatekeeper
    holder, waiter = (read_work_order(one["body"]) for one in (first, second))
    assert gates.acquire(_entrant(holder), holder.gates)
    world.work(second)
    assert statuses(world, waiter.job_id) == ["waiting"]
    world.pass_time(300)
    world.work(first)  # releases the place, which is granted to the waiter
    send(world)
    granted_at = world.now
    assert len(lose_orders(world)) == 1
    pass_ticks(world)
    assert {waiter.job_id, holder.job_id} == {job["job_id"] for job in jobs}
    assert_started_within_two_minutes(world, waiter.job_id, granted_at)


def test_a_second_worker_that_dies_is_noticed_too(world: World) -> None:
    job = world.submit(task="echo")
    send(world)
    world.pass_time(1)
    for ticks in (1, 2, 4):  # the time until the next check doubles
        assert len(lose_orders(world)) == 1
        pass_ticks(world, ticks)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]


def test_an_execution_behind_a_long_queue_is_not_sent_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_checks, "MAX_QUEUE_LENGTH", 3)
    for _ in range(5):
        world.submit(task="echo")
    send(world)
    pass_ticks(world, 4)
    assert len(lose_orders(world)) == 5


def test_orders_that_are_sent_again_do_not_lengthen_a_queue_beyond_the_limit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_checks, "MAX_QUEUE_LENGTH", 3)
    for _ in range(5):
        world.submit(task="echo")
    send(world)
    assert len(lose_orders(world)) == 5
    pass_ticks(world)
    assert len(lose_orders(world)) == 3


def test_a_tick_after_missed_ticks_checks_what_came_due_meanwhile(world: World) -> None:
    world.tick()
    job = world.submit(task="echo")
    send(world)
    assert len(lose_orders(world)) == 1
    world.pass_time(600)
    pass_ticks(world, 1)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]


def test_the_order_of_a_paused_job_is_not_sent_again(world: World) -> None:
    job = world.submit(task="echo", schedule={"every_seconds": 3600}, overlap="allow")
    world.request("POST", f"/jobs/{job['job_id']}/run")
    send(world)
    assert len(lose_orders(world)) == 1
    world.request("POST", f"/jobs/{job['job_id']}/pause")
    world.pass_time(61)
    world.tick()  # before the planner handles the pause
    send(world)
    assert "succeeded" not in statuses(world, job["job_id"])
    world.run_until_idle()
    assert "succeeded" not in statuses(world, job["job_id"])


def test_a_crash_of_the_dispatcher_after_the_check_repeats_it(world: World) -> None:
    job = world.submit(task="echo")
    send(world)
    assert len(lose_orders(world)) == 1
    world.pass_time(61)
    timers_of = world.function("dispatcher").dispatcher.timers
    with mock.patch.object(type(timers_of), "advance", side_effect=Killed), pytest.raises(Killed):
        world.tick()
    assert world.tick()["sent_again"] == 0  # the first tick has marked it a moment ago
    send(world)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]


def test_a_job_is_stored_after_its_owner_so_that_no_check_misses_its_executions(world: World) -> None:
    world.aws_requests.clear()
    world.submit()
    stored = world.dynamodb.get_item(TableName="jobs", Key={"job_id": {"S": "#owners"}})["Item"]
    assert stored["owners"] == {"SS": ["data-quality"]}
    assert world.aws_requests.index("UpdateItem") < world.aws_requests.index("PutItem")
