"""Processes that die, repeat a write, or interleave between two lines: each case broke an earlier version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from punctual import Context
from punctual.aws import clients
from punctual.domain.errors import JobChanged
from punctual.domain.instant import to_text
from tests.integration.concurrency_keys import status, work_orders
from tests.integration.faults import crash_at, just_before, on_table
from tests.integration.fixture_tasks import TASK_BODIES, Killed
from tests.integration.long_lane import LongLane, start_part
from tests.integration.world import World
from tests.resources import STATE_MACHINE

ONE_AT_A_TIME = {"key": "k", "limit": 1}
TWO_AT_A_TIME = {"key": "k", "limit": 2}


def submit(world: World, **submission: Any) -> str:
    return str(world.submit(task="test.scripted", **submission)["job_id"])


def edit(world: World, job_id: str, changes: dict[str, Any]) -> None:
    code, answer = world.request("PATCH", f"/jobs/{job_id}", changes)
    assert code == 200, answer


def gate(world: World, name: str) -> dict[str, Any]:
    """The record of a gate; empty if it has neither holders nor waiters."""
    items = [item for item in world.items("gates") if item["gate"]["S"].startswith("holders#")]
    found = [item for item in items if item["entry"]["S"].startswith(name)]
    return found[0] if found else {}


@contextmanager
def responses_lost(operation: str, containing: str) -> Iterator[None]:
    """Lose the response of the first matching write after it took effect, as botocore sees it: it sends it again."""
    client = clients.dynamodb()
    send: Callable[..., Any] = client._endpoint.make_request
    lost = False

    def make_request(model: Any, request: Any) -> Any:
        nonlocal lost
        answer = send(model, dict(request))
        if not lost and model.name == operation and containing in str(request["body"]):
            lost = True
            return send(model, dict(request))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client._endpoint, "make_request", make_request)
        yield
    assert lost, f"no {operation} contained {containing!r}"


@contextmanager
def stale_reads(of_table: str, snapshot: list[dict[str, Any]]) -> Iterator[None]:
    """Let eventually consistent reads of executions return an earlier version."""
    events = clients.dynamodb().meta.events
    is_consistent: list[bool] = []

    def about_to_read(params: Any, **_: Any) -> None:
        is_consistent.append(b'"ConsistentRead": true' in bytes(params["body"]))

    def has_read(parsed: dict[str, Any], **_: Any) -> None:
        if not is_consistent.pop():
            names = {item["execution_id"]["S"] for item in parsed["Responses"][of_table]}
            parsed["Responses"][of_table] = [item for item in snapshot if item["execution_id"]["S"] in names]

    events.register("before-call.dynamodb.BatchGetItem", about_to_read)
    events.register("after-call.dynamodb.BatchGetItem", has_read)
    yield
    events.unregister("before-call.dynamodb.BatchGetItem", about_to_read)
    events.unregister("after-call.dynamodb.BatchGetItem", has_read)


@contextmanager
def conflict_once(operation: str, containing: str) -> Iterator[None]:
    """Let the first matching write conflict with a transaction that is in progress."""
    conflict = b'{"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException", "message": "in progress"}'
    left = [AWSResponse("", 400, {}, None)]
    left[0]._content = conflict

    def about_to_send(request: Any, **_: Any) -> Any:
        return left.pop() if left and containing in str(request.body) else None

    events, name = clients.dynamodb().meta.events, f"before-send.dynamodb.{operation}"
    events.register_first(name, about_to_send)
    yield
    events.unregister(name, about_to_send)
    assert left == [], f"no {operation} contained {containing!r}"


# the short lane


def test_a_duplicate_of_every_message_never_runs_two_executions_of_a_queue_all_job_at_once(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="queue_all")
    running: list[str] = []

    def run(context: Context) -> None:
        assert running == []
        running.append(context.execution_id)
        world.pass_time(10)
        world.deliver_streams(lambda records: [*records, *records])
        for order in world.orders() * 2:
            world.work(order)
        running.pop()

    TASK_BODIES.extend([run] * 4)
    world.run_until_idle()
    world.pass_time(10)
    for order in world.orders() * 2:
        world.work(order)
    world.run_until_idle()
    ended = [one["status"] for one in world.executions(job_id) if one["started_at"]]
    assert ended
    assert set(ended) == {"succeeded"}


def test_a_timer_that_ttl_removes_after_an_edit_plans_nothing_from_before_the_edit(world: World) -> None:
    world.pass_time(5 * 60)
    job_id = submit(world, schedule={"cron": "10 12 * * *", "timezone": "UTC"})
    world.run_until_idle()
    [timer] = [item for item in world.items("timers") if "job_id" in item]
    world.run_for(600, step=60)
    world.pass_time(25 * 60)  # 12:40
    edit(world, job_id, {"schedule": {"cron": "30 12 * * *", "timezone": "UTC"}})
    world.run_until_idle()
    world.pass_time(1800)
    world.dynamodb.delete_item(TableName="timers", Key={name: timer[name] for name in ("bucket", "due")})
    world.call("planner", {"Records": [removal_by_ttl(timer)]})
    world.run_until_idle()
    assert [one["scheduled_at"] for one in world.executions(job_id)] == [
        "2026-11-16T12:10:00.000Z",
        "2026-11-17T12:30:00.000Z",
    ]


def removal_by_ttl(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "eventID": "1",
        "eventName": "REMOVE",
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/timers/stream/1",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {
            "Keys": {name: item[name] for name in ("bucket", "due")},
            "OldImage": item,
            "SequenceNumber": "1",
            "ApproximateCreationDateTime": 1,
        },
    }


def test_a_duplicate_message_of_a_retrying_execution_leaves_no_place_taken(world: World) -> None:
    def fail(_context: Context) -> None:
        raise ValueError("not this time")

    TASK_BODIES.append(fail)
    retry = {"max_attempts": 2, "backoff_seconds": 600, "max_backoff_seconds": 600}
    job_id = submit(world, concurrency=ONE_AT_A_TIME, retry=retry)
    [order] = work_orders(world)
    world.work(order)
    assert status(world, job_id) == "retrying"
    world.work(order)
    assert gate(world, "key#") == {}
    other = submit(world, concurrency=ONE_AT_A_TIME)
    world.run_until_idle()
    assert status(world, other) == "succeeded"


def test_a_waiter_gets_its_place_although_the_process_that_frees_it_dies(world: World) -> None:
    jobs = [submit(world, concurrency=ONE_AT_A_TIME) for _ in range(3)]
    first, second, third = work_orders(world)

    def others_wait(_context: Context) -> None:
        world.work(second)
        world.work(third)

    TASK_BODIES.append(others_wait)
    # the worker dies after it has released its place, before it reads the queue of waiters
    with crash_at("Query", after=2), pytest.raises(Killed):  # the two that wait have read the queue before
        world.work(first)
    assert sorted(status(world, one) for one in jobs) == ["succeeded", "waiting", "waiting"]
    world.tick()
    world.run_until_idle()
    assert [status(world, one) for one in jobs] == ["succeeded"] * 3


def test_a_waiter_gets_the_place_of_a_cancelled_execution_although_the_api_dies(world: World) -> None:
    for _ in range(3):
        submit(world, concurrency=ONE_AT_A_TIME)
    first, second, third = work_orders(world)
    jobs = [json.loads(order["body"])["job_id"] for order in (first, second, third)]

    def others_wait(_context: Context) -> None:
        world.work(second)
        world.work(third)

    TASK_BODIES.append(others_wait)
    world.work(first)  # grants its place to the second execution, which has not started
    assert [status(world, one) for one in jobs] == ["succeeded", "queued", "waiting"]
    [holder] = world.executions(jobs[1])
    # the api dies after it has released the place, before it reads the queue of waiters
    with crash_at("Query"), pytest.raises(Killed):
        world.request("PUT", f"/executions/{holder['execution_id']}/cancel")
    assert [status(world, one) for one in jobs] == ["succeeded", "cancelled", "waiting"]
    assert "in:" not in str(gate(world, "key#"))
    world.tick()
    world.run_until_idle()
    assert [status(world, one) for one in jobs] == ["succeeded", "cancelled", "succeeded"]


def test_a_claim_whose_response_was_lost_is_recognised_by_its_worker(world: World) -> None:
    job_id = submit(world, retry={"max_attempts": 1})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    with responses_lost("UpdateItem", "lease_until"):
        world.work(order)
    assert [(one["status"], one["attempt"]) for one in world.executions(job_id)] == [("succeeded", 1)]


@pytest.mark.parametrize(
    ("operation", "containing"),
    [("UpdateItem", "in:"), ("UpdateItem", "lease_until"), ("UpdateItem", "succeeded"), ("DeleteItem", "in:")],
    ids=["acquire", "claim", "conclude", "release"],
)
def test_a_write_that_conflicts_with_a_transaction_is_repeated(world: World, operation: str, containing: str) -> None:
    job_id = submit(world, concurrency=ONE_AT_A_TIME, retry={"max_attempts": 1})
    [order] = work_orders(world)
    with conflict_once(operation, containing):
        assert world.work(order) == {"batchItemFailures": []}
    assert status(world, job_id) == "succeeded"
    assert gate(world, "key#") == {}


def test_a_waiter_behind_many_that_a_pause_skipped_gets_the_place_at_once(world: World) -> None:
    first = submit(world, concurrency=ONE_AT_A_TIME)
    others: list[str] = []

    def many_wait(_context: Context) -> None:
        daily = {"schedule": {"every_seconds": 86_400}, "overlap": "allow"}
        others.append(submit(world, concurrency=ONE_AT_A_TIME, **daily))
        for _ in range(21):
            assert world.request("POST", f"/jobs/{others[0]}/run", {})[0] == 201
        world.run_until_idle()
        others.append(submit(world, concurrency=ONE_AT_A_TIME, priority="low"))
        world.run_until_idle()
        assert world.request("POST", f"/jobs/{others[0]}/pause")[0] == 200
        world.run_until_idle()

    TASK_BODIES.append(many_wait)
    world.run_until_idle()
    skipped, last = others
    assert {one["status"] for one in world.executions(skipped)} == {"skipped"}
    assert (status(world, first), status(world, last)) == ("succeeded", "succeeded")


def test_a_change_of_a_jobs_state_whose_response_was_lost_is_recognised_as_stored(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 60})
    for method, path, state in (("POST", "/pause", "paused"), ("POST", "/resume", "active"), ("DELETE", "", "deleted")):
        world.pass_time(1)
        with responses_lost("UpdateItem", f'"{state}"'):
            assert world.request(method, f"/jobs/{job_id}{path}")[0] == 200
    assert [item["state"]["S"] for item in world.items("jobs") if "state" in item] == ["deleted"]


@pytest.mark.parametrize("after", [0, 1])
def test_a_repeated_key_creates_one_job_although_the_first_request_dies(world: World, after: int) -> None:
    """``after``: the api dies before it stores the job, or before it stores the answer."""
    operation, table = [("PutItem", "jobs"), ("UpdateItem", "idempotency")][after]
    body, key = {"task": "echo"}, {"idempotency-key": "once"}
    with crash_at(operation, table=table), pytest.raises(Killed):
        world.request("POST", "/jobs", body, headers=key)
    code, job = world.request("POST", "/jobs", body, headers=key)
    assert code == 201
    assert [item["job_id"]["S"] for item in world.items("jobs") if "state" in item] == [job["job_id"]]


def test_an_edit_leaves_on_record_the_waiter_that_covers_a_skipped_execution(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="queue_one")

    def two_come_due_before_the_planner_sees_an_edit(_context: Context) -> None:
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # waits
        edit(world, job_id, {"schedule": {"every_seconds": 7}})
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # is skipped, covered by the waiter
        world.run_until_idle()

    TASK_BODIES.append(two_come_due_before_the_planner_sees_an_edit)
    world.run_until_idle()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    world.run_until_idle()
    found = {one["execution_id"]: one for one in world.executions(job_id)}
    covers = [one["covered_by"] for one in found.values() if one["covered_by"]]
    assert covers
    assert set(covers) <= found.keys()


def test_an_edit_leaves_on_record_the_execution_that_has_displaced_a_waiter(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="cancel_running")

    def two_come_due_around_an_edit(_context: Context) -> None:
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # waits
        edit(world, job_id, {"schedule": {"every_seconds": 7}})
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # displaces it, before the planner sees the edit
        world.run_until_idle()

    TASK_BODIES.append(two_come_due_around_an_edit)
    world.run_until_idle()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    world.run_until_idle()
    found = {one["execution_id"]: one for one in world.executions(job_id)}
    [covered_by] = [one["covered_by"] for one in found.values() if one["covered_by"]]
    assert covered_by in found


def test_an_edit_leaves_on_record_the_waiter_that_covers_a_manual_run(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="queue_one")

    def run_before_the_planner_sees_an_edit(_context: Context) -> None:
        edit(world, job_id, {"schedule": {"every_seconds": 7}})
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # waits
        code, run = world.request("POST", f"/jobs/{job_id}/run", {})
        assert (code, run["execution"]["status"]) == (201, "skipped")
        world.run_until_idle()

    TASK_BODIES.append(run_before_the_planner_sees_an_edit)
    world.run_until_idle()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    world.run_until_idle()
    found = {one["execution_id"]: one for one in world.executions(job_id)}
    [covered_by] = [one["covered_by"] for one in found.values() if one["origin"] == "run"]
    assert covered_by in found


def test_a_manual_run_is_not_covered_by_a_waiter_that_gets_its_place_meanwhile(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="queue_one")
    answers: list[dict[str, Any]] = []

    def cancel_the_waiter() -> None:
        [waiter] = [one for one in world.executions(job_id) if one["status"] == "waiting"]
        assert world.request("PUT", f"/executions/{waiter['execution_id']}/cancel")[0] == 200

    def run_meanwhile(_context: Context) -> None:
        world.pass_time(10)
        [order] = world.orders()
        world.work(order)  # waits
        with just_before("UpdateItem", cancel_the_waiter, "covers"):
            answers.append(world.request("POST", f"/jobs/{job_id}/run", {})[1])

    TASK_BODIES.append(run_meanwhile)
    world.run_until_idle()
    world.pass_time(10)
    [order] = world.orders()
    world.work(order)
    assert answers[0]["execution"]["status"] == "queued"


def test_a_work_order_from_before_an_edit_does_not_bypass_a_lower_limit(world: World) -> None:
    instant = to_text(world.now.replace(minute=1))
    jobs = [submit(world, concurrency=TWO_AT_A_TIME, schedule={"at": instant}) for _ in range(2)]
    world.run_until_idle()
    world.pass_time(60)
    earlier = world.orders()
    for job_id in jobs:
        edit(world, job_id, {"concurrency": ONE_AT_A_TIME})
    first, second = work_orders(world)
    running: list[str] = []

    def run(_context: Context) -> None:
        world.pass_time(1)
        running.append("one")
        for order in (*earlier, second):
            world.work(order)
        running.remove("one")

    def run_alone(_context: Context) -> None:
        assert running == []

    TASK_BODIES.extend([run, run_alone])
    world.work(first)
    world.run_until_idle()
    assert [status(world, one) for one in jobs] == ["succeeded", "succeeded"]


def test_a_repair_that_reads_a_dependant_as_not_cleared_yet_keeps_its_place(world: World) -> None:
    upstream = submit(world)
    world.run_until_idle()
    dependant = submit(world, depends_on=[{"job": upstream}], concurrency=ONE_AT_A_TIME)
    other = submit(world, concurrency=ONE_AT_A_TIME)
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    planned = world.items("executions")
    orders = {json.loads(order["body"])["job_id"]: order for order in work_orders(world)}
    seen: list[str] = []

    def repair() -> None:
        with stale_reads("executions", planned):
            world.tick()

    def other_comes(_context: Context) -> None:
        world.work(orders[other])

    TASK_BODIES.extend([other_comes, lambda _context: seen.append(status(world, dependant))])
    with just_before("UpdateItem", repair, "lease_until"):
        world.work(orders[dependant])
    world.run_until_idle()
    assert seen == ["succeeded"]


def test_an_execution_replaces_a_manual_run_that_waits_under_the_rule_from_before_an_edit(world: World) -> None:
    job_id = submit(world, schedule={"every_seconds": 10}, overlap="queue_all")
    cancelled: list[bool] = []

    def another_comes_due_after_an_edit(context: Context) -> None:
        assert [world.request("POST", f"/jobs/{job_id}/run", {})[0] for _ in range(2)] == [201, 201]
        world.run_until_idle()  # both wait
        edit(world, job_id, {"overlap": "cancel_running"})
        world.run_until_idle()
        world.pass_time(10)
        world.run_until_idle()
        cancelled.append(world.wait_for_cancellation(context))

    TASK_BODIES.append(another_comes_due_after_an_edit)
    world.run_until_idle()
    world.pass_time(10)
    world.run_until_idle()
    assert cancelled == [True]
    by_id = {one["execution_id"]: one for one in world.executions(job_id)}
    replaced = next(one for one in by_id.values() if one["origin"] == "run")
    assert (replaced["status"], by_id[replaced["covered_by"]]["origin"]) == ("skipped", "schedule")


@pytest.mark.parametrize("change", ["pause", "cancel"])
def test_a_planner_that_dies_after_a_change_of_its_job_removes_the_successors_when_it_is_repeated(
    world: World, change: str
) -> None:
    job_id = submit(world, schedule={"every_seconds": 3600})
    world.run_until_idle()
    [leader] = [one for one in world.executions(job_id) if one["status"] == "scheduled"]
    assert world.request("PUT", f"/executions/{leader['execution_id']}/cancel")[0] == 200
    records = world.stream_records("executions", "planner")

    def change_job() -> None:
        method, path = ("POST", "/pause") if change == "pause" else ("PUT", "/cancel")
        assert world.request(method, f"/jobs/{job_id}{path}")[0] == 200
        world.call("planner", {"Records": world.stream_records("jobs", "planner")})

    with (
        just_before("PutItem", change_job, on_table("executions")),
        just_before("PutItem", die, on_table("timers"), once=False),  # after it has stored the successor
        pytest.raises(Killed),
    ):
        world.call("planner", {"Records": records})
    assert [one["status"] for one in world.executions(job_id)].count("scheduled") == 1
    world.call("planner", {"Records": records})
    assert [one["status"] for one in world.executions(job_id)].count("scheduled") == 0


def die() -> None:
    raise Killed


# the long lane


def newest_run(world: World) -> str:
    """The state machine run that was started last."""
    runs = world.states.list_executions(stateMachineArn=STATE_MACHINE, statusFilter="RUNNING")["executions"]
    return str(max(runs, key=lambda run: run["startDate"])["executionArn"])


def restart(world: World, lane: LongLane, job: dict[str, Any]) -> tuple[str, str]:
    """Stop the run of a job's execution, and let the reconciler replace it. Returns both runs."""
    stopped = lane.attached_run(job["job_id"], lane.execution(job)["execution_id"])
    world.states.stop_execution(executionArn=stopped)
    world.pass_time(121)
    lane.reconcile()
    world.run_until_idle()
    return stopped, newest_run(world)


