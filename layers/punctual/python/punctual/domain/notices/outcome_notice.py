"""Notices about the end of an execution, with or without a deadline."""

from __future__ import annotations

from typing import Any

from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.notices.execution_notice import cause_of_end, execution_notice, remedy_of_end
from punctual.domain.notices.notice import MAX_NOTICE_ERROR_CHARACTERS, Notice
from punctual.domain.status import Status

_OUTCOMES = {
    Status.FAILED: (Event.FAILED, "failed"),
    Status.TIMED_OUT: (Event.FAILED, "timed out"),
    Status.SUCCEEDED: (Event.SUCCEEDED, "succeeded"),
    Status.SKIPPED: (Event.EXECUTION_SKIPPED, "was skipped"),
    Status.MISSED: (Event.EXECUTION_MISSED, "missed its due instant"),
}


def outcome_notice(execution: Execution, job: Job) -> Notice | None:
    """The notice of an ended execution; ``None`` if it was cancelled or has not ended."""
    event, words = _OUTCOMES.get(execution.status, (None, ""))
    if event is None:
        return None
    succeeded = execution.status is Status.SUCCEEDED
    reason = execution.reason and execution.reason[:MAX_NOTICE_ERROR_CHARACTERS]
    return execution_notice(
        execution,
        job,
        event,
        words,
        at=execution.ended_at or execution.scheduled_at,
        cause=None if succeeded else cause_of_end(execution),
        remedy=None if succeeded else remedy_of_end(execution),
        lines=[("Reason", reason if execution.error else None)],
        facts=_facts(execution, reason),
    )


def _facts(execution: Execution, reason: str | None) -> dict[str, Any]:
    error, started, ended = execution.error, execution.started_at, execution.ended_at
    return {
        "status": str(execution.status),
        "reason": reason,
        "task": execution.task,
        "lane": str(execution.lane),
        "attempt": execution.attempt,
        "max_attempts": execution.retry.max_attempts,
        "scheduled_at": to_text(execution.scheduled_at),
        "started_at": started and to_text(started),
        "ended_at": ended and to_text(ended),
        "deadline_at": execution.deadline_at and to_text(execution.deadline_at),
        "ran_seconds": (ended - started).total_seconds() if started and ended else None,
        "error": {"type": error.type, "message": error.message[:MAX_NOTICE_ERROR_CHARACTERS]} if error else None,
    }
