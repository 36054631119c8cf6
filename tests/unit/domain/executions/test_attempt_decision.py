from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import Fatal
from punctual.domain.executions.attempt_decision import (
    LOST_WORKER,
    AttemptDecision,
    AttemptResult,
    decide,
    decide_and_store,
    decide_lost_worker,
    decide_revocation,
)
from punctual.domain.executions.execution import Attempt, Execution, Failure, Outcome, Result
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ERROR = Failure(type="ValueError", message="no")


def running(*, attempt: int = 1, cancel_at: datetime | None = None, attempts: tuple[Attempt, ...] = ()) -> Execution:
    return Execution(
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
        cancel_reason="cancelled by ann" if cancel_at else None,
        attempts=attempts,
    )


def decision_for(
    outcome: Outcome,
    *,
    attempt: int = 1,
    retry_after_seconds: float | None = None,
    cancel_at: datetime | None = None,
) -> AttemptDecision:
    execution = running(attempt=attempt, cancel_at=cancel_at)
    result = AttemptResult(outcome=outcome, error=ERROR, retry_after_seconds=retry_after_seconds)
    return decide(execution, result, now=NOW, uniform=lambda _low, high: high)


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
def test_the_status_follows_from_the_outcome_and_the_attempts_left(
    outcome: Outcome, attempt: int, status: Status
) -> None:
    assert decision_for(outcome, attempt=attempt).status is status


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.SUCCEEDED])
def test_a_cancelled_execution_ends_cancelled_whatever_else_its_outcome(outcome: Outcome) -> None:
    decision = decision_for(outcome, cancel_at=NOW + timedelta(seconds=9))
    assert (decision.status, decision.reason, decision.retry_at) == (Status.CANCELLED, "cancelled by ann", None)
    assert (decision.attempt.outcome, decision.attempt.error) == (Outcome.CANCELLED, ERROR)


def test_a_cancelled_execution_may_still_succeed_within_the_grace_period() -> None:
    assert decision_for(Outcome.SUCCEEDED, cancel_at=NOW).status is Status.SUCCEEDED
    assert decision_for(Outcome.SUCCEEDED, cancel_at=NOW - timedelta(milliseconds=1)).status is Status.CANCELLED


def test_a_retry_follows_after_the_backoff_or_the_delay_requested_by_the_task() -> None:
    assert decision_for(Outcome.FAILED).retry_at == NOW + timedelta(seconds=10)
    assert decision_for(Outcome.FAILED, retry_after_seconds=0).retry_at == NOW
    assert decision_for(Outcome.FAILED, retry_after_seconds=90).retry_at == NOW + timedelta(seconds=90)


def test_the_decision_has_the_attempt_with_its_error_and_a_readable_reason() -> None:
    decision = decision_for(Outcome.TIMED_OUT)
    assert (decision.attempt.number, decision.attempt.worker_id, decision.attempt.error) == (1, "w", ERROR)
    assert decision.reason == "attempt 1 of 2 timed out"
    assert decision_for(Outcome.FAILED, attempt=2).reason == "attempt 2 of 2 failed"


def test_an_attempt_that_lost_its_worker_is_retried_while_attempts_are_left() -> None:
    decisions = [
        decide_lost_worker(running(attempt=attempt), now=NOW, uniform=lambda low, _high: low) for attempt in (1, 2)
    ]
    assert [decision.status for decision in decisions] == [Status.RETRYING, Status.FAILED]
    assert {(decision.attempt.outcome, decision.attempt.error) for decision in decisions} == {
        (Outcome.LOST, LOST_WORKER)
    }


def test_interruptions_are_not_counted_when_a_worker_is_lost() -> None:
    interruption = Attempt(number=1, outcome=Outcome.INTERRUPTED, started_at=NOW, ended_at=NOW)
    lost = decide_lost_worker(running(attempt=2, attempts=(interruption,)), now=NOW, uniform=lambda low, _high: low)
    assert (lost.status, lost.reason) == (Status.RETRYING, "attempt 1 of 2 lost its worker")


@pytest.mark.parametrize("error", [None, ERROR])
def test_a_revoked_attempt_is_cancelled_with_the_reason_of_the_request(error: Failure | None) -> None:
    decision = decide_revocation(running(cancel_at=NOW), now=NOW, error=error)
    assert (decision.status, decision.reason, decision.retry_at) == (Status.CANCELLED, "cancelled by ann", None)
    assert (decision.attempt.outcome, decision.attempt.error) == (Outcome.CANCELLED, error)


def decision_with_value(result: AttemptResult, store: Callable[[Any], Result]) -> AttemptDecision:
    work = running()
    return decide_and_store(
        work,
        result,
        NOW,
        decision_on=lambda seen: decide(work, seen, now=NOW, uniform=lambda _low, high: high),
        store=store,
    )


def test_the_value_of_a_success_is_stored() -> None:
    decision = decision_with_value(AttemptResult(outcome=Outcome.SUCCEEDED, value=7), lambda value: Result(value=value))
    assert (decision.status, decision.result) == (Status.SUCCEEDED, Result(value=7))


def test_a_failure_without_a_value_stores_nothing() -> None:
    stored: list[Any] = []
    decision = decision_with_value(AttemptResult(outcome=Outcome.FAILED, error=ERROR), stored.append)
    assert (decision.status, decision.result, stored) == (Status.RETRYING, None, [])


def test_a_value_that_cannot_be_stored_is_a_fatal_failure() -> None:
    def refuse(_value: Any) -> Result:
        raise Fatal("not JSON")

    decision = decision_with_value(AttemptResult(outcome=Outcome.SUCCEEDED, value={1}), refuse)
    assert (decision.status, decision.result) == (Status.FAILED, None)
    assert decision.attempt.error == Failure(type="Fatal", message="not JSON")