def test_a_run_that_enqueued_its_execution_at_a_gate_conducts_it_no_more(world: World, lane: LongLane) -> None:
    first, second = lane.submit(concurrency=ONE_AT_A_TIME), lane.submit(concurrency=ONE_AT_A_TIME)
    earlier_run = lane.run_arn(second)
    assert lane.next_parts(first)["next"] == "run"
    assert lane.next_parts(second)["next"] == "end"
    world.pass_time(1)
    world.request("PUT", f"/executions/{lane.execution(first)['execution_id']}/cancel?grace_seconds=0")
    world.run_until_idle()  # grants the place to the second execution, and starts another run
    assert lane.next_parts(second, run=newest_run(world))["next"] == "run"
    assert lane.next_parts(second, run=earlier_run)["next"] == "end"
    refused = lane.request_slot(second, run=earlier_run)
    assert lane.answers_to(refused) == ["SendTaskFailure"]
    assert lane.execution(second)["parts"][0]["status"] == "queued"


def test_a_slot_request_of_a_replaced_run_does_not_take_the_grant(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    stopped, replacement = restart(world, lane, job)
    lane.next_parts(job, run=replacement)
    ticket = lane.request_slot(job, run=replacement)
    late = lane.request_slot(job, run=stopped)
    world.run_until_idle()
    assert lane.grant_for(ticket) is not None
    assert lane.answers_to(late) == ["SendTaskFailure"]


def test_a_part_whose_grant_was_lost_gives_its_slot_back(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    lane.request_slot(job)
    world.run_until_idle()
    assert (lane.execution(job)["status"], lane.used_capacity()[0]) == ("starting", 1)
    world.pass_time(11 * 60)
    lane.tick()  # no container has claimed the part, and its run does not answer
    world.run_until_idle()
    assert (lane.execution(job)["status"], lane.used_capacity()[0]) == ("retrying", 0)


def test_a_new_run_waits_for_the_backoff_of_a_part(world: World, lane: LongLane) -> None:
    retry = {"max_attempts": 2, "backoff_seconds": 3000, "max_backoff_seconds": 3000}
    job, container = start_part(lane, retry=retry)
    container.conclude("failed")
    _, replacement = restart(world, lane, job)
    lane.next_parts(job, run=replacement)
    ticket = lane.request_slot(job, run=replacement)
    assert lane.answers_to(ticket) == ["SendTaskFailure"]
    assert lane.execution(job)["parts"][0]["status"] == "retrying"


def test_parts_are_not_added_to_an_execution_that_was_cancelled_meanwhile(world: World, lane: LongLane) -> None:
    job = lane.submit()
    execution_id = lane.execution(job)["execution_id"]

    def cancel() -> None:
        assert world.request("PUT", f"/executions/{execution_id}/cancel?grace_seconds=0")[0] == 200

    with just_before("TransactWriteItems", cancel, on_table("parts")):
        assert lane.next_parts(job)["next"] == "end"
    world.run_until_idle()
    assert lane.execution(job)["status"] == "cancelled"
    assert world.items("parts") == []


def test_the_reconciler_does_not_queue_an_execution_that_waits_at_a_gate(world: World, lane: LongLane) -> None:
    first = lane.submit(concurrency=ONE_AT_A_TIME)
    assert lane.next_parts(first)["next"] == "run"
    instant = world.now.replace(hour=13)
    second = lane.submit(concurrency=ONE_AT_A_TIME, schedule={"at": to_text(instant)})
    second_id = lane.execution(second)["execution_id"]
    world.pass_time((instant - world.now).total_seconds())
    world.scheduler.delete_schedule(Name=second_id, GroupName="long")
    run = world.states.start_execution(stateMachineArn=STATE_MACHINE, name=second_id, input="{}")

    def second_waits() -> None:
        assert lane.next_parts(second, run=run["executionArn"])["next"] == "end"

    # between the reconciler's read of the execution and its write
    with just_before("UpdateItem", second_waits, "its one-time schedule"):
        lane.reconcile()
    assert lane.execution(second)["status"] == "waiting"


def test_the_dispatcher_sends_no_work_order_for_an_execution_that_the_reconciler_restarts_meanwhile(
    world: World, lane: LongLane
) -> None:
    job, _ = start_part(lane)
    execution_id = lane.execution(job)["execution_id"]
    world.states.stop_execution(executionArn=lane.attached_run(job["job_id"], execution_id))
    world.pass_time(121)
    # between the dispatcher's reads of the index of running executions and of the execution
    with just_before("BatchGetItem", lane.reconcile):
        world.tick()
    assert lane.execution(job)["status"] == "queued"
    assert world.orders() == []


def test_a_heartbeat_just_before_the_attempt_is_ended_keeps_the_lease(world: World, lane: LongLane) -> None:
    job, container = start_part(lane)
    world.pass_time(31)
    with just_before("TransactWriteItems", container.heartbeat, on_table("parts")):
        lane.tick()
    assert lane.stopped == []
    assert "SendTaskFailure" not in lane.answers_to(container.token)
    assert container.conclude(value="in time")["ok"]
    assert lane.execution(job)["parts"][0]["status"] == "succeeded"


def test_a_claim_just_before_the_attempt_is_ended_keeps_the_lease(world: World, lane: LongLane) -> None:
    job = lane.submit()
    lane.next_parts(job)
    container = lane.container(job)
    world.pass_time(11 * 60)
    with just_before("TransactWriteItems", container.claim, on_table("parts")):
        lane.tick()
    assert lane.stopped == []
    assert container.heartbeat()["ok"]


def test_a_hung_execution_can_be_cancelled(world: World, lane: LongLane) -> None:
    job = lane.submit(partitions=2)
    lane.next_parts(job)
    container = lane.container(job, "0000")
    container.claim()
    lane.request_slot(job, "0001")  # the grant never reaches the run
    world.run_until_idle()
    container.conclude("fatal", error={"type": "Broken", "message": "no"})
    execution = lane.execution(job)
    assert [part["status"] for part in execution["parts"]] == ["failed", "starting"]
    assert execution["status"] == "running"
    assert world.request("PUT", f"/executions/{execution['execution_id']}/cancel")[0] == 200
    world.run_until_idle()
    assert lane.execution(job)["status"] == "cancelled"
    assert lane.used_capacity() == (0, 0)


def test_a_part_that_succeeds_between_the_read_and_the_write_of_a_cancellation_keeps_its_result(
    world: World, lane: LongLane
) -> None:
    job, container = start_part(lane)
    assert world.request("PUT", f"/executions/{lane.execution(job)['execution_id']}/cancel")[0] == 200

    def succeed() -> None:
        assert container.conclude(value="in time")["ok"]

    with just_before("UpdateItem", succeed, "cancel_reason"):  # the settler asks the part to stop
        world.call("settler", {"Records": world.stream_records("executions", "settler")})
    assert lane.conclude_attempt(job, container.grant)["retry"] is False
    assert lane.next_parts(job)["next"] == "end"
    execution = lane.execution(job)
    assert (execution["status"], execution["result"]["value"]) == ("succeeded", "in time")


def test_a_run_that_replaces_a_holder_and_gets_its_place_at_once_conducts_nothing(world: World, lane: LongLane) -> None:
    job = lane.submit(overlap="cancel_running")
    assert lane.next_parts(job)["next"] == "run"
    lane.request_slot(job)  # it waits for a slot, so it is cancelled without a grace period
    status_code, answer = world.request("POST", f"/jobs/{job['job_id']}/run")
    assert status_code == 201
    world.run_until_idle()
    request = {"do": "next_parts", "job_id": job["job_id"], "execution_id": answer["execution"]["execution_id"]}
    replacing = newest_run(world)
    assert world.call("conductor", {**request, "run_arn": replacing})["next"] == "end"
    world.pass_time(1)
    world.run_until_idle()  # the planner starts another run
    assert newest_run(world) != replacing
    assert world.call("conductor", {**request, "run_arn": newest_run(world)})["next"] == "run"
    assert world.call("conductor", {**request, "run_arn": replacing})["next"] == "end"
    assert [one["status"] for one in world.executions(job["job_id"])] == ["cancelled", "queued"]


@pytest.mark.parametrize(
    ("operation", "table", "after"), [("TransactWriteItems", "parts", 1), ("UpdateItem", "executions", 0)]
)
def test_a_reconciler_that_dies_between_two_writes_completes_the_repair_at_its_next_run(
    world: World, lane: LongLane, operation: str, table: str, after: int
) -> None:
    job = lane.submit(partitions=2)
    lane.next_parts(job)
    for name in ("0000", "0001"):
        assert lane.container(job, name).claim()["ok"]
    execution_id = lane.execution(job)["execution_id"]
    world.states.stop_execution(executionArn=lane.attached_run(job["job_id"], execution_id))
    world.pass_time(121)
    with crash_at(operation, after=after, table=table), pytest.raises(Killed):
        lane.reconcile()
    world.run_until_idle()
    assert lane.reconcile()["restarted"] == [execution_id]
    world.pass_time(1)
    world.run_until_idle()
    assert lane.used_capacity() == (0, 0)
    assert lane.next_parts(job, run=newest_run(world))["parts"] == ["0000", "0001"]


def test_a_planner_that_is_late_with_a_pause_removes_nothing_that_a_resume_has_planned(world: World) -> None:
    """The ids and the revision are the same before and after: only the state of the job tells them apart."""
    job_id = submit(world, schedule={"every_seconds": 30})
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    late = world.stream_records("executions", "planner")
    world.pass_time(1)
    assert world.request("POST", f"/jobs/{job_id}/pause")[0] == 200
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    planned: set[str] = set()

    def resume() -> None:
        if not planned:
            assert world.request("POST", f"/jobs/{job_id}/resume")[0] == 200
            world.call("planner", {"Records": world.stream_records("jobs", "planner")})
            planned.update(one["execution_id"] for one in world.executions(job_id))

    before_each_write = (just_before(write, resume, job_id) for write in ("DeleteItem", "TransactWriteItems"))
    with ExitStack() as stack:
        for hook in before_each_write:
            stack.enter_context(hook)
        stack.enter_context(suppress(JobChanged))
        world.call("planner", {"Records": late})
    assert len(planned) > 5
    assert {one["execution_id"] for one in world.executions(job_id)} == planned
    world.call("planner", {"Records": late})  # Lambda delivers them again
    assert {one["execution_id"] for one in world.executions(job_id)} >= planned
