"""Crashes at any point, and records and messages that are duplicated, late, reordered or lost."""

from __future__ import annotations

import itertools
import json
import random
from contextlib import nullcontext, suppress
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from punctual.aws import clients as aws
from punctual.domain.executions.attempt_decision import AttemptResult, decide
from punctual.domain.executions.execution import LeaseState, Outcome
from punctual.domain.instant import from_text, to_text
from tests.integration.faults import just_before
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World


def statuses(world: World, job_id: str) -> list[str]:
    return [one["status"] for one in world.executions(job_id)]


def start_and_kill(world: World, **submission: Any) -> tuple[str, dict[str, Any]]:
    """Submit a job and kill its worker in the first attempt. Returns the job id and the work order."""
    job = world.submit(task="test.crash", **submission)
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    with pytest.raises(Killed):
        world.work(order)
    return job["job_id"], order


def test_a_dead_workers_execution_is_taken_over_within_90_seconds(world: World) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1]})
    died_at = world.now
    assert statuses(world, job_id) == ["running"]
    world.pass_time(11.9)  # the worst case: the lease becomes suspect right after the sweep
    world.tick()
    world.run_until_idle()
    world.pass_time(60)
    world.tick()
    world.run_until_idle()
    [execution] = world.executions(job_id)
    assert execution["status"] == "succeeded"
    assert from_text(execution["started_at"]) - died_at < timedelta(seconds=90)
    assert [(one["number"], one["outcome"]) for one in execution["attempts"]] == [(1, "lost"), (2, "succeeded")]
    assert execution["attempts"][0]["error"]["type"] == "LostWorker"


def test_a_takeover_waits_until_the_lease_of_the_silent_worker_has_expired(world: World) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1]})
    world.pass_time(13)
    assert world.tick()["orders_sent"] == 1
    assert world.orders() == []  # the message is delayed by the queue for the rest of the lease
    world.pass_time(18)
    world.run_until_idle()
    assert statuses(world, job_id) == ["succeeded"]


def test_a_worker_that_renews_its_lease_before_the_takeover_keeps_its_execution(world: World) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1]})
    world.pass_time(13)
    world.tick()
    worker = world.function("worker").worker
    [execution] = worker.executions.running(0)
    assert worker.executions.renew(execution, world.now, None)
    world.pass_time(18)
    world.run_until_idle()
    [shown] = world.executions(job_id)
    assert (shown["status"], shown["attempt"]) == ("running", 1)


def test_a_late_result_after_the_successor_has_ended_is_refused(world: World) -> None:
    job_id, order = start_and_kill(world, parameters={"in_attempts": [1]})
    worker = world.function("worker").worker
    [first] = worker.executions.running(0)
    world.pass_time(61)
    world.tick()
    world.run_until_idle()
    before = world.executions(job_id)
    assert (
        worker._conclude(first, AttemptResult(outcome=Outcome.SUCCEEDED, value="too late"), first.priority)
        == "decision refused"
    )
    world.work(order)
    world.run_until_idle()
    assert world.executions(job_id) == before


def test_a_lease_renewed_between_the_check_and_the_takeover_is_kept(world: World) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1]})
    worker = world.function("worker").worker
    [expired] = worker.executions.running(0)
    world.pass_time(31)
    worker.executions.renew(expired, world.now, None)
    lost = AttemptResult(outcome=Outcome.LOST)
    decision = decide(expired, lost, now=world.now, uniform=lambda _, longest: longest)
    assert worker.executions.take_over(expired, decision.attempt, "another worker", world.now) is None
    assert not worker.executions.give_up(expired, decision, world.now)
    [execution] = world.executions(job_id)
    assert (execution["status"], execution["attempt"], execution["attempts"]) == ("running", 1, [])


@pytest.mark.parametrize("outcome", [Outcome.SUCCEEDED, Outcome.FAILED])
def test_a_fenced_worker_cannot_end_the_attempt_that_replaced_it(world: World, outcome: Outcome) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1, 2]})
    worker = world.function("worker").worker
    [first] = worker.executions.running(0)
    world.pass_time(61)
    world.tick()
    with pytest.raises(Killed):
        world.run_until_idle()
    before = world.executions(job_id)
    assert [(one["status"], one["attempt"]) for one in before] == [("running", 2)]
    assert worker._conclude(first, AttemptResult(outcome=outcome), first.priority) == "decision refused"
    assert worker.executions.renew(first, world.now, None) is LeaseState.LOST
    assert world.executions(job_id) == before


