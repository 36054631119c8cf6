"""The notice of an execution that runs far longer than usual."""

from __future__ import annotations

from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.notices.execution_notice import execution_notice
from punctual.domain.notices.notice import Notice, format_duration


def overrun_notice(execution: Execution, job: Job, usual: timedelta, now: datetime) -> Notice:
    """Its id is derived from the execution, so each execution is reported once."""
    assert execution.started_at is not None
    ran, progress = now - execution.started_at, execution.progress
    so_far = f", {progress.percent:.0f}% done" if progress else ""
    execution_path = f"/executions/{execution.execution_id}"
    return execution_notice(
        execution,
        job,
        Event.OVERRUN,
        "runs far longer than usual",
        at=now,
        cause=f"running for {format_duration(ran)}{so_far}; it usually takes up to {format_duration(usual)}",
        remedy=f"see its log, GET {execution_path}/logs; if it hangs, cancel it with PUT {execution_path}/cancel",
        facts={
            "status": str(execution.status),
            "started_at": to_text(execution.started_at),
            "ran_seconds": ran.total_seconds(),
            "usual_seconds": usual.total_seconds(),
        },
    )
