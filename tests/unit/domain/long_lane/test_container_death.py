from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from punctual.domain.executions.execution import Outcome
from punctual.domain.long_lane.container_death import cause_of_stop, infer_result
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

NO_CAPACITY = "Capacity is unavailable at this time. Please try again later or in a different availability zone"
AT = datetime(2026, 11, 16, tzinfo=UTC)


def part(**fields: Any) -> Part:
    given = {"execution_id": "e", "name": "all", "job_id": "j", "owner": "o", "status": Status.RUNNING}
    return Part(**given, cpu=1024, memory_mb=2048, latest_start=AT, expected_seconds=60, **fields)


def stopped(exit_code: int | None = None, **task: Any) -> dict[str, str]:
    cause = cause_of_stop({"containers": [{"exitCode": exit_code}] if exit_code is not None else [], **task})
    return {"Error": "Punctual.Stopped", "Cause": cause}


@pytest.mark.parametrize(
    ("of", "error", "outcome", "message"),
    [
        (part(), stopped(137, stoppedReason="OutOfMemoryError"), Outcome.LOST, "exit code 137: OutOfMemoryError"),
        (part(), stopped(stoppedReason="CannotPullContainerError: no"), Outcome.LOST, "CannotPullContainerError: no"),
        (part(image="own"), stopped(3, stoppedReason="exited"), Outcome.FAILED, "exit code 3: exited"),
        (
            part(image="own", timeout_seconds=7),
            {"Error": "States.HeartbeatTimeout"},
            Outcome.TIMED_OUT,
            "after 7 seconds",
        ),
        (part(), stopped(143, stopCode="UserInitiated"), Outcome.INTERRUPTED, "exit code 143"),
        (part(), {"Error": "Punctual.Impossible", "Cause": "no image"}, Outcome.FATAL, "no image"),
        (part(), stopped(143, stopCode="SpotInterruption"), Outcome.INTERRUPTED, "exit code 143"),
        (part(preempt_reason="x needs its slot"), stopped(137), Outcome.INTERRUPTED, "exit code 137"),
        (part(preempt_reason="x needs its slot", image="own"), stopped(0), Outcome.INTERRUPTED, "exit code 0"),
        (part(), {"Error": "Punctual.Lost", "Cause": "silent"}, Outcome.LOST, "silent"),
        (part(), {"Error": "States.HeartbeatTimeout"}, Outcome.LOST, "stopped sending heartbeats"),
        (part(timeout_seconds=7), {"Error": "States.Timeout"}, Outcome.TIMED_OUT, "stopped after 7 seconds"),
        (part(), {"Error": "ECS.ClientException", "Cause": "TaskDefinition not found"}, Outcome.FAILED, "not found"),
        (part(), {"Error": "ECS.AmazonECSException", "Cause": NO_CAPACITY}, Outcome.NOT_STARTED, "AWS has no capacity"),
        (part(), stopped(stoppedReason=NO_CAPACITY), Outcome.NOT_STARTED, "AWS has no capacity of Fargate"),
        (part(spot=True), stopped(stoppedReason=NO_CAPACITY), Outcome.NOT_STARTED, "no Spot capacity of Fargate"),
        (part(), {"Error": "Punctual.Stopped", "Cause": "no JSON"}, Outcome.LOST, "no JSON"),
        (part(), {"Error": "Punctual.Stopped", "Cause": json.dumps([1])}, Outcome.LOST, "[1]"),
        (part(), {}, Outcome.LOST, "sent no final report"),
    ],
)
def test_the_result_is_inferred_from_the_error_that_aws_reports(
    of: Part, error: dict[str, str], outcome: Outcome, message: str
) -> None:
    result = infer_result(of, error)
    assert result.outcome is outcome
    assert result.error is not None
    assert message in result.error.message


@pytest.mark.parametrize("image", ["", "own"])
@pytest.mark.parametrize(
    "error", [stopped(0), stopped(137), {"Error": "Punctual.Cancelled"}, {"Error": "States.Timeout"}]
)
def test_a_cancelled_part_without_a_final_report_is_cancelled(image: str, error: dict[str, str]) -> None:
    result = infer_result(part(image=image, cancel_at=AT), error)
    assert (result.outcome, result.error) == (Outcome.CANCELLED, None)


def test_exit_code_0_means_success_only_for_a_users_own_image() -> None:
    assert infer_result(part(image="own"), stopped(0)).outcome is Outcome.SUCCEEDED
    assert infer_result(part(), stopped(0)).outcome is Outcome.LOST
