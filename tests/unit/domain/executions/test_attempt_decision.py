from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ERROR = Failure(type="ValueError", message="no")


def decided(
    outcome: Outcome, *, attempt: int = 1, after: float | None = None, cancel_at: datetime | None = None
) -> AttemptDecision:
    execution = Execution(
        job_id="j",
        execution_id="e",
        owner="o",
        task="t",
        scheduled_at=NOW,
        status=Status.RUNNING,
        attempt=attempt,
        started_at=NOW,
        worker_id="w",
        retry=RetryPolicy(max_attempts=2, backoff_seconds=10),
        cancel_at=cancel_at,
        cancel_reason="by a person" if cancel_at else None,
    )
    return decide(
        execution, AttemptResult(outcome=outcome, error=ERROR, after=after), now=NOW, uniform=lambda _low, high: high
    )


@pytest.mark.parametrize(
    ("outcome", "attempt", "status"),
    [
        (Outcome.SUCCEEDED, 1, Status.SUCCEEDED),
        (Outcome.SUCCEEDED, 2, Status.SUCCEEDED),
        (Outcome.FATAL, 1, Status.FAILED),
        (Outcome.FAILED, 1, Status.RETRYING),
        (Outcome.FAILED, 2, Status.FAILED),
        (Outcome.TIMED_OUT, 1, Status.RETRYING),
        (Outcome.TIMED_OUT, 2, Status.TIMED_OUT),
        (Outcome.LOST, 1, Status.RETRYING),
        (Outcome.LOST, 2, Status.FAILED),
    ],
)
def test_what_becomes_of_each_outcome(outcome: Outcome, attempt: int, status: Status) -> None:
    assert decided(outcome, attempt=attempt).status is status


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.SUCCEEDED])
def test_what_was_asked_to_stop_is_cancelled_however_it_ended(outcome: Outcome) -> None:
    decision = decided(outcome, cancel_at=NOW + timedelta(seconds=9))
    assert (decision.status, decision.reason, decision.retry_at) == (Status.CANCELLED, "by a person", None)
    assert (decision.attempt.outcome, decision.attempt.error) == (Outcome.CANCELLED, ERROR)


def test_what_was_asked_to_stop_may_still_succeed_in_time() -> None:
    assert decided(Outcome.SUCCEEDED, cancel_at=NOW).status is Status.SUCCEEDED
    assert decided(Outcome.SUCCEEDED, cancel_at=NOW - timedelta(milliseconds=1)).status is Status.CANCELLED


def test_the_next_attempt_comes_after_the_backoff_or_when_the_task_said() -> None:
    assert decided(Outcome.FAILED).retry_at == NOW + timedelta(seconds=10)
    assert decided(Outcome.FAILED, after=0).retry_at == NOW
    assert decided(Outcome.FAILED, after=90).retry_at == NOW + timedelta(seconds=90)


def test_the_attempt_is_kept_with_its_error_and_the_reason_is_in_words() -> None:
    decision = decided(Outcome.TIMED_OUT)
    assert (decision.attempt.number, decision.attempt.worker_id, decision.attempt.error) == (1, "w", ERROR)
    assert decision.reason == "attempt 1 of 2 timed out"
    assert decided(Outcome.FAILED, attempt=2).reason == "2 of 2 attempts"
