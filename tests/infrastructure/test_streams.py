"""Who reads which stream, what wakes them, and what happens to a record that nobody can read."""

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


def test_a_failing_batch_is_narrowed_down_to_the_record_at_fault(source: dict[str, Any]) -> None:
    assert source["BisectBatchOnFunctionError"] is True
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_record_is_tried_until_shortly_before_the_stream_forgets_it(source: dict[str, Any]) -> None:
    assert source["MaximumRetryAttempts"] == -1
    assert 22 * 3600 < source["MaximumRecordAgeInSeconds"] < 24 * 3600


@pytest.mark.parametrize(("function", "stream"), SOURCES)
def test_a_record_that_failed_to_the_end_goes_to_the_readers_dead_letters(
    prod: Deployed, function: str, stream: str
) -> None:
    destination = prod.sources(function)[stream]["DestinationConfig"]["OnFailure"]["Destination"]
    assert readable(destination) == f"Queues{function.title()}DeadLetters.Arn"


def test_the_planner_is_woken_by_jobs_that_plan_or_withdraw_something(prod: Deployed) -> None:
    assert pattern(prod.sources("planner")["TablesJobs.StreamArn"]) == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"state": {"S": ["active", "paused", "cancelled", "deleted"]}}},
    }


def test_the_planner_is_woken_by_what_became_queued_leads_though_it_will_not_run_or_is_to_stop(
    prod: Deployed,
) -> None:
    queued, left_out, cancelled, stopping = patterns(prod.sources("planner")["TablesExecutions.StreamArn"])
    assert queued == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["queued", "retrying"]}}},
    }
    assert left_out == {
        "eventName": ["INSERT"],
        "dynamodb": {"NewImage": {"status": {"S": ["skipped", "missed"]}, "leads": {"BOOL": [True]}}},
    }
    assert cancelled == {
        "eventName": ["MODIFY"],
        "dynamodb": {
            "OldImage": {"status": {"S": ["scheduled"]}},
            "NewImage": {"status": {"S": ["cancelled"]}, "leads": {"BOOL": [True]}},
        },
    }
    assert stopping == {
        "eventName": ["MODIFY"],
        "dynamodb": {"NewImage": {"status": {"S": ["running"]}, "cancel_at": {"S": [{"exists": True}]}}},
    }


def test_the_planner_is_woken_by_timers_that_ttl_removed_and_not_by_hand(prod: Deployed) -> None:
    wanted = pattern(prod.sources("planner")["TablesTimers.StreamArn"])
    assert wanted["eventName"] == ["REMOVE"]
    assert wanted["userIdentity"]["principalId"] == ["dynamodb.amazonaws.com"]


def test_the_settler_is_woken_by_ends_that_something_follows_from_and_by_long_ones_that_are_to_stop(
    prod: Deployed,
) -> None:
    ended, stopping = patterns(prod.sources("settler")["TablesExecutions.StreamArn"])
    assert set(ended["dynamodb"]["NewImage"].pop("status")["S"]) == TERMINAL
    assert ended == {"dynamodb": {"NewImage": {"aftermath": {"BOOL": [True]}}}}
    long_ones = {"status": {"S": ["running"]}, "lane": {"S": ["long"]}, "cancel_at": {"S": [{"exists": True}]}}
    assert stopping == {"eventName": ["MODIFY"], "dynamodb": {"NewImage": long_ones}}


def test_admission_is_woken_when_a_part_asks_for_a_slot_gets_one_or_leaves_one(prod: Deployed) -> None:
    wanted = pattern(prod.sources("admission")["TablesParts.StreamArn"])
    assert wanted["eventName"] == ["INSERT", "MODIFY"]
    (statuses,) = wanted["dynamodb"]["NewImage"]["status"].values()
    never_of_a_part = {"skipped", "missed"}
    assert set(statuses) == {"waiting", "starting", "retrying"} | TERMINAL - never_of_a_part


def test_admission_makes_one_decision_at_a_time(prod: Deployed) -> None:
    assert prod.sources("admission")["TablesParts.StreamArn"]["ParallelizationFactor"] == 1


def test_no_stream_has_more_readers_than_dynamodb_serves(prod: Deployed) -> None:
    readers = [stream for name in FUNCTIONS for stream in prod.sources(name) if stream.endswith(".StreamArn")]
    assert max(readers.count(stream) for stream in readers) <= 2