def test_a_duplicate_work_order_of_a_failed_attempt_does_not_repeat_it(world: World) -> None:
    job = world.submit(task="fail", parameters={"times": 1}, retry={"backoff_seconds": 10})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    world.work(order)
    world.pass_time(11)
    world.work(order)
    [execution] = world.executions(job["job_id"])
    assert (execution["status"], execution["attempt"], len(execution["attempts"])) == ("retrying", 1, 1)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]


def test_an_execution_that_loses_every_worker_fails_and_records_each_lost_attempt(world: World) -> None:
    job_id, _ = start_and_kill(world, parameters={"in_attempts": [1, 2]}, retry={"max_attempts": 2})
    world.pass_time(61)
    world.tick()
    with pytest.raises(Killed):
        world.run_until_idle()
    world.pass_time(61)
    world.tick()
    world.run_until_idle()
    [execution] = world.executions(job_id)
    assert execution["status"] == "failed"
    assert [one["outcome"] for one in execution["attempts"]] == ["lost", "lost"]


def test_a_recurring_job_continues_when_an_execution_fails_crashes_or_is_slow(world: World) -> None:
    job = world.submit(
        task="test.crash",
        parameters={"in_attempts": [1, 2, 3]},
        schedule={"every_seconds": 60},
        retry={"max_attempts": 1},
    )
    for _ in range(6):
        world.tick()
        world.deliver_streams()
        world.deliver_streams()
        for order in world.orders():
            with suppress(Killed):
                world.work(order)
        world.pass_time(60)
    dues = [from_text(one["scheduled_at"]) for one in world.executions(job["job_id"])]
    assert len(dues) >= 8
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(seconds=60)}


def test_duplicated_and_reordered_records_and_messages_change_nothing(world: World) -> None:
    shuffle = random.Random(7).shuffle

    def twice_in_any_order(records: list[Any]) -> list[Any]:
        records = [*records, *records]
        shuffle(records)
        return records

    job = world.submit(schedule={"every_seconds": 30})
    once = world.submit()
    for second in range(0, 300, 10):
        if second % 60 == 0:
            world.tick()
            world.tick()
        for _ in range(4):
            world.deliver_streams(twice_in_any_order)
            for order in twice_in_any_order(world.orders()):
                world.work(order)
        world.pass_time(10)
    ended = [one for one in world.executions(job["job_id"]) if one["status"] == "succeeded"]
    dues = [from_text(one["scheduled_at"]) for one in ended]
    assert {later - earlier for earlier, later in itertools.pairwise(dues)} == {timedelta(seconds=30)}
    assert len(dues) >= 9
    assert all(len(one["attempts"]) == one["attempt"] == 1 for one in ended)
    [single] = world.executions(once["job_id"])
    assert (single["status"], single["attempt"]) == ("succeeded", 1)


def test_old_records_that_are_redelivered_start_nothing(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 30})
    records: dict[str, list[Any]] = {"jobs": [], "executions": []}
    for _ in range(20):
        for table in records:
            fresh = world.stream_records(table, "planner")
            records[table] += fresh
            if fresh:
                world.call("planner", {"Records": fresh})
        for order in world.orders():
            world.work(order)
        world.pass_time(10)
    before = [one for one in world.executions(job["job_id"]) if one["status"] == "succeeded"]
    assert len(before) >= 6
    world.call("planner", {"Records": records["executions"][::-1] + records["jobs"]})
    for order in world.orders():
        world.work(order)
    assert world.executions(job["job_id"])[: len(before)] == before


def test_a_redelivered_leader_plans_no_further_than_the_next_leader(world: World) -> None:
    world.submit(schedule={"every_seconds": 60})
    world.run_until_idle()
    world.pass_time(130)
    world.tick()
    records = world.stream_records("executions", "planner")
    assert any(record["dynamodb"]["NewImage"].get("is_leader") for record in records)
    world.call("planner", {"Records": records})
    world.pass_time(600)
    stored: list[str] = []

    def record(params: dict[str, Any], **_: Any) -> None:
        writes = [one.get("Put", {}) for one in params["TransactItems"]] if "TransactItems" in params else [params]
        stored.extend(one["Item"]["execution_id"]["S"] for one in writes if one.get("TableName") == "executions")

    for operation in ("PutItem", "TransactWriteItems"):
        aws.dynamodb().meta.events.register(f"provide-client-params.dynamodb.{operation}", record)
    world.call("planner", {"Records": records})
    # one execution within the horizon and the next leader, although ten more minutes of instants have passed
    assert len(stored) == 2


