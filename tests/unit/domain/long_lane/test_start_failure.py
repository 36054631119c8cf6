from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from punctual.domain.executions.execution import Attempt, Outcome
from punctual.domain.long_lane.start_failure import MAX_IN_A_ROW, delay_seconds, shortage_in

NO_CAPACITY = "Capacity is unavailable at this time. Please try again later or in a different availability zone"
VCPUS = "You've reached the limit on the number of vCPUs you can run concurrently"
TASKS = "You've reached the limit on the number of tasks you can run concurrently"
NOW = datetime(2026, 11, 16, tzinfo=UTC)


def failures(reason: str) -> str:
    """The cause of an answer of RunTask with failures."""
    return json.dumps({"Failures": [{"Arn": "arn:aws:ecs:us-east-1:123456789012:cluster", "Reason": reason}]})


@pytest.mark.parametrize(
    ("error", "cause", "shortage"),
    [
        ("ECS.AmazonECSException", NO_CAPACITY, "AWS has no capacity of Fargate at the moment"),
        ("AmazonECS.Unknown", failures(NO_CAPACITY), "AWS has no capacity of Fargate at the moment"),
        ("AmazonECS.Unknown", failures("RESOURCE:CPU"), "AWS has no capacity of Fargate at the moment"),
        ("AmazonECS.Unknown", failures("AGENT"), "AWS has no capacity of Fargate at the moment"),
        ("AmazonECS.Unknown", failures(VCPUS), "Fargate On-Demand vCPU resource count (L-3032A538)"),
        ("ECS.ClientException", VCPUS, "Fargate On-Demand vCPU resource count (L-3032A538)"),
        ("ECS.ClientException", TASKS, "Fargate On-Demand vCPU resource count (L-3032A538)"),
        ("ECS.LimitExceededException", "The limit for the resource has been exceeded.", "the account's quota is used"),
        ("ECS.ThrottlingException", "Rate exceeded", "ECS throttles the starts of containers"),
        ("ECS.AmazonECSException", "Rate exceeded (Service: AmazonECS; Status Code: 400)", "ECS throttles the starts"),
        ("ECS.ServerException", "Service Unavailable", "ECS did not answer"),
        ("ECS.SdkClientException", "Read timed out", "ECS did not answer"),
    ],
)
def test_a_shortage_of_aws_is_named_in_plain_words(error: str, cause: str, shortage: str) -> None:
    assert shortage in str(shortage_in(error, cause, spot=False))


def test_the_quota_of_spot_is_another_one() -> None:
    assert "Fargate Spot vCPU resource count (L-36FBB829)" in str(shortage_in("AmazonECS.Unknown", VCPUS, spot=True))


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("ECS.ClientException", "TaskDefinition not found."),
        ("ECS.InvalidParameterException", "No Fargate configuration exists for given values: 256 CPU, 4096 memory."),
        ("ECS.AccessDeniedException", "not authorized to perform: ecs:RunTask on resource: arn:aws:ecs:definition"),
        ("ECS.ClusterNotFoundException", "Cluster not found."),
        ("", "CannotPullContainerError: pull image manifest has been retried 1 time(s): not found"),
        ("", "CannotPullContainerError: toomanyrequests: You have reached your pull rate limit. Throttled."),
        ("", "ResourceInitializationError: failed to validate logger args"),
    ],
)
def test_a_start_that_can_never_succeed_is_no_shortage(error: str, cause: str) -> None:
    assert shortage_in(error, cause, spot=False) is None


def test_the_delay_doubles_up_to_a_quarter_of_an_hour_and_ends_after_a_day() -> None:
    earlier = [Attempt(number=1, outcome=Outcome.FAILED, started_at=NOW, ended_at=NOW)]
    delays = []
    while (delay := delay_seconds(earlier)) is not None:
        delays.append(delay)
        earlier.append(Attempt(number=2, outcome=Outcome.NOT_STARTED, started_at=None, ended_at=NOW))
    assert delays[:7] == [30, 60, 120, 240, 480, 900, 900]
    assert len(delays) == MAX_IN_A_ROW
    assert 23 < sum(delays) / 3600 < 25


def test_an_attempt_that_ran_ends_the_series() -> None:
    outcomes = [Outcome.NOT_STARTED, Outcome.NOT_STARTED, Outcome.FAILED]
    assert delay_seconds([Attempt(number=1, outcome=one, started_at=NOW, ended_at=NOW) for one in outcomes]) == 30
