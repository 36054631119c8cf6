"""Flow counters of workers and intake, and the backlog samples that the queue sampler derives from them."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from punctual.aws import clients as aws
from punctual.aws.cloudwatch.metrics import CloudWatchMetrics
from punctual.aws.dynamodb.monitor_state import DynamoSamples
from punctual.aws.dynamodb.queue_flows import DynamoFlows
from punctual.aws.dynamodb.table import Table
from punctual.aws.sqs.queue_depths import SqsQueueDepths
from punctual.domain.forecasts.queue_backlog import BacklogLimits
from punctual.domain.forecasts.queue_flow import FLUSH_INTERVAL, Flow
from punctual.stages.watch.measure import QueueSampler
from tests.integration.fixture_tasks import Killed
from tests.integration.world import World

CONCURRENCY = {"high": 10, "normal": 10, "low": 4, "intake": 2}


def signals() -> Table:
    return Table("signals", aws.dynamodb())


def flow(queue: str) -> Flow:
    """The flow of a queue as flushed so far."""
    return DynamoFlows(signals()).read([queue]).get(queue, Flow())


def queue_sampler(world: World, warn: Any = pytest.fail) -> QueueSampler:
    depths = SqsQueueDepths({queue: world.queues[queue] for queue in CONCURRENCY}, aws.sqs, warn)
    table = signals()
    return QueueSampler(
        depths, DynamoFlows(table), DynamoSamples(table), CONCURRENCY, BacklogLimits(minutes=2, messages=1000)
    )


def enqueue_jobs(world: World, count: int, **submission: Any) -> None:
    """Submit jobs and deliver their work orders to the queue."""
    jobs = [{"task": "echo", **submission} for _ in range(count)]
    assert world.request("POST", "/jobs/batch", {"jobs": jobs})[0] == 201
    for _ in range(2):
        world.deliver_streams()


def receive_one(world: World, queue: str) -> dict[str, Any] | None:
    """Receive one message as Lambda's poller does; the others stay visible."""
    url = world.queues[queue]
    answer = world.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1, MessageSystemAttributeNames=["All"])
    for message in answer.get("Messages", []):
        world.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
        }
    return None


def work_one(world: World, queue: str = "normal") -> None:
    message = receive_one(world, queue)
    assert message is not None
    world.work(message)


