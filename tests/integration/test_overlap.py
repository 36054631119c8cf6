"""Overlap rules: an execution falls due while an earlier execution of its job is still running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from punctual import Context
from punctual.domain.instant import from_text
from tests.integration.faults import crash_at
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.long_lane import LongLane
from tests.integration.world import World

MINUTELY = {"every_seconds": 60}


def submit(world: World, overlap: str | None, **more: Any) -> str:
    rule = {"overlap": overlap} if overlap else {}
    return str(world.submit(task="test.scripted", schedule=MINUTELY, **rule, **more)["job_id"])


def outcomes(world: World, job_id: str) -> list[tuple[str, str | None]]:
    """Status and reason of the executions that are due."""
    now = world.now
    return [(one["status"], one["reason"]) for one in world.executions(job_id) if from_text(one["scheduled_at"]) <= now]


def statuses(world: World, job_id: str) -> list[str]:
    return [status for status, _ in outcomes(world, job_id)]


def pass_minutes(world: World, minutes: int) -> None:
    """Let minutes pass and deliver everything.

    Without dispatcher ticks: the dispatcher would take over an execution whose worker waits for a minute of the test's
    time without renewing its lease.
    """
    for _ in range(minutes):
        world.run_until_idle()
        world.pass_time(60)
        world.run_until_idle()


def first_execution_runs_for(world: World, minutes: int, then: Callable[[Context], Any] = lambda _: None) -> None:
    """Make the first execution run for this many minutes."""

    def wait_then(context: Context) -> Any:
        pass_minutes(world, minutes)
        return then(context)

    TASK_BODIES.append(wait_then)


def test_by_default_the_later_execution_is_skipped_and_names_the_running_one(world: World) -> None:
    job_id = submit(world, None)
    first_execution_runs_for(world, 2)
    pass_minutes(world, 1)
    [first, *skipped] = outcomes(world, job_id)
    first_id = world.executions(job_id)[0]["execution_id"]
    assert first == ("succeeded", None)
    assert skipped == [("skipped", f"{first_id} still runs")] * 2
    pass_minutes(world, 1)
    assert statuses(world, job_id) == ["succeeded", "skipped", "skipped", "succeeded"]


def test_allow_runs_executions_concurrently_and_uses_no_gate(world: World) -> None:
    job_id = submit(world, "allow")
    running: list[str] = []
    first_execution_runs_for(world, 2, lambda _: running.extend(statuses(world, job_id)))
    pass_minutes(world, 1)
    assert running == ["running", "succeeded", "succeeded"]
    assert world.items("gates") == []


def test_queue_one_keeps_one_waiter_and_skips_the_rest(world: World) -> None:
    job_id = submit(world, "queue_one")
    seen: list[tuple[str, str | None]] = []
    first_execution_runs_for(world, 3, lambda _: seen.extend(outcomes(world, job_id)))
    pass_minutes(world, 1)
    first_id, second_id = (one["execution_id"] for one in world.executions(job_id)[:2])
    assert seen == [
        ("running", None),
        ("waiting", f"waits for {first_id}"),
        ("skipped", f"{second_id} is already waiting"),
        ("skipped", f"{second_id} is already waiting"),
    ]
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded", "succeeded", "skipped", "skipped"]
    assert world.executions(job_id)[2]["covered_by"] == second_id


def test_queue_one_reports_the_outcome_of_manual_runs_while_one_waits(world: World) -> None:
    job_id = submit(world, "queue_one")
    answers: list[dict[str, Any]] = []

    def run_twice(_: Context) -> None:
        for _ in range(2):
            answers.append(world.request("POST", f"/jobs/{job_id}/run", {})[1])
            world.run_until_idle()

    TASK_BODIES.append(run_twice)
    pass_minutes(world, 1)
    first_id = world.executions(job_id)[0]["execution_id"]
    waiter, skipped = answers
    waiting_id = waiter["execution"]["execution_id"]
    assert waiter["outcome"] == f"waits for {first_id}"
    assert skipped["outcome"] == f"skipped: {waiting_id} is already waiting"
    assert (skipped["execution"]["status"], skipped["execution"]["covered_by"]) == ("skipped", waiting_id)


def test_queue_all_runs_executions_sequentially_in_order_of_their_instants(world: World) -> None:
    job_id = submit(world, "queue_all")
    order: list[str] = []

    def record(context: Context) -> None:
        assert [status for status in statuses(world, job_id) if status == "running"] == ["running"]
        order.append(context.execution_id)

    first_execution_runs_for(world, 3, record)
    TASK_BODIES.extend([record] * 3)
    pass_minutes(world, 1)
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded"] * 4
    assert order == sorted(order)


def test_cancel_running_cancels_the_running_execution_and_runs_the_later_one(world: World) -> None:
    job_id = submit(world, "cancel_running")
    seen: list[Any] = []

    def obey(context: Context) -> str:
        pass_minutes(world, 1)
        assert world.wait_for_cancellation(context), "the task never saw its cancellation"
        seen.extend(statuses(world, job_id))
        return "half of it"

    TASK_BODIES.append(obey)
    pass_minutes(world, 1)
    world.run_until_idle()
    first, second = world.executions(job_id)[:2]
    assert seen == ["running", "waiting"]
    assert (first["status"], first["result"]["value"]) == ("cancelled", "half of it")
    assert first["reason"] == f"replaced by {second['execution_id']}"
    assert second["status"] == "succeeded"


def test_cancel_running_revokes_the_lease_of_a_task_that_ignores_cancellation(world: World) -> None:
    job_id = submit(world, "cancel_running")
    seen: list[str] = []

    def ignore(_context: Context) -> str:
        pass_minutes(world, 1)
        world.pass_time(31)
        world.run_until_idle()
        seen.extend(statuses(world, job_id))
        return "too late"

    TASK_BODIES.append(ignore)
    pass_minutes(world, 1)
    world.run_until_idle()
    first = world.executions(job_id)[0]
    assert seen == ["cancelled", "succeeded"]
    assert (first["status"], first["result"]["value"]) == ("cancelled", None)
    assert [one["outcome"] for one in first["attempts"]] == ["cancelled"]


def test_cancel_running_keeps_only_the_latest_waiter(world: World) -> None:
    ten_seconds = {"every_seconds": 10}
    job_id = world.submit(task="test.scripted", schedule=ten_seconds, overlap="cancel_running")["job_id"]

    def ignore(_context: Context) -> None:
        for _ in range(2):
            world.pass_time(11)
            world.run_until_idle()

    TASK_BODIES.append(ignore)
    world.run_until_idle()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    _, second, third = world.executions(job_id)[:3]
    assert (second["status"], second["covered_by"]) == ("skipped", third["execution_id"])
    world.run_until_idle()
    assert world.execution(third["execution_id"])["status"] == "succeeded"


def test_an_execution_between_attempts_counts_as_running(world: World) -> None:
    def fail(_context: Context) -> None:
        raise ValueError("not this time")

    job_id = submit(world, None, retry={"max_attempts": 2, "backoff_seconds": 0, "max_backoff_seconds": 0})
    TASK_BODIES.append(fail)
    world.deliver_streams()
    world.deliver_streams()
    world.pass_time(60)
    [order, *_] = world.orders()
    world.work(order)
    assert statuses(world, job_id) == ["retrying"]
    world.pass_time(60)
    world.tick()
    world.deliver_streams()
    orders = world.orders()
    due = [order for order in orders if '"attempt": 1' in order["body"]]
    for order in due:
        world.work(order)
    assert statuses(world, job_id)[1] == "skipped"
    for order in orders:
        world.work(order)
    world.run_until_idle()
    assert statuses(world, job_id)[:2] == ["succeeded", "skipped"]


def test_a_worker_that_crashes_inside_a_gate_blocks_its_job_no_longer_than_its_lease(world: World) -> None:
    def die(_context: Context) -> None:
        raise Killed

    job_id = submit(world, None)
    TASK_BODIES.append(die)
    world.run_until_idle()
    world.pass_time(60)
    [order] = world.orders()
    with pytest.raises(Killed):
        world.work(order)
    world.pass_time(45)
    world.tick()
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded"]
    assert [one["number"] for one in world.executions(job_id)[0]["attempts"]] == [1, 2]
    pass_minutes(world, 1)
    assert statuses(world, job_id) == ["succeeded", "succeeded"]


def test_the_next_sweep_releases_a_gate_whose_worker_crashed_before_releasing_it(world: World) -> None:
    job_id = submit(world, None)
    world.run_until_idle()
    world.pass_time(60)
    [order] = world.orders()
    with crash_at("DeleteItem"), pytest.raises(Killed):
        world.work(order)
    assert statuses(world, job_id) == ["succeeded"]
    assert [item["entry"]["S"] for item in world.items("gates")] == [f"job#{job_id}"]
    world.tick()
    assert world.items("gates") == []


@pytest.mark.parametrize("operation", ["UpdateItem", "PutItem", "Query"])
def test_a_crash_while_joining_the_queue_is_repaired_when_the_message_is_redelivered(
    world: World, operation: str
) -> None:
    job_id = submit(world, "queue_all")

    def redeliver_with_crashes(_context: Context) -> None:
        world.pass_time(60)
        world.deliver_streams()
        [order] = world.orders()
        for number in range(4):
            with crash_at(operation, after=number):
                try:
                    world.work(order)
                except Killed:
                    continue
        world.work(order)
        assert statuses(world, job_id) == ["running", "waiting"]

    TASK_BODIES.append(redeliver_with_crashes)
    world.run_until_idle()
    world.pass_time(60)
    [order] = world.orders()
    world.work(order)
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded", "succeeded"]


def crash_inside_gate(world: World, order: dict[str, Any]) -> None:
    """The worker acquires the gate and crashes before it tries to claim the execution."""
    with crash_at("UpdateItem", table="executions"), pytest.raises(Killed):
        world.work(order)


def run(world: World, job_id: str) -> dict[str, Any]:
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
    assert status == 201, answer
    return answer


@pytest.mark.parametrize("overlap", ["skip", "queue_one", "cancel_running"])
@pytest.mark.parametrize("how", ["removed", "cancelled"])
def test_a_removed_or_cancelled_execution_inside_a_gate_blocks_no_other(world: World, overlap: str, how: str) -> None:
    job_id = submit(world, overlap)
    world.deliver_streams()
    world.deliver_streams()
    gone_id = world.executions(job_id)[0]["execution_id"]
    if how == "removed":
        assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    else:
        assert world.request("PUT", f"/executions/{gone_id}/cancel")[0] == 200
    world.deliver_streams()
    assert world.request("GET", f"/executions/{gone_id}")[0] == (404 if how == "removed" else 200)
    world.pass_time(60)
    [order] = [one for one in world.orders() if gone_id in one["body"]]
    crash_inside_gate(world, order)
    assert [item["entry"]["S"] for item in world.items("gates")] == [f"job#{job_id}"]
    answer = run(world, job_id)
    assert answer["outcome"] == "starts now"
    world.run_until_idle()
    assert world.execution(answer["execution"]["execution_id"])["status"] == "succeeded"
    world.work(order)
    assert world.items("gates") == []


def test_a_freed_gate_goes_to_the_waiter_before_a_new_execution(world: World) -> None:
    job_id = submit(world, "queue_one")
    answers: list[dict[str, Any]] = []

    def queue_manual_run(_context: Context) -> None:
        answers.append(run(world, job_id))
        world.run_until_idle()

    TASK_BODIES.append(queue_manual_run)
    world.run_until_idle()
    world.pass_time(60)
    [order] = world.orders()
    with crash_at("TransactWriteItems", after=1), pytest.raises(Killed):  # the first was made by the waiter
        world.work(order)
    waiter = answers[0]["execution"]["execution_id"]
    assert (statuses(world, job_id)[0], world.execution(waiter)["status"]) == ("succeeded", "waiting")
    newcomer = run(world, job_id)
    assert newcomer["outcome"] == f"waits for {waiter}"
    world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    assert (world.execution(waiter)["status"], reason_of(world, newcomer)) == ("queued", f"waits for {waiter}")
    world.run_until_idle()
    assert (world.execution(waiter)["status"], world.execution(execution_id_of(newcomer))["status"]) == (
        "succeeded",
        "succeeded",
    )
    assert world.items("gates") == []


def test_a_manual_run_that_waits_alone_precedes_the_executions_of_a_later_rule(world: World) -> None:
    job_id = submit(world, "queue_one")
    answers: list[dict[str, Any]] = []

    def wait_under_two_rules(_context: Context) -> None:
        answers.append(run(world, job_id))
        world.run_until_idle()
        assert world.request("PATCH", f"/jobs/{job_id}", {"overlap": "queue_all"})[0] == 200
        pass_minutes(world, 2)

    order: list[str] = []
    TASK_BODIES.extend([wait_under_two_rules, *[lambda context: order.append(context.execution_id)] * 3])
    pass_minutes(world, 1)
    manual = execution_id_of(answers[0])
    assert len(order) >= 2
    assert order[0] == manual


def execution_id_of(answer: dict[str, Any]) -> str:
    return str(answer["execution"]["execution_id"])


def reason_of(world: World, answer: dict[str, Any]) -> str:
    return str(world.execution(execution_id_of(answer))["reason"])


def test_a_manual_run_follows_the_overlap_rule_and_reports_its_outcome(world: World) -> None:
    job_id = submit(world, None)
    answers: list[dict[str, Any]] = []

    def run_manually(_context: Context) -> None:
        status, answer = world.request("POST", f"/jobs/{job_id}/run", {})
        assert status == 201, answer
        answers.append(answer)

    TASK_BODIES.append(run_manually)
    pass_minutes(world, 1)
    status, answer = world.request("POST", f"/jobs/{job_id}/run", {"parameters": {"customer": 7}})
    assert (status, answer["outcome"]) == (201, "starts now")
    first_id = world.executions(job_id)[0]["execution_id"]
    assert answers[0]["outcome"] == f"skipped: {first_id} still runs"
    assert answers[0]["execution"]["status"] == "skipped"
    world.run_until_idle()
    ran = world.execution(answer["execution"]["execution_id"])
    assert (ran["status"], ran["origin"], ran["parameters"]) == ("succeeded", "run", {"customer": 7})


def test_an_edited_overlap_rule_applies_to_executions_that_have_not_started(world: World) -> None:
    job_id = submit(world, None)

    def edit_rule(_context: Context) -> None:
        status, answer = world.request("PATCH", f"/jobs/{job_id}", {"overlap": "queue_all"})
        assert status == 200, answer
        pass_minutes(world, 2)

    TASK_BODIES.append(edit_rule)
    pass_minutes(world, 1)
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded"] * 3


def test_releasing_a_gate_without_waiters_does_not_query_the_queue(world: World) -> None:
    job_id = submit(world, None)
    with crash_at("Query"):
        pass_minutes(world, 2)
    assert statuses(world, job_id) == ["succeeded"] * 2
    assert world.items("gates") == []


def test_in_the_long_lane_the_later_execution_is_skipped_when_it_is_due(lane: LongLane) -> None:
    job = lane.submit(schedule={"every_seconds": 600})
    [first] = lane.world.executions(job["job_id"])
    lane.world.pass_time(600)
    assert lane.world.call(
        "conductor",
        {"do": "next_parts", "job_id": job["job_id"], "execution_id": first["execution_id"], "run_arn": "run-1"},
    )["parts"] == ["all"]
    lane.world.deliver_streams()
    second = lane.world.executions(job["job_id"])[1]
    request = {"do": "next_parts", "job_id": job["job_id"], "execution_id": second["execution_id"], "run_arn": "run-2"}
    early = lane.world.call("conductor", request)
    assert (early["next"], early["parts"], early["not_before"]) == ("run", [], second["scheduled_at"])
    lane.world.pass_time(600)
    assert lane.world.call("conductor", request)["next"] == "end"
    skipped = lane.world.execution(second["execution_id"])
    assert (skipped["status"], skipped["reason"]) == ("skipped", f"{first['execution_id']} still runs")


@pytest.mark.parametrize("body", [None, {}, {"parameters": None}])
@pytest.mark.parametrize("key", [{}, {"idempotency-key": "once"}])
def test_manual_run_and_retry_need_no_body(world: World, body: Any, key: dict[str, str]) -> None:
    job_id = str(world.submit(task="fail", parameters={"times": 9, "fatal": True})["job_id"])
    world.run_until_idle()
    assert statuses(world, job_id) == ["failed"]
    status, answer = world.request("POST", f"/jobs/{job_id}/run", body, headers=key)
    assert (status, answer["execution"]["parameters"]) == (201, {"times": 9, "fatal": True})
    failed_id = world.executions(job_id)[0]["execution_id"]
    status, answer = world.request("POST", f"/executions/{failed_id}/retry", body, headers=key)
    assert (status, answer["execution"]["retry_of"]) == (201, failed_id)


def test_an_execution_inside_a_gate_is_listed_as_running(world: World) -> None:
    world.submit(task="test.scripted", schedule={"every_seconds": 60})
    seen: list[Any] = []

    def look(context: Context) -> None:
        _, page = world.request("GET", "/executions?status=running")
        _, overview = world.request("GET", "/overview")
        seen.append(([one["execution_id"] for one in page["items"]] == [context.execution_id], overview["running"]))

    TASK_BODIES.append(look)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    assert seen == [(True, 1)]
