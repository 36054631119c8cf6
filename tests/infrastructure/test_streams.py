"""Stream consumers: filters, retries and dead-letter queues."""

from typing import Any

import pytest

from punctual.domain.status import FINAL
from tests.infrastructure.deployed import FUNCTIONS, Deployed, pattern, patterns, readable

SOURCES = [
    ("planner", "TablesJobs.StreamArn"),
    ("planner", "TablesExecutions.StreamArn"),
    ("planner", "TablesTimers.StreamArn"),
    ("settler", "TablesExecutions.StreamArn"),
    ("admission", "TablesParts.StreamArn"),
]
TERMINAL = {str(status) for status in FINAL}


@pytest.fixture(params=SOURCES, ids=lambda source: f"{source[0]}-{source[1]}")
def source(request: pytest.FixtureRequest, prod: Deployed) -> dict[str, Any]:
    function, stream = request.param
    return prod.sources(function)[stream]


def test_a_stream_is_read_from_its_start_without_waiting(source: dict[str, Any]) -> None:
    assert source["StartingPosition"] == "TRIM_HORIZON"
    assert source["BatchSize"] == 100
    assert "MaximumBatchingWindowInSeconds" not in source


def test_a_failing_batch_is_bisected_down_to_the_failing_record(source: dict[str, Any]) -> None:
    assert source["BisectBatchOnFunctionError"] is True
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_record_is_retried_until_shortly_before_the_stream_expires_it(source: dict[str, Any]) -> None:
    assert source["MaximumRetryAttempts"] == -1
    assert 22 * 3600 < source["MaximumRecordAgeInSeconds"] < 24 * 3600


@pytest.mark.parametrize(("function", "stream"), SOURCES)
def test_a_record_that_exhausts_its_retries_goes_to_the_dead_letter_queue_of_its_reader(
    prod: Deployed, function: str, stream: str
) -> None:
    destination = prod.sources(function)[stream]["DestinationConfig"]["OnFailure"]["Destination"]
    assert readable(destination) == f"Queues{function.title()}DeadLetters.Arn"


def test_jobs_that_can_have_executions_and_edited_jobs_that_are_done_trigger_the_planner(prod: Deployed) -> None:
    planned, done = patterns(prod.sources("planner")["TablesJobs.StreamArn"])
    assert planned == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"state": {"S": ["active", "paused", "cancelled", "deleted"]}}},
    }
    assert done == {
        "eventName": ["MODIFY"],
        "dynamodb": {"NewImage": {"state": {"S": ["done"]}, "revised_at": {"S": [{"exists": True}]}}},
    }


def test_ready_stopping_and_leading_executions_trigger_the_planner(
    prod: Deployed,
) -> None:
    stopping, queued, left_out, cancelled = patterns(prod.sources("planner")["TablesExecutions.StreamArn"])
    assert queued == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["queued", "retrying"]}}},
    }
    assert left_out == {
        "eventName": ["INSERT"],
        "dynamodb": {"NewImage": {"status": {"S": ["skipped", "missed"]}, "is_leader": {"BOOL": [True]}}},
    }
    assert cancelled == {
        "eventName": ["MODIFY"],
        "dynamodb": {
            "OldImage": {"status": {"S": ["scheduled"]}},
            "NewImage": {"status": {"S": ["cancelled"]}, "is_leader": {"BOOL": [True]}},
        },
    }
    assert stopping == {
        "eventName": ["MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["running"]}, "cancel_at": {"S": [{"exists": True}]}}},
    }


def test_a_timer_removed_by_ttl_triggers_the_planner_and_a_manual_delete_does_not(prod: Deployed) -> None:
    wanted = pattern(prod.sources("planner")["TablesTimers.StreamArn"])
    assert wanted["eventName"] == ["REMOVE"]
    assert wanted["userIdentity"]["principalId"] == ["dynamodb.amazonaws.com"]


def test_every_end_and_every_stop_request_of_the_long_lane_triggers_the_settler(prod: Deployed) -> None:
    followed, failed, ended, stopping = patterns(prod.sources("settler")["TablesExecutions.StreamArn"])
    for one in (followed, ended):
        assert set(one["dynamodb"]["NewImage"].pop("status")["S"]) == TERMINAL
        assert one.pop("eventName") == ["INSERT", "MODIFY"]
    assert followed == {"dynamodb": {"NewImage": {"needs_follow_up": {"BOOL": [True]}}}}
    assert failed == {"dynamodb": {"NewImage": {"status": {"S": ["failed", "timed_out"]}}}}
    assert ended == {"dynamodb": {"NewImage": {}}}
    long_lane = {"status": {"S": ["running"]}, "lane": {"S": ["long"]}, "cancel_at": {"S": [{"exists": True}]}}
    assert stopping == {"eventName": ["MODIFY"], "dynamodb": {"NewImage": long_lane}}


def test_a_part_that_requests_receives_or_releases_a_slot_triggers_admission(prod: Deployed) -> None:
    wanted = pattern(prod.sources("admission")["TablesParts.StreamArn"])
    assert wanted["eventName"] == ["INSERT", "MODIFY"]
    (statuses,) = wanted["dynamodb"]["NewImage"]["status"].values()
    never_of_a_part = {"skipped", "missed"}
    assert set(statuses) == {"waiting", "starting", "retrying"} | TERMINAL - never_of_a_part


def test_admission_makes_one_decision_at_a_time(prod: Deployed) -> None:
    assert prod.sources("admission")["TablesParts.StreamArn"]["ParallelizationFactor"] == 1


def test_no_stream_has_more_than_two_readers(prod: Deployed) -> None:
    readers = [stream for name in FUNCTIONS for stream in prod.sources(name) if stream.endswith(".StreamArn")]
    assert max(readers.count(stream) for stream in readers) <= 2
