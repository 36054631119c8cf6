"""What needs the attention of an operator: its kind, its subject, why, since when, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_backlog import Backlog
from punctual.domain.jobs.job_backlog import JobBacklog
from punctual.domain.notices.backlog_notice import backlog_cause
from punctual.domain.notices.notice import format_duration


class AttentionKind(StrEnum):
    """Also the prefix of the id of an item."""

    DEADLINE = "deadline"
    """A live execution has missed its deadline, or is in danger of missing it."""
    QUEUE = "queue"
    """The backlog of a queue exceeds its limit, or soon will."""
    BACKLOG = "backlog"
    """A queue job exceeds its backlog limits."""
    MODULE = "module"
    """A module of ``tasks/`` cannot be imported."""
    ALARM = "alarm"
    """An alarm of the stack is raised."""


class SubjectType(StrEnum):
    EXECUTION = "execution"
    JOB = "job"
    QUEUE = "queue"
    MODULE = "module"
    ALARM = "alarm"


@dataclass(frozen=True, kw_only=True)
class AttentionItem:
    kind: AttentionKind
    type: SubjectType
    subject: str
    """The id of the execution or job, or the name of the queue, module or alarm."""
    job_name: str | None = None
    """Of an execution or a job."""
    owner: str | None = None
    """The team of the subject; ``None`` for what concerns all teams."""
    execution: Execution | None = None
    """Of a deadline: with its latest forecast."""
    cause: str
    remedy: str | None = None
    since: datetime | None = None
    """``None`` if unknown."""

    @property
    def id(self) -> str:
        """The same as long as the subject needs attention, and whenever it does so again."""
        return f"{self.kind}.{self.subject}"


def deadline_item(execution: Execution) -> AttentionItem | None:
    """The item of a live execution with a deadline; ``None`` if its last check found it on track."""
    outlook = execution.outlook
    if outlook is None or outlook.state is DeadlineState.ON_TRACK:
        return None
    return AttentionItem(
        kind=AttentionKind.DEADLINE,
        type=SubjectType.EXECUTION,
        subject=execution.execution_id,
        job_name=execution.job_name,
        owner=execution.owner,
        execution=execution,
        cause=outlook.cause or "",
        remedy=outlook.remedy,
        since=outlook.since or outlook.checked_at,
    )


def queue_item(queue: str, backlog: Backlog, since: datetime | None) -> AttentionItem | None:
    """The item of a queue; ``None`` unless it is near its limit."""
    left = backlog.minutes_until_breach
    if left is None or not backlog.is_near_limit:
        return None
    limits = f"{backlog.limit_minutes} minutes or {backlog.limit_messages:,} messages"
    until = "it exceeds its limit" if left <= 0 else f"in {_minutes(left)} it exceeds its limit"
    return AttentionItem(
        kind=AttentionKind.QUEUE,
        type=SubjectType.QUEUE,
        subject=queue,
        cause=f"{backlog.depth:,} messages wait in queue {queue}{_drain(backlog)}; {until} of {limits}",
        remedy=f"raise concurrency.{queue}, or give the jobs that fill it another priority",
        since=since,
    )


def backlog_item(backlog: JobBacklog) -> AttentionItem | None:
    """The item of a queue job; ``None`` unless it exceeds its limits."""
    if not backlog.is_exceeded:
        return None
    return AttentionItem(
        kind=AttentionKind.BACKLOG,
        type=SubjectType.JOB,
        subject=backlog.job_id,
        job_name=backlog.job_name,
        owner=backlog.owner,
        cause=backlog_cause(backlog),
        remedy=backlog.remedy,
        since=backlog.exceeded_since,
    )


def _drain(backlog: Backlog) -> str:
    return f", about {_minutes(backlog.drain_minutes)} of work" if backlog.drain_minutes else ""


def _minutes(minutes: float) -> str:
    return format_duration(timedelta(minutes=minutes))


def module_item(name: str, reason: str) -> AttentionItem:
    return AttentionItem(
        kind=AttentionKind.MODULE,
        type=SubjectType.MODULE,
        subject=name,
        cause=f"cannot be imported: {reason}",
        remedy="correct the module, and deploy: until then its tasks are unavailable",
    )


def alarm_item(name: str, description: str, reason: str, since: datetime) -> AttentionItem:
    return AttentionItem(
        kind=AttentionKind.ALARM,
        type=SubjectType.ALARM,
        subject=name,
        cause=description or reason,
        remedy="see the section of the alarm in docs/operations.md",
        since=since,
    )