@pytest.mark.parametrize(
    ("method", "action", "change"),
    [("PATCH", "", {"schedule": {"every_seconds": 70}}), ("DELETE", "", None), ("POST", "/pause", None)],
)
def test_a_job_changed_while_its_successors_are_planned_keeps_none_of_the_old_revision(
    world: World, method: str, action: str, change: dict[str, Any] | None
) -> None:
    job_id = world.submit(schedule={"every_seconds": 100})["job_id"]
    world.run_until_idle()
    world.pass_time(121)
    world.tick()
    leader = world.stream_records("executions", "planner")

    def change_job() -> None:
        """The planner has read the job and is about to store successors: another planner handles the change first."""
        assert world.request(method, f"/jobs/{job_id}{action}", change)[0] in (200, 204)
        world.call("planner", {"Records": world.stream_records("jobs", "planner")})

    with just_before("PutItem", change_job):
        world.call("planner", {"Records": leader})
    world.run_until_idle()
    unfinished = [item for item in world.items("executions") if item["status"]["S"] in ("scheduled", "queued")]
    assert {item["revision"]["N"] for item in unfinished} == ({"2"} if change else set())


def test_a_sweep_catches_up_on_ten_missed_ticks_without_losing_a_timer(world: World) -> None:
    world.tick()
    due = [world.now + timedelta(minutes=minute) for minute in (5, 8, 11)]
    jobs = [world.submit(schedule={"at": to_text(one)}) for one in due]
    world.run_until_idle()
    world.pass_time(600)
    swept = world.tick()
    assert (swept["timers_seen"], swept["queued"]) == (3, 3)
    assert swept["behind"] == pytest.approx(540)
    world.run_until_idle()
    world.pass_time(60)
    world.run_until_idle()
    assert [statuses(world, job["job_id"]) for job in jobs] == [["succeeded"]] * 3
    swept = world.tick()  # sees only the checks of the late starts
    assert (swept["queued"], swept["sent_again"]) == (0, 0)


def test_a_sweep_that_crashes_resumes_where_it_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.tick()
    jobs = [world.submit(schedule={"at": to_text(world.now + timedelta(minutes=m))}) for m in (6, 7, 8)]
    world.run_until_idle()
    world.pass_time(300)
    table = world.function("dispatcher").dispatcher.executions.table.client
    real, calls = table.update_item, []

    def crash_on_the_second(**request: Any) -> Any:
        calls.append(request)
        if len(calls) == 2:
            raise Killed
        return real(**request)

    monkeypatch.setattr(table, "update_item", crash_on_the_second)
    with pytest.raises(Killed):
        world.tick()
    monkeypatch.setattr(table, "update_item", real)
    assert world.tick()["timers_seen"] == 2  # the first bucket was recorded as swept
    world.run_for(200, step=10)
    assert [statuses(world, job["job_id"]) for job in jobs] == [["succeeded"]] * 3


