"""What workers and intake count, and what the survey makes of it."""

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
from punctual.domain.forecasts.queue_flow import PACE, Flow
from punctual.stages.watch.measure import Survey
from tests.integration.odd_tasks import Killed
from tests.integration.world import World

CONCURRENCY = {"high": 10, "normal": 10, "low": 4, "intake": 2}


def signals() -> Table:
    return Table("signals", aws.dynamodb())


def flow(queue: str) -> Flow:
    """As it was told so far."""
    return DynamoFlows(signals()).read([queue]).get(queue, Flow())


def survey(world: World, warn: Any = pytest.fail) -> Survey:
    depths = SqsQueueDepths({queue: world.queues[queue] for queue in CONCURRENCY}, aws.sqs, warn)
    table = signals()
    return Survey(
        depths, DynamoFlows(table), DynamoSamples(table), CONCURRENCY, BacklogLimits(minutes=2, messages=1000)
    )


def ready(world: World, count: int, **submission: Any) -> None:
    """So many jobs whose orders are in their queue."""
    jobs = [{"task": "echo", **submission} for _ in range(count)]
    assert world.request("POST", "/jobs/batch", {"jobs": jobs})[0] == 201
    for _ in range(2):
        world.deliver_streams()


def take_one(world: World, queue: str) -> dict[str, Any] | None:
    """As Lambda's poller would: the rest stays visible."""
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
    message = take_one(world, queue)
    assert message is not None
    world.work(message)


