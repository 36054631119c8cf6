"""What becomes of an execution when an attempt has ended: decided here, applied by whoever stores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from punctual.domain.executions.execution import UNCOUNTED, Attempt, Failure, Outcome, Result
from punctual.domain.jobs.retry import RetryPolicy
from punctual.domain.status import Status


class Tried(Protocol):
    """An execution, or a part of one, with an attempt that has ended."""

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
    """How a try went, as seen by whoever watched it."""

    outcome: Outcome
    value: Any = None
    error: Failure | None = None
    words: str | None = None
    """What AWS itself said of it, when nothing else could be known."""
    after: float | None = None
    """Seconds to rest before the next attempt, when the task asked for them itself."""


@dataclass(frozen=True, kw_only=True)
class AttemptDecision:
    """The decision: the execution's next status, why, and the attempt's entry in its history."""

    status: Status
    reason: str | None
    attempt: Attempt
    retry_at: datetime | None = None
    result: Result | None = None


def decide(
    tried: Tried, verdict: AttemptResult, *, now: datetime, uniform: Callable[[float, float], float]
) -> AttemptDecision:
    """Decide what follows from ``verdict``. ``uniform`` draws the backoff's jitter.

    What was asked to stop is not tried again: it has succeeded in the time that it was given, or is cancelled.
    """
    if tried.cancel_at is not None and (verdict.outcome is not Outcome.SUCCEEDED or now > tried.cancel_at):
        verdict = replace(verdict, outcome=Outcome.CANCELLED)
    attempt = Attempt(
        number=tried.attempt,
        outcome=verdict.outcome,
        started_at=tried.started_at,
        ended_at=now,
        worker_id=tried.worker_id,
        error=verdict.error,
    )
    if verdict.outcome is Outcome.SUCCEEDED:
        return AttemptDecision(status=Status.SUCCEEDED, reason=None, attempt=attempt)
    if verdict.outcome is Outcome.FATAL:
        return AttemptDecision(status=Status.FAILED, reason="fatal", attempt=attempt)
    if verdict.outcome is Outcome.CANCELLED:
        return AttemptDecision(status=Status.CANCELLED, reason=tried.cancel_reason, attempt=attempt)
    if verdict.outcome in UNCOUNTED:
        why = verdict.error.message if verdict.error else "was asked to leave"
        return AttemptDecision(status=Status.RETRYING, reason=why, attempt=attempt, retry_at=now)
    tries = tried.attempt - sum(earlier.outcome in UNCOUNTED for earlier in tried.attempts)
    if tried.retry.allows_after(tries):
        rest = tried.retry.rest(tries, uniform)
        if verdict.after is not None:
            rest = timedelta(seconds=verdict.after)
        reason = f"attempt {tries} of {tried.retry.max_attempts} {_past(verdict.outcome)}"
        return AttemptDecision(status=Status.RETRYING, reason=reason, attempt=attempt, retry_at=now + rest)
    status = Status.TIMED_OUT if verdict.outcome is Outcome.TIMED_OUT else Status.FAILED
    reason = f"{tries} of {tries} attempts" + (f": {verdict.words[:500]}" if verdict.words else "")
    return AttemptDecision(status=status, reason=reason, attempt=attempt)


def _past(outcome: Outcome) -> str:
    return {Outcome.TIMED_OUT: "timed out", Outcome.LOST: "lost its worker"}.get(outcome, "failed")
