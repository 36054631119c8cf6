"""Decides what follows from a finished attempt: success, retry, failure, timeout or cancellation.

The decision is a value. The caller applies it to the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from punctual.domain.errors import Fatal
from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Attempt, Failure, Outcome, Result
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.status import Status


class AttemptedWork(Protocol):
    """An execution, or a part of a long execution, whose current attempt has ended."""

    @property
    def attempt(self) -> int: ...
    @property
    def attempts(self) -> tuple[Attempt, ...]: ...
    @property
    def started_at(self) -> datetime | None: ...
    @property
    def worker_id(self) -> str | None: ...
    @property
    def retry(self) -> RetryPolicy: ...
    @property
    def cancel_at(self) -> datetime | None: ...
    @property
    def cancel_reason(self) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class AttemptResult:
    """The observed result of an attempt, from the worker, the container or AWS."""

    outcome: Outcome
    value: Any = None
    error: Failure | None = None
    aws_message: str | None = None
    """The message from AWS, when it is the only information about the failure."""
    retry_after_seconds: float | None = None
    """Delay before the next attempt, if the task or the reason for the wait demands one. Replaces the backoff."""


@dataclass(frozen=True, kw_only=True)
class AttemptDecision:
    """The execution's next status, the reason, and the attempt's entry in its history."""

    status: Status
    reason: str | None
    attempt: Attempt
    retry_at: datetime | None = None
    result: Result | None = None


FATAL_REASON = "fatal error: not retried"
LOST_WORKER = Failure(type="LostWorker", message="the worker stopped renewing its lease: killed, frozen or out of time")


def decide(
    work: AttemptedWork, result: AttemptResult, *, now: datetime, uniform: Callable[[float, float], float]
) -> AttemptDecision:
    """Decide what follows from ``result``. ``uniform`` draws the backoff's jitter.

    A cancelled execution is never retried: it has succeeded if it finished within the cancellation grace period, and
    is cancelled otherwise.
    """
    if work.cancel_at is not None and (result.outcome is not Outcome.SUCCEEDED or now > work.cancel_at):
        result = replace(result, outcome=Outcome.CANCELLED)
    attempt = _attempt_of(work, result, now)
    if result.outcome is Outcome.SUCCEEDED:
        return AttemptDecision(status=Status.SUCCEEDED, reason=None, attempt=attempt)
    if result.outcome is Outcome.FATAL:
        return AttemptDecision(status=Status.FAILED, reason=FATAL_REASON, attempt=attempt)
    if result.outcome is Outcome.CANCELLED:
        return AttemptDecision(status=Status.CANCELLED, reason=work.cancel_reason, attempt=attempt)
    if result.outcome in UNCOUNTED_OUTCOMES:
        reason = result.error.message if result.error else "the container was asked to stop"
        delay = timedelta(seconds=result.retry_after_seconds or 0)
        return AttemptDecision(status=Status.RETRYING, reason=reason, attempt=attempt, retry_at=now + delay)
    counted = work.attempt - sum(earlier.outcome in UNCOUNTED_OUTCOMES for earlier in work.attempts)
    if work.retry.allows_after(counted):
        backoff = work.retry.backoff(counted, uniform)
        if result.retry_after_seconds is not None:
            backoff = timedelta(seconds=result.retry_after_seconds)
        reason = f"attempt {counted} of {work.retry.max_attempts} {_past_tense(result.outcome)}"
        return AttemptDecision(status=Status.RETRYING, reason=reason, attempt=attempt, retry_at=now + backoff)
    status = Status.TIMED_OUT if result.outcome is Outcome.TIMED_OUT else Status.FAILED
    reason = f"attempt {counted} of {counted} {_past_tense(result.outcome)}"
    reason += f": {result.aws_message[:500]}" if result.aws_message else ""
    return AttemptDecision(status=status, reason=reason, attempt=attempt)


def decide_and_store(
    work: AttemptedWork,
    result: AttemptResult,
    now: datetime,
    *,
    decision_on: Callable[[AttemptResult], AttemptDecision],
    store: Callable[[Any], Result],
) -> AttemptDecision:
    """Decide on ``result`` by ``decision_on``, and add the stored value if it is kept.

    If ``store`` raises ``Fatal``, because the value cannot be stored, the decision is that on a fatal failure.
    """
    decision = decision_on(result)
    if not _keeps_value(work, result, decision, now):
        return decision
    try:
        return replace(decision, result=store(result.value))
    except Fatal as error:
        failure = Failure(type="Fatal", message=str(error))
        return decision_on(AttemptResult(outcome=Outcome.FATAL, error=failure))


def decide_lost_worker(
    work: AttemptedWork, *, now: datetime, uniform: Callable[[float, float], float]
) -> AttemptDecision:
    """Decide on an attempt whose lease has expired: ``retrying`` if the retry policy allows another attempt."""
    return decide(work, AttemptResult(outcome=Outcome.LOST, error=LOST_WORKER), now=now, uniform=uniform)


def decide_revocation(work: AttemptedWork, *, now: datetime, error: Failure | None = None) -> AttemptDecision:
    """Decide on an attempt that was asked to stop and is cancelled, however it ended. ``error`` is its own, if any."""
    cancelled = AttemptResult(outcome=Outcome.CANCELLED, error=error)
    return AttemptDecision(
        status=Status.CANCELLED, reason=work.cancel_reason, attempt=_attempt_of(work, cancelled, now)
    )


def _keeps_value(work: AttemptedWork, result: AttemptResult, decision: AttemptDecision, now: datetime) -> bool:
    """Whether the task's return value is stored: after a success, and after a cancellation unless it is late."""
    is_late = work.cancel_at is not None and now > work.cancel_at
    return decision.status is Status.SUCCEEDED or (result.value is not None and not is_late)


def _attempt_of(work: AttemptedWork, result: AttemptResult, now: datetime) -> Attempt:
    return Attempt(
        number=work.attempt,
        outcome=result.outcome,
        started_at=work.started_at,
        ended_at=now,
        worker_id=work.worker_id,
        error=result.error,
    )


def _past_tense(outcome: Outcome) -> str:
    return {Outcome.TIMED_OUT: "timed out", Outcome.LOST: "lost its worker"}.get(outcome, "failed")