class Refusing:
    """Makes the signals table refuse what is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real, self.asked, self.refuses = aws.dynamodb().update_item, 0, True
        monkeypatch.setattr(aws.dynamodb(), "update_item", self)

    def __call__(self, **request: Any) -> Any:
        if request["TableName"] == "signals":
            self.asked += 1
            if self.refuses:
                raise OSError("no route")
        return self.real(**request)


def test_a_worker_tells_what_started_how_late_and_what_ended(world: World) -> None:
    ready(world, 1, priority="high")
    world.pass_time(3)
    work_one(world, "high")
    told = flow("high")
    assert (told.started, told.finished, told.failed, told.passed) == (1, 1, 0, 0)
    assert (sum(told.late), told.last_wait_ms, told.last_started_at) == (1, 3000, world.now)
    assert flow("normal") == flow("low") == Flow()


def test_a_worker_tells_at_its_pace_with_one_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(world, 13)
    world.function("worker")
    signals_table = Refusing(monkeypatch)
    signals_table.refuses = False
    for _ in range(13):
        work_one(world)
        world.pass_time(PACE.total_seconds() / 5)
    assert signals_table.asked == 3
    assert flow("normal").finished == 11  # the rest is told by this worker's next invocation
    world.pass_time(60)
    ready(world, 1)
    work_one(world)
    assert flow("normal").finished == 14


def test_a_count_that_cannot_be_told_neither_fails_nor_repeats_the_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(world, 2)
    world.function("worker")
    signals_table = Refusing(monkeypatch)
    message = take_one(world, "normal")
    assert message is not None
    assert world.work(message) == {"batchItemFailures": []}
    assert [one["status"]["S"] for one in world.items("executions")].count("succeeded") == 1
    assert flow("normal") == Flow()
    signals_table.refuses = False
    world.pass_time(PACE.total_seconds())
    work_one(world)
    assert flow("normal").finished == 2


def test_failed_attempts_and_their_retries_are_counted_and_only_the_first_as_late(world: World) -> None:
    retry = {"max_attempts": 2, "backoff_seconds": 0}
    world.submit(task="fail", parameters={"times": 1}, retry=retry, priority="high")
    world.settle_down()
    world.pass_time(PACE.total_seconds())
    ready(world, 1, priority="high")
    work_one(world, "high")
    told = flow("high")
    assert (told.started, told.finished, told.failed, sum(told.late)) == (3, 3, 1, 2)


def test_a_retry_counts_for_the_queue_that_it_came_by(world: World) -> None:
    world.submit(task="fail", parameters={"times": 1}, retry={"max_attempts": 2, "backoff_seconds": 0})
    world.settle_down()
    for _ in range(3):  # at the end of each invocation one queue is told of
        world.pass_time(PACE.total_seconds())
        ready(world, 1, priority="low")
        work_one(world, "low")
    told = [flow(queue) for queue in ("normal", "high")]
    assert [(one.started, one.finished, one.failed) for one in told] == [(1, 1, 1), (1, 1, 0)]


def test_an_order_that_comes_twice_leaves_the_queue_without_a_start(world: World) -> None:
    ready(world, 1)
    message = take_one(world, "normal")
    assert message is not None
    world.work(message)
    world.pass_time(PACE.total_seconds())
    world.work(message)
    told = flow("normal")
    assert (told.started, told.finished, told.passed) == (1, 1, 1)


def test_an_attempt_whose_worker_died_counts_as_failed_when_it_is_taken_over(world: World) -> None:
    dies = {"task": "test.die", "parameters": {"in_attempts": [1, 2]}, "retry": {"max_attempts": 2}}
    ready(world, 1, priority="high", **dies)
    with pytest.raises(Killed):
        work_one(world, "high")
    world.pass_time(61)
    world.tick()
    with pytest.raises(Killed):
        work_one(world, "high")
    world.pass_time(61)
    world.tick()
    work_one(world, "high")  # gives it up
    told = flow("high")
    assert (told.started, told.finished, told.failed) == (2, 2, 2)


def test_intake_counts_what_it_takes_in_and_not_what_it_cannot(world: World) -> None:
    for _ in range(3):
        world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody="{}")  # buried: taken off the queue
    world.pass_time(7)
    world.take_in()
    told = flow("intake")
    assert (told.started, told.finished, told.last_wait_ms) == (3, 3, 7000)
    world.pass_time(PACE.total_seconds())
    world.sqs.send_message(QueueUrl=world.queues["intake"], MessageBody="{}")
    [message] = world.receive("intake")
    unread = {**message, "attributes": {}}
    assert world.call("intake", {"Records": [unread]})["batchItemFailures"] != []
    assert flow("intake") == told


def test_the_survey_sees_what_waits_and_what_is_not_due_yet(world: World) -> None:
    ready(world, 3, priority="low")
    ready(world, 2, priority="low", schedule={"every_seconds": 200})
    shown = survey(world).tick(world.now).queues
    assert (shown["low"].depth, shown["low"].in_flight) == (3, 0)
    assert shown["low"].delayed == 2
    assert [shown[queue].depth for queue in ("high", "normal", "intake")] == [0, 0, 0]


def test_a_queue_that_is_gone_is_told_of_and_does_not_hide_the_others(world: World) -> None:
    ready(world, 3)
    world.sqs.delete_queue(QueueUrl=world.queues["low"])
    warned: list[str] = []
    shown = survey(world, warned.append).tick(world.now).queues
    assert (shown["low"].depth, shown["normal"].depth) == (None, 3)
    [warning] = warned
    assert "queue low could not be read" in warning


def test_a_sample_that_nobody_can_read_any_more_is_like_none(world: World) -> None:
    survey(world).tick(world.now)
    signals().put({"id": "sample", "at": "?", "sample": '{"version": 0}'})
    world.pass_time(60)
    assert survey(world).tick(world.now).seconds is None
    world.pass_time(60)
    assert survey(world).tick(world.now).seconds == 60


def test_a_flood_is_seen_told_and_ends_when_it_was_forecast_to(world: World) -> None:
    """One every two seconds is done; the limit is two minutes."""
    world.pass_time(-world.now.second)
    survey(world).tick(world.now)
    ready(world, 100)
    world.pass_time(60)
    survey(world).tick(world.now)
    for _ in range(30):
        work_one(world)
        world.pass_time(2)
    sample = survey(world).tick(world.now)
    CloudWatchMetrics(aws.cloudwatch).publish(sample.figures(), world.now)
    shown = sample.queues["normal"]
    assert (shown.depth, shown.drains, shown.minutes_until_breach) == (70, True, 0)
    assert shown.oldest_seconds == pytest.approx(120, abs=10)
    assert sample.lateness_p99 is not None
    assert 60 < sample.lateness_p99 <= 300  # as exact as the buckets are
    began = world.now
    while (message := take_one(world, "normal")) is not None:
        world.work(message)
        world.pass_time(2)
    assert shown.drain_minutes == pytest.approx((world.now - began).total_seconds() / 60, rel=0.25)
    world.pass_time(60)
    over = survey(world).tick(world.now).queues["normal"]
    assert (over.depth, over.drain_minutes, over.oldest_seconds, over.minutes_until_breach) == (0, 0, 0, None)
    published = boto3.client("cloudwatch").list_metrics(Namespace="Punctual")["Metrics"]
    assert {one["MetricName"] for one in published} == set(sample.figures())