@pytest.mark.parametrize("nth", range(1, 7))  # the planner makes six writes and sends
def test_a_planner_that_crashes_at_any_write_completes_when_the_record_is_redelivered(
    world: World, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    job = world.submit(schedule={"every_seconds": 100})
    world.function("planner")
    clients = [aws.dynamodb(), aws.sqs()]
    count, armed = 0, True

    def counted(real: Any) -> Any:
        def call(**request: Any) -> Any:
            nonlocal count
            count += armed
            if armed and count == nth:
                raise Killed
            return real(**request)

        return call

    for client in clients:
        for name in ("put_item", "update_item", "send_message_batch"):
            if hasattr(client, name):
                monkeypatch.setattr(client, name, counted(getattr(client, name)))
    died = 0
    for _ in range(4):
        for table in ("jobs", "executions"):
            if records := world.stream_records(table, "planner"):
                try:
                    world.call("planner", {"Records": records})
                except Killed:
                    died += 1
                    world.call("planner", {"Records": records})
    armed = False
    assert died == 1
    world.run_for(310, step=10)
    ended = [one for one in world.executions(job["job_id"]) if one["status"] == "succeeded"]
    assert [from_text(one["scheduled_at"]) - from_text(job["created_at"]) for one in ended] == [
        timedelta(seconds=100),
        timedelta(seconds=200),
        timedelta(seconds=300),
    ]
    assert all(one["attempt"] == 1 for one in ended)


def test_an_unreadable_work_order_goes_to_the_dead_letter_queue_with_the_reason(world: World) -> None:
    for priority in ("high", "normal", "low"):
        world.sqs.send_message(QueueUrl=world.queues[priority], MessageBody="{broken")
        [message] = world.receive(priority)
        assert world.work(message) == {"batchItemFailures": []}
        [dead] = world.receive(f"{priority}-dead")
        assert dead["body"] == "{broken"
        assert "not a work order" in dead["messageAttributes"]["reason"]["StringValue"]


def test_an_unreadable_record_goes_to_the_dead_letter_queue_and_blocks_no_other_record(world: World) -> None:
    job = world.submit()
    [record] = world.stream_records("jobs", "planner")
    unreadable = json.loads(json.dumps(record))
    unreadable["dynamodb"]["NewImage"]["schedule"] = {"S": "no schedule"}
    world.call("planner", {"Records": [unreadable, record]})
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]
    [dead] = world.receive("planner-dead")
    assert "not a job" in dead["messageAttributes"]["reason"]["StringValue"]


@pytest.mark.parametrize(
    ("code", "is_permanent"), [("ValidationException", True), ("ProvisionedThroughputExceededException", False)]
)
def test_only_a_request_that_aws_can_never_process_is_dead_lettered(
    world: World, code: str, is_permanent: bool
) -> None:
    refused, other = world.submit(), world.submit()
    records = world.stream_records("jobs", "planner")

    def refuse(params: dict[str, Any], **_: Any) -> None:
        if refused["job_id"].encode() in bytes(params["body"]) and b"ConditionExpression" in bytes(params["body"]):
            raise ClientError({"Error": {"Code": code, "Message": "refused"}}, "Write")

    events = aws.dynamodb().meta.events
    events.register("before-call.dynamodb", refuse)
    try:
        with nullcontext() if is_permanent else pytest.raises(ClientError, match=code):
            world.call("planner", {"Records": records})
    finally:
        events.unregister("before-call.dynamodb", refuse)
    world.run_until_idle()
    assert statuses(world, other["job_id"]) == (["succeeded"] if is_permanent else [])
    assert [dead["messageAttributes"]["reason"]["StringValue"] for dead in world.receive("planner-dead")] == (
        [f"ClientError: An error occurred ({code}) when calling the Write operation: refused"] if is_permanent else []
    )


def test_an_aws_error_returns_the_work_order_to_the_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import EndpointConnectionError

    world.submit()
    world.deliver_streams()
    world.deliver_streams()
    queue = world.queues["normal"]
    [message] = world.sqs.receive_message(QueueUrl=queue, AttributeNames=["All"])["Messages"]
    record = {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:normal",
    }
    client = world.function("worker").executions.table.client

    def unreachable(**_: Any) -> Any:
        raise EndpointConnectionError(endpoint_url="dynamodb")

    monkeypatch.setattr(client, "update_item", unreachable)
    assert world.work(record) == {"batchItemFailures": [{"itemIdentifier": message["MessageId"]}]}
    world.pass_time(6)
    assert len(world.receive("normal")) == 1


def test_a_timer_that_expires_before_it_is_swept_queues_its_execution(world: World) -> None:
    job = world.submit(schedule={"at": to_text(world.now + timedelta(minutes=10))})
    world.run_until_idle()
    [timer] = [item for item in world.items("timers") if "job_id" in item]
    world.pass_time(7200)  # no dispatcher in all this time
    expire(world, timer)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["succeeded"]


def test_an_expired_timer_repairs_a_broken_chain(world: World) -> None:
    job = world.submit(schedule={"every_seconds": 600})
    world.run_until_idle()
    [timer] = [item for item in world.items("timers") if "job_id" in item]
    world.pass_time(420)
    world.tick()
    lost = world.stream_records("executions", "planner")
    assert [one["dynamodb"]["NewImage"]["status"]["S"] for one in lost] == ["queued"]  # this record is never delivered
    world.pass_time(3600)
    expire(world, timer)
    world.run_until_idle()
    # the execution of the expired timer, the missed instants, the latest instant, which covers them, and the successors
    missed = ["skipped"] * 4
    assert statuses(world, job["job_id"]) == ["succeeded", *missed, "succeeded", "queued", "scheduled"]


