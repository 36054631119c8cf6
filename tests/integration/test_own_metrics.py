"""What functions tell of themselves for alarms: faults, lag behind a stream, refused calls; and the monitor's zeros."""

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
from punctual.domain.metrics import AS_IT_HAPPENS, Metric
from tests.integration.world import World

READERS = ("planner", "settler", "admission")


def published(world: World, metric: Metric) -> list[float]:
    """The values of a metric, those of one minute added up."""
    points = boto3.client("cloudwatch").get_metric_statistics(
        Namespace="Punctual",
        MetricName=metric,
        StartTime=world.now - timedelta(hours=1),
        EndTime=world.now + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]
    return [point["Sum"] for point in sorted(points, key=lambda point: point["Timestamp"])]


def rotten_job(world: World) -> str:
    """One that nobody can read, and the way to it."""
    job_id = new_job_id(world.now)
    world.dynamodb.put_item(TableName="jobs", Item={"job_id": {"S": job_id}, "schedule": {"S": "no schedule"}})
    return f"/jobs/{job_id}"


def no_metrics(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """From now on CloudWatch takes nothing. What it was asked to take."""
    asked: list[Any] = []

    def refuse(**request: Any) -> None:
        asked.append(request)
        raise OSError("no route to CloudWatch")

    monkeypatch.setattr(aws.hasty_cloudwatch(), "put_metric_data", refuse)
    return asked


# faults of the API


def test_a_request_that_fails_for_a_reason_of_our_own_is_counted(world: World) -> None:
    path = rotten_job(world)
    for _ in range(3):
        status, problem = world.request("GET", path)
        assert (status, problem["title"]) == (500, "Internal Server Error")
    assert published(world, Metric.API_FAULTS) == [3]


def test_a_request_that_is_refused_for_the_callers_sake_is_not(world: World) -> None:
    assert world.request("GET", "/jobs/none")[0] == 404
    assert world.request("POST", "/jobs", {"task": ""})[0] == 422
    assert world.request("POST", "/jobs", raw_body="{")[0] == 400
    assert published(world, Metric.API_FAULTS) == []


def test_the_answer_is_the_same_when_the_fault_cannot_be_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rotten_job(world)
    counted = world.request("GET", path)
    asked = no_metrics(monkeypatch)
    assert world.request("GET", path) == counted
    assert len(asked) == 1


# behind a stream


def record(world: World, age: float) -> dict[str, Any]:
    """Of a table that nobody knows: what is in it does not matter here."""
    return {
        "eventName": "MODIFY",
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/other/stream/1",
        "dynamodb": {"ApproximateCreationDateTime": world.now.timestamp() - age, "NewImage": {}},
    }


def test_a_reader_that_is_given_what_is_old_says_how_old(world: World) -> None:
    job = world.submit()
    world.pass_time(300)
    world.call("planner", {"Records": world.stream_records("jobs", "planner")})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [300]
    assert len(world.executions(job["job_id"])) == 1


def test_a_reader_that_keeps_up_says_nothing(world: World) -> None:
    world.submit()
    world.pass_time(9)
    world.settle_down()
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


@pytest.mark.parametrize("name", READERS)
def test_of_a_batch_the_oldest_counts(world: World, name: str) -> None:
    world.call(name, {"Records": [record(world, 20), record(world, 75.5), record(world, 1)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [75.5]


@pytest.mark.parametrize("name", READERS)
def test_a_young_batch_is_not_worth_telling(world: World, name: str) -> None:
    world.call(name, {"Records": [record(world, 10), record(world, -3)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


def test_a_reader_far_behind_says_so_every_ten_seconds_and_not_with_each_batch(world: World) -> None:
    for _ in range(21):
        world.call("planner", {"Records": [record(world, 100)]})
        world.pass_time(1)
    assert published(world, Metric.STREAM_LAG_SECONDS) == [300]  # at 0, 10 and 20 seconds


def test_a_clock_that_went_back_silences_nobody(world: World) -> None:
    world.call("planner", {"Records": [record(world, 100)]})
    world.pass_time(-3000)
    world.call("planner", {"Records": [record(world, 100)]})
    assert published(world, Metric.STREAM_LAG_SECONDS) == [100]


def test_a_record_without_its_instant_is_acted_on_all_the_same(world: World) -> None:
    job = world.submit()
    [made] = world.stream_records("jobs", "planner")
    del made["dynamodb"]["ApproximateCreationDateTime"]
    world.call("planner", {"Records": [made]})
    assert len(world.executions(job["job_id"])) == 1
    assert published(world, Metric.STREAM_LAG_SECONDS) == []


def test_the_work_is_done_when_the_lag_cannot_be_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = no_metrics(monkeypatch)
    job = world.submit()
    world.pass_time(300)
    for _ in range(2):
        world.deliver_streams()
    assert len(world.executions(job["job_id"])) == 1
    assert len(asked) == 1  # and it is not asked again with each batch


# refused calls


class Refusing:
    """DynamoDB, which answers the next calls with an error, as often as it is told to."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        del world  # its clients are the ones that are used
        self.left, self.code, self.more = 0, "ThrottlingException", {}
        aws.dynamodb().meta.events.register_first("before-send.dynamodb", self._answer)
        monkeypatch.setattr(botocore.endpoint.time, "sleep", lambda _: None)  # between two tries

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


FOR_GOOD = 1000


@pytest.fixture
def refusing(world: World, monkeypatch: pytest.MonkeyPatch) -> Refusing:
    return Refusing(world, monkeypatch)


@pytest.mark.parametrize("code", ["ThrottlingException", "ProvisionedThroughputExceededException"])
def test_a_handler_that_is_refused_something_fails_as_it_did_and_that_is_told(
    world: World, refusing: Refusing, code: str
) -> None:
    world.function("dispatcher")
    refusing(FOR_GOOD, code)
    with pytest.raises(ClientError, match=code):
        world.tick()
    assert published(world, Metric.THROTTLES) == [1]


def test_it_is_told_once_a_second_and_process(world: World, refusing: Refusing) -> None:
    world.function("dispatcher")
    refusing(FOR_GOOD)
    for _ in range(5):
        with pytest.raises(ClientError):
            world.tick()
        world.pass_time(0.4)
    assert published(world, Metric.THROTTLES) == [2]  # at 0 and 1.2 seconds


def test_what_was_refused_at_first_and_then_done_is_not_told(world: World, refusing: Refusing) -> None:
    world.function("dispatcher")
    refusing(2)
    world.tick()
    assert refusing.left == 0
    assert published(world, Metric.THROTTLES) == []


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"])
def test_what_fails_for_another_reason_is_not_told(world: World, refusing: Refusing, code: str) -> None:
    world.function("dispatcher")
    refusing(FOR_GOOD, code)
    with pytest.raises(ClientError, match=code):
        world.tick()
    assert published(world, Metric.THROTTLES) == []


def test_a_refusal_is_told_by_those_who_do_not_let_the_error_out_too(
    world: World, refusing: Refusing, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.submit()
    world.deliver_streams()
    world.deliver_streams()
    [order] = world.orders()
    world.function("worker")
    refusing(FOR_GOOD)
    monkeypatch.setattr(aws.sqs(), "change_message_visibility", lambda **_: None)
    assert len(world.work(order)["batchItemFailures"]) == 1
    assert published(world, Metric.THROTTLES) == [1]


def test_a_request_that_aws_refused_is_a_fault_and_a_refusal(world: World, refusing: Refusing) -> None:
    job = world.submit()
    refusing(FOR_GOOD)
    assert world.request("GET", f"/jobs/{job['job_id']}")[0] == 500
    assert published(world, Metric.API_FAULTS) == [1]
    assert published(world, Metric.THROTTLES) == [1]


def test_the_error_is_the_same_when_the_refusal_cannot_be_told(
    world: World, refusing: Refusing, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.function("dispatcher")
    asked = no_metrics(monkeypatch)
    refusing(FOR_GOOD)
    with pytest.raises(ClientError, match="ThrottlingException"):
        world.tick()
    assert len(asked) == 1


def test_a_transaction_that_lacked_capacity_was_refused(world: World, refusing: Refusing) -> None:
    del world
    for reason, noticed in (("ThrottlingError", True), ("ConditionalCheckFailed", False)):
        refusing(1, "TransactionCanceledException", CancellationReasons=[{"Code": "None"}, {"Code": reason}])
        with pytest.raises(ClientError):
            aws.dynamodb().transact_write_items(TransactItems=[_update()])
        assert throttling.take() is noticed


def test_a_message_that_a_queue_had_no_room_for_was_refused(world: World) -> None:
    del world
    for code, noticed in (("RequestThrottled", True), ("InvalidMessageContents", False)):
        throttling._look({"Failed": [{"Id": "0", "Code": code}]})
        assert throttling.take() is noticed


def _update() -> dict[str, Any]:
    change = {"TableName": "signals", "Key": {"id": {"S": "x"}}, "UpdateExpression": "SET a = :a"}
    return {"Update": {**change, "ExpressionAttributeValues": {":a": {"S": "a"}}}}


# the monitor's minute


def test_every_minute_has_a_zero_so_that_alarms_end(world: World) -> None:
    figures = world.watch()["figures"]
    assert {figures[metric] for metric in AS_IT_HAPPENS} == {0}
    for metric in AS_IT_HAPPENS:
        assert published(world, metric) == [0]


def test_the_zeros_come_when_nothing_else_can_be_measured(world: World, refusing: Refusing) -> None:
    world.function("monitor")
    refusing(FOR_GOOD, "InternalServerError")
    with pytest.raises(ClientError):  # of the looks, which come last
        world.watch()
    for metric in AS_IT_HAPPENS:
        assert published(world, metric) == [0]


def test_a_zero_does_not_hide_what_happened_in_the_same_minute(world: World) -> None:
    world.request("GET", rotten_job(world))
    world.watch()
    assert published(world, Metric.API_FAULTS) == [1]
