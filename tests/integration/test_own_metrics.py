"""Metrics that functions publish about themselves for alarms: API faults, stream lag, throttles, and zeros."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import boto3
import botocore.endpoint
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

from punctual.aws import clients as aws
from punctual.aws import throttling
from punctual.domain.identity import new_job_id
from punctual.domain.metrics import EVENT_METRICS, Metric
from tests.integration.world import World

STREAM_CONSUMERS = ("planner", "settler", "admission")


def published(world: World, metric: Metric) -> list[float]:
    """Return the values of a metric, summed per minute."""
    points = boto3.client("cloudwatch").get_metric_statistics(
        Namespace="Punctual/test",
        MetricName=metric,
        StartTime=world.now - timedelta(hours=1),
        EndTime=world.now + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]
    return [point["Sum"] for point in sorted(points, key=lambda point: point["Timestamp"])]


def unreadable_job(world: World) -> str:
    """Store a job that cannot be deserialized; return its path."""
    job_id = new_job_id(world.now)
    world.dynamodb.put_item(TableName="jobs", Item={"job_id": {"S": job_id}, "schedule": {"S": "no schedule"}})
    return f"/jobs/{job_id}"


def break_cloudwatch(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Make every CloudWatch call fail; return the list that records the requests."""
    requests: list[Any] = []

    def fail(**request: Any) -> None:
        requests.append(request)
        raise OSError("no route to CloudWatch")

    monkeypatch.setattr(aws.best_effort_cloudwatch(), "put_metric_data", fail)
    return requests


# API faults


def test_a_request_that_fails_with_an_internal_error_is_counted(world: World) -> None:
    path = unreadable_job(world)
    for _ in range(3):
        status, problem = world.request("GET", path)
        assert (status, problem["title"]) == (500, "Internal Server Error")
    assert published(world, Metric.API_FAULTS) == [3]


def test_a_request_that_is_rejected_as_a_client_error_is_not_counted(world: World) -> None:
    assert world.request("GET", "/jobs/none")[0] == 404
    assert world.request("POST", "/jobs", {"task": ""})[0] == 422
    assert world.request("POST", "/jobs", raw_body="{")[0] == 400
    assert published(world, Metric.API_FAULTS) == []


def test_the_response_is_the_same_when_the_fault_cannot_be_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unreadable_job(world)
    counted = world.request("GET", path)
    requests = break_cloudwatch(monkeypatch)
    assert world.request("GET", path) == counted
    assert len(requests) == 1


# stream lag


def record(world: World, age: float) -> dict[str, Any]:
    """A stream record of an unknown table: only its age matters here."""
    return {
        "eventName": "MODIFY",
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/other/stream/1",
        "dynamodb": {"ApproximateCreationDateTime": world.now.timestamp() - age, "NewImage": {}},
    }


def test_a_consumer_that_receives_an_old_record_publishes_its_age(world: World) -> None:
    job = world.submit()
    world.pass_time(300)
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [300]
    assert len(world.executions(job["job_id"])) == 1


def test_a_consumer_that_keeps_up_publishes_no_lag(world: World) -> None:
    world.submit()
    world.pass_time(9)
    world.run_until_idle()
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


