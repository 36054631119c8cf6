"""What the notices about executions have in common: the name of the job, local times, cause, remedy and identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from punctual.domain.executions.execution import Attempt, Execution, Outcome
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event
from punctual.domain.notices.notice import MAX_NOTICE_ERROR_CHARACTERS, Notice, format_duration
from punctual.domain.schedules.timezone import zone_named
from punctual.domain.status import Status


def execution_notice(
    execution: Execution,
    job: Job,
    event: Event,
    words: str,
    *,
    at: datetime,
    cause: str | None,
    remedy: str | None,
    lines: Sequence[tuple[str, str | None]] = (),
    facts: Mapping[str, Any],
    id_suffix: str = "",
) -> Notice:
    """Build a notice. ``words`` follow the job's name in the title. Its id is derived: a repetition is a duplicate."""
    title = f"{job.display_name} {words}"
    shown = [("Cause", cause), ("Remedy", remedy), *lines, *_identity(execution, job)]
    return Notice(
        id=f"{execution.execution_id}#{event}{id_suffix}",
        event=event,
        at=at,
        job_id=execution.job_id,
        job_name=job.display_name,
        owner=execution.owner,
        execution_id=execution.execution_id,
        to=(job.notify or DEFAULT_RULE).to[0].key,
        title=title,
        text=f"{title}\n\n" + "\n".join(f"{name}: {text}" for name, text in shown if text),
        facts={"cause": cause, "remedy": remedy, **facts},
        tags=execution.tags,
    )


def local_time(instant: datetime, job: Job) -> str:
    """Format in the time zone of the job's schedule: ``Sun 2026-11-15 08:00:00+01:00 Europe/Berlin``, or in UTC."""
    zone = getattr(job.schedule, "timezone", "UTC")
    local = instant.astimezone(zone_named(zone))
    return f"{local:%a %Y-%m-%d %H:%M:%S}{'' if zone == 'UTC' else local.isoformat()[-6:]} {zone}"


def cause_of_end(execution: Execution) -> str | None:
    """The error of the last attempt, or the reason of the status."""
    error = execution.error
    cause = f"{error.type}: {error.message}" if error else execution.reason
    return cause and cause[:MAX_NOTICE_ERROR_CHARACTERS]


def remedy_of_end(execution: Execution) -> str:
    """What an operator can do about an execution that ended without success."""
    again = f"retry it with POST /executions/{execution.execution_id}/retry"
    last: Attempt | None = execution.attempts[-1] if execution.attempts else None
    if execution.status is Status.SKIPPED:
        return f"none if the rule is intended; otherwise change the rule, or {again}"
    if execution.status is Status.MISSED:
        return f"{again}, or set misfire to run_latest or run_all, which run missed instants"
    if execution.status is Status.TIMED_OUT:
        return f"raise timeout_seconds (now {execution.timeout_seconds}) or reduce its work, then {again}"
    if last is not None and last.outcome is Outcome.LOST:
        return f"read its last log lines: its worker stopped, for example for lack of memory; then {again}"
    if last is not None and last.outcome is Outcome.FATAL:
        return f"correct its parameters or its task, which reported that a retry would not help; then {again}"
    return f"read its log, fix the cause, then {again}"


def _identity(execution: Execution, job: Job) -> list[tuple[str, str | None]]:
    def local(instant: datetime | None) -> str | None:
        return local_time(instant, job) if instant else None

    started, ended = execution.started_at, execution.ended_at
    return [
        ("Due", local(execution.scheduled_at)),
        ("Started", local(started)),
        ("Ended", local(ended)),
        ("Ran for", format_duration(ended - started) if started and ended else None),
        ("Deadline", local(execution.deadline_at)),
        ("Attempts", f"{execution.attempt} of {execution.retry.max_attempts}" if execution.attempt else None),
        ("Job", f"{job.display_name} ({job.job_id})"),
        ("Task", execution.task),
        ("Tags", ", ".join(f"{key}: {value}" for key, value in execution.tags.items())),
        ("Owner", execution.owner),
        ("Execution", execution.execution_id),
    ]