def expire(world: World, timer: dict[str, Any]) -> None:
    """Deliver the record that DynamoDB writes when TTL removes a timer."""
    arn = world.dynamodb.describe_table(TableName="timers")["Table"]["LatestStreamArn"]
    service = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
    record = {
        "eventName": "REMOVE",
        "eventSourceARN": arn,
        "userIdentity": service,
        "dynamodb": {"Keys": {"bucket": timer["bucket"], "due": timer["due"]}, "OldImage": timer},
    }
    world.call("planner", {"Records": [record]})


def test_an_expired_timer_of_an_earlier_attempt_does_not_shorten_a_backoff(world: World) -> None:
    due = world.now + timedelta(minutes=10)
    job = world.submit(task="test.retry_later", parameters={"after": 8 * 3600}, schedule={"at": to_text(due)})
    world.run_until_idle()
    [timer] = [item for item in world.items("timers") if "job_id" in item]
    world.run_for(660, step=20)
    assert statuses(world, job["job_id"]) == ["retrying"]
    world.pass_time(2 * 3600)
    expire(world, timer)
    world.run_until_idle()
    assert statuses(world, job["job_id"]) == ["retrying"]
    world.run_for(6 * 3600 + 120, step=60)
    [execution] = world.executions(job["job_id"])
    assert execution["status"] == "succeeded"
    backoff = from_text(execution["started_at"]) - from_text(execution["attempts"][0]["ended_at"])
    assert timedelta(hours=8) <= backoff < timedelta(hours=8, minutes=2)


def test_a_work_order_for_the_next_attempt_does_not_shorten_the_backoff(world: World) -> None:
    job = world.submit(task="test.retry_later", parameters={"after": 3600})
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    body = json.loads(order["body"])
    world.work(order)
    world.work({**order, "body": json.dumps({**body, "attempt": 2})})
    assert [(one["status"], one["attempt"]) for one in world.executions(job["job_id"])] == [("retrying", 1)]


def test_repeated_aws_errors_delay_redelivery_exponentially(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(
        aws.sqs(), "change_message_visibility", lambda **request: waits.append(request["VisibilityTimeout"])
    )
    handler = world.function("worker")
    for count in (1, 2, 3, 9, 90):
        source = "arn:aws:sqs:us-east-1:123456789012:normal"
        attributes = {"ApproximateReceiveCount": str(count)}
        handler._delay_redelivery({"receiptHandle": "r", "eventSourceARN": source, "attributes": attributes})
    assert waits == [5, 10, 20, 600, 600]


def test_a_sweep_after_an_outage_of_ten_days_makes_progress_although_it_crashes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.tick()
    world.pass_time(10 * 24 * 3600)
    client = aws.dynamodb()
    real, queries = client.query, []

    def crash_after_some(**request: Any) -> Any:
        queries.append(request)
        if len(queries) == 200:
            raise Killed
        return real(**request)

    before = world.function("dispatcher").dispatcher.timers.swept_to(0)
    monkeypatch.setattr(client, "query", crash_after_some)
    with pytest.raises(Killed):
        world.tick()
    reached = world.function("dispatcher").dispatcher.timers.swept_to(0)
    assert reached.at - before.at >= timedelta(minutes=150)


def test_a_clock_that_is_set_back_does_not_move_the_sweep_position_back(world: World) -> None:
    world.tick()
    before = world.function("dispatcher").dispatcher.timers.swept_to(0)
    world.pass_time(-90)
    assert world.tick()["timers_seen"] == 0
    assert world.function("dispatcher").dispatcher.timers.swept_to(0) == before


def test_an_unreadable_job_does_not_block_the_executions_of_other_jobs(world: World) -> None:
    unreadable, good = world.submit(), world.submit()
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    key = {"job_id": {"S": unreadable["job_id"]}}
    world.dynamodb.update_item(
        TableName="jobs",
        Key=key,
        UpdateExpression="SET #s = :no",
        ExpressionAttributeNames={"#s": "schedule"},
        ExpressionAttributeValues={":no": {"S": "no schedule"}},
    )
    world.call("planner", {"Records": world.stream_records("executions", "planner")})
    for order in world.orders():
        world.work(order)
    assert statuses(world, good["job_id"]) == ["succeeded"]
    assert len(world.receive("planner-dead")) == 1