@pytest.mark.parametrize("name", STREAM_CONSUMERS)
def test_the_lag_of_a_batch_is_the_age_of_its_oldest_record(world: World, name: str) -> None:
    world.call(name, {"Records": [record(world, 20), record(world, 75.5), record(world, 1)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [75.5]


@pytest.mark.parametrize("name", STREAM_CONSUMERS)
def test_a_batch_of_recent_records_publishes_no_lag(world: World, name: str) -> None:
    world.call(name, {"Records": [record(world, 10), record(world, -3)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


def test_a_lagging_consumer_publishes_every_ten_seconds_and_not_with_each_batch(world: World) -> None:
    for _ in range(21):
        world.call("planner", {"Records": [record(world, 100)]})
        world.pass_time(1)
    assert published(world, Metric.STREAM_LAG_SECONDS) == [300]  # at 0, 10 and 20 seconds


def test_lag_is_still_published_after_the_clock_moved_back(world: World) -> None:
    world.call("planner", {"Records": [record(world, 100)]})
    world.pass_time(-3000)
    world.call("planner", {"Records": [record(world, 100)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [100]


def test_a_record_without_a_creation_time_is_processed_nevertheless(world: World) -> None:
    job = world.submit()
    [made] = world.stream_records("jobs", "planner")
    del made["dynamodb"]["ApproximateCreationDateTime"]
    world.call("planner", {"Records": [made]})
    assert len(world.executions(job["job_id"])) == 1
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


def test_records_are_processed_when_the_lag_cannot_be_published(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = break_cloudwatch(monkeypatch)
    job = world.submit()
    world.pass_time(300)
    for _ in range(2):
        world.deliver_streams()
    assert len(world.executions(job["job_id"])) == 1
    assert len(requests) == 1  # not attempted again with each batch


# throttled calls


class FailingDynamoDB:
    """Makes DynamoDB answer the next calls with an error, for a given number of calls."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        del world  # only its AWS clients are needed
        self.left, self.code, self.more = 0, "ThrottlingException", {}
        aws.dynamodb().meta.events.register_first("before-send.dynamodb", self._answer)
        monkeypatch.setattr(botocore.endpoint.time, "sleep", lambda _: None)  # the SDK's backoff between retries

    def __call__(self, calls: int, code: str = "ThrottlingException", **more: Any) -> None:
        self.left, self.code, self.more = calls, code, more

    def _answer(self, request: Any, **_: Any) -> AWSResponse | None:
        if not self.left:
            return None
        self.left -= 1
        body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{self.code}", **self.more}).encode()
        return _Answer(request.url, 400, {"Content-Type": "application/x-amz-json-1.0"}, body)


class _Answer(AWSResponse):
    def __init__(self, url: str, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(url, status, headers, None)
        self._content = body


ALL_CALLS = 1000


@pytest.fixture
def failing(world: World, monkeypatch: pytest.MonkeyPatch) -> FailingDynamoDB:
    return FailingDynamoDB(world, monkeypatch)


@pytest.mark.parametrize("code", ["ThrottlingException", "ProvisionedThroughputExceededException"])
def test_a_throttled_handler_raises_the_error_and_publishes_the_throttle(
    world: World, failing: FailingDynamoDB, code: str
) -> None:
    world.function("dispatcher")
    failing(ALL_CALLS, code)
    with pytest.raises(ClientError, match=code):
        world.tick()
    assert published(world, Metric.THROTTLES) == [1]


def test_a_throttle_is_published_at_most_once_per_second_and_process(world: World, failing: FailingDynamoDB) -> None:
    world.function("dispatcher")
    failing(ALL_CALLS)
    for _ in range(5):
        with pytest.raises(ClientError):
            world.tick()
        world.pass_time(0.4)
    assert published(world, Metric.THROTTLES) == [2]  # at 0 and 1.2 seconds


def test_a_throttle_that_the_sdk_retried_successfully_is_not_published(world: World, failing: FailingDynamoDB) -> None:
    world.function("dispatcher")
    failing(2)
    world.tick()
    assert failing.left == 0
    assert published(world, Metric.THROTTLES) == []


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"])
def test_an_error_other_than_a_throttle_is_not_published(world: World, failing: FailingDynamoDB, code: str) -> None:
    world.function("dispatcher")
    failing(ALL_CALLS, code)
    with pytest.raises(ClientError, match=code):
        world.tick()
    assert published(world, Metric.THROTTLES) == []


def test_a_throttle_is_also_published_by_a_handler_that_catches_the_error(
    world: World, failing: FailingDynamoDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.submit()
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    world.function("worker")
    failing(ALL_CALLS)
    monkeypatch.setattr(aws.sqs(), "change_message_visibility", lambda **_: None)
    assert len(world.work(order)["batchItemFailures"]) == 1
    assert published(world, Metric.THROTTLES) == [1]


def test_a_throttled_api_request_counts_as_a_fault_and_a_throttle(world: World, failing: FailingDynamoDB) -> None:
    job = world.submit()
    failing(ALL_CALLS)
    assert world.request("GET", f"/jobs/{job['job_id']}")[0] == 500
    assert published(world, Metric.API_FAULTS) == [1]
    assert published(world, Metric.THROTTLES) == [1]


def test_the_error_is_the_same_when_the_throttle_cannot_be_published(
    world: World, failing: FailingDynamoDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.function("dispatcher")
    requests = break_cloudwatch(monkeypatch)
    failing(ALL_CALLS)
    with pytest.raises(ClientError, match="ThrottlingException"):
        world.tick()
    assert len(requests) == 1


def test_a_transaction_cancelled_for_lack_of_capacity_counts_as_throttled(
    world: World, failing: FailingDynamoDB
) -> None:
    del world
    for reason, detected in (("ThrottlingError", True), ("ConditionalCheckFailed", False)):
        failing(1, "TransactionCanceledException", CancellationReasons=[{"Code": "None"}, {"Code": reason}])
        with pytest.raises(ClientError):
            aws.dynamodb().transact_write_items(TransactItems=[_update()])
        assert throttling.check_and_reset() is detected


def test_a_message_rejected_by_sqs_throttling_counts_as_throttled(world: World) -> None:
    del world
    for code, detected in (("RequestThrottled", True), ("InvalidMessageContents", False)):
        throttling._inspect({"Failed": [{"Id": "0", "Code": code}]})
        assert throttling.check_and_reset() is detected


def _update() -> dict[str, Any]:
    change = {"TableName": "signals", "Key": {"id": {"S": "x"}}, "UpdateExpression": "SET a = :a"}
    return {"Update": {**change, "ExpressionAttributeValues": {":a": {"S": "a"}}}}


# the zeros of the monitor


def test_the_monitor_publishes_zeros_every_minute_so_that_alarms_clear(world: World) -> None:
    figures = world.monitor_tick()["figures"]
    assert {figures[metric] for metric in EVENT_METRICS} == {0}
    for metric in EVENT_METRICS:
        assert published(world, metric) == [0]


def test_the_zeros_are_published_even_if_nothing_else_can_be_measured(world: World, failing: FailingDynamoDB) -> None:
    world.function("monitor")
    failing(ALL_CALLS, "InternalServerError")
    with pytest.raises(ClientError):  # raised by the deadline checks, which come last
        world.monitor_tick()
    for metric in EVENT_METRICS:
        assert published(world, metric) == [0]


def test_a_zero_does_not_hide_an_event_of_the_same_minute(world: World) -> None:
    world.request("GET", unreadable_job(world))
    world.monitor_tick()
    assert published(world, Metric.API_FAULTS) == [1]