class FailingSignalsTable:
    """Makes updates of the signals table fail, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real, self.updates, self.fails = aws.dynamodb().update_item, 0, True
        monkeypatch.setattr(aws.dynamodb(), "update_item", self)

    def __call__(self, **request: Any) -> Any:
        if request["TableName"] == "signals":
            self.updates += 1
            if self.fails:
                raise OSError("no route")
        return self.real(**request)


def test_a_worker_counts_starts_lateness_and_ends(world: World) -> None:
    enqueue_jobs(world, 1, priority="high")
    world.pass_time(3)
    work_one(world, "high")
    counted = flow("high")
    assert (counted.started, counted.finished, counted.failed, counted.passed) == (1, 1, 0, 0)
    assert (sum(counted.late), counted.last_wait_ms, counted.last_started_at) == (1, 3000, world.now)
    assert flow("normal") == flow("low") == Flow()


def test_a_worker_flushes_its_counts_at_intervals_with_one_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue_jobs(world, 13)
    world.function("worker")
    signals_table = FailingSignalsTable(monkeypatch)
    signals_table.fails = False
    for _ in range(13):
        work_one(world)
        world.pass_time(FLUSH_INTERVAL.total_seconds() / 5)
    assert signals_table.updates == 3
    assert flow("normal").finished == 11  # the worker's next invocation flushes the rest
    world.pass_time(60)
    enqueue_jobs(world, 1)
    work_one(world)
    assert flow("normal").finished == 14


def test_a_failed_flush_neither_fails_nor_repeats_the_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue_jobs(world, 2)
    world.function("worker")
    signals_table = FailingSignalsTable(monkeypatch)
    message = receive_one(world, "normal")
    assert message is not None
    assert world.work(message) == {"batchItemFailures": []}
    assert [one["status"]["S"] for one in world.items("executions")].count("succeeded") == 1
    assert flow("normal") == Flow()
    signals_table.fails = False
    world.pass_time(FLUSH_INTERVAL.total_seconds())
    work_one(world)
    assert flow("normal").finished == 2


def test_failed_attempts_and_retries_are_counted_and_only_the_first_attempt_counts_for_lateness(world: World) -> None:
    retry = {"max_attempts": 2, "backoff_seconds": 0}
    world.submit(task="fail", parameters={"times": 1}, retry=retry, priority="high")
    world.run_until_idle()
    world.pass_time(FLUSH_INTERVAL.total_seconds())
    enqueue_jobs(world, 1, priority="high")
    work_one(world, "high")
    counted = flow("high")
    assert (counted.started, counted.finished, counted.failed, sum(counted.late)) == (3, 3, 1, 2)


def test_a_retry_counts_for_the_queue_that_delivered_it(world: World) -> None:
    world.submit(task="fail", parameters={"times": 1}, retry={"max_attempts": 2, "backoff_seconds": 0})
    world.run_until_idle()
    for _ in range(3):  # each invocation flushes the counts of one queue
        world.pass_time(FLUSH_INTERVAL.total_seconds())
        enqueue_jobs(world, 1, priority="low")
        work_one(world, "low")
    flows = [flow(queue) for queue in ("normal", "high")]
    assert [(one.started, one.finished, one.failed) for one in flows] == [(1, 1, 1), (1, 1, 0)]


def test_a_duplicate_work_order_leaves_the_queue_without_a_start(world: World) -> None:
    enqueue_jobs(world, 1)
    message = receive_one(world, "normal")
    assert message is not None
    world.work(message)
    world.pass_time(FLUSH_INTERVAL.total_seconds())
    world.work(message)
    counted = flow("normal")
    assert (counted.started, counted.finished, counted.passed) == (1, 1, 1)


def test_an_attempt_whose_worker_crashed_counts_as_failed_on_take_over(world: World) -> None:
    dies = {"task": "test.crash", "parameters": {"in_attempts": [1, 2]}, "retry": {"max_attempts": 2}}
    enqueue_jobs(world, 1, priority="high", **dies)
    with pytest.raises(Killed):
        work_one(world, "high")
    world.pass_time(61)
    world.tick()
    with pytest.raises(Killed):
        work_one(world, "high")
    world.pass_time(61)
    world.tick()
    work_one(world, "high")  # all attempts are used: fails the execution
    counted = flow("high")
    assert (counted.started, counted.finished, counted.failed) == (2, 2, 2)


def test_intake_counts_processed_messages_and_not_failed_ones(world: World) -> None:
    for _ in range(3):  # dead-lettered, and so removed from the queue
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody="{}")
    world.pass_time(7)
    world.deliver_intake()
    counted = flow("intake")
    assert (counted.started, counted.finished, counted.last_wait_ms) == (3, 3, 7000)
    world.pass_time(FLUSH_INTERVAL.total_seconds())
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody="{}")
    [message] = world.receive("intake")
    unread = {**message, "attributes": {}}
    assert world.call("intake", {"Records": [unread]})["batchItemFailures"] != []
    assert flow("intake") == counted


def test_a_sample_shows_visible_and_delayed_messages(world: World) -> None:
    enqueue_jobs(world, 3, priority="low")
    enqueue_jobs(world, 2, priority="low", schedule={"every_seconds": 200})
    shown = queue_sampler(world).sample(world.now).queues
    assert (shown["low"].depth, shown["low"].in_flight) == (3, 0)
    assert shown["low"].delayed == 2
    assert [shown[queue].depth for queue in ("high", "normal", "intake")] == [0, 0, 0]


def test_a_missing_queue_is_logged_and_does_not_hide_the_others(world: World) -> None:
    enqueue_jobs(world, 3)
    world.sqs.delete_queue(QueueUrl=world.queues["low"])
    warned: list[str] = []
    shown = queue_sampler(world, warned.append).sample(world.now).queues
    assert (shown["low"].depth, shown["normal"].depth) == (None, 3)
    [warning] = warned
    assert "cannot read the depth of queue low" in warning


def test_an_unreadable_previous_sample_is_ignored(world: World) -> None:
    queue_sampler(world).sample(world.now)
    signals().put({"id": "sample", "at": "?", "sample": '{"version": 0}'})
    world.pass_time(60)
    assert queue_sampler(world).sample(world.now).seconds is None
    world.pass_time(60)
    assert queue_sampler(world).sample(world.now).seconds == 60


def test_a_backlog_is_detected_published_and_drains_in_the_forecast_time(world: World) -> None:
    """One execution completes every two seconds; the backlog limit is two minutes."""
    world.pass_time(-world.now.second)
    queue_sampler(world).sample(world.now)
    enqueue_jobs(world, 100)
    world.pass_time(60)
    queue_sampler(world).sample(world.now)
    for _ in range(30):
        work_one(world)
        world.pass_time(2)
    sample = queue_sampler(world).sample(world.now)
    CloudWatchMetrics(aws.cloudwatch, "test").publish(sample.figures(), world.now)
    shown = sample.queues["normal"]
    assert (shown.depth, shown.drains, shown.minutes_until_breach) == (70, True, 0)
    assert shown.oldest_seconds == pytest.approx(120, abs=10)
    assert sample.lateness_p99_seconds is not None
    assert 60 < sample.lateness_p99_seconds <= 300  # the precision of the histogram buckets
    began = world.now
    while (message := receive_one(world, "normal")) is not None:
        world.work(message)
        world.pass_time(2)
    assert shown.drain_minutes == pytest.approx((world.now - began).total_seconds() / 60, rel=0.25)
    world.pass_time(60)
    over = queue_sampler(world).sample(world.now).queues["normal"]
    assert (over.depth, over.drain_minutes, over.oldest_seconds, over.minutes_until_breach) == (0, 0, 0, None)
    published = boto3.client("cloudwatch").list_metrics(Namespace="Punctual/test")["Metrics"]
    assert {one["MetricName"] for one in published} == set(sample.figures())
