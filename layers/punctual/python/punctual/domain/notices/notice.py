"""Notices: the messages that Punctual sends to the people responsible for a job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.errors import Unreadable
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event, Notify, Topic
from punctual.domain.status import Status

MAX_NOTICE_ERROR_CHARACTERS = 700
"""Limit of an error message or reason in a notice, so that the notice is always small enough to be sent."""

_UNSENDABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""Characters that SQS rejects."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One notice. Its ``id`` is derived from the event, so that a duplicate is published only once."""

    id: str
    event: Event
    at: datetime
    job_id: str
    job_name: str
    owner: str
    execution_id: str
    to: Topic
    title: str
    """One line."""
    text: str
    """For people, in several lines."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The same content for programs, as JSON types."""

    def to_body(self) -> str:
        """Serialise for SQS; ``read_notice`` is the inverse."""
        fields = {**vars(self), "at": to_text(self.at)}
        return _UNSENDABLE.sub("\ufffd", json.dumps(fields, ensure_ascii=False, allow_nan=False))


def read_notice(body: str) -> Notice:
    """Parse a message body. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()  # rejects lone surrogates and NaN
        return Notice(
            id=_text(fields, "id"),
            event=Event(fields["event"]),
            at=from_text(fields["at"]),
            job_id=_text(fields, "job_id"),
            job_name=_text(fields, "job_name"),
            owner=_text(fields, "owner"),
            execution_id=_text(fields, "execution_id"),
            to=Topic(fields["to"]),
            title=_text(fields, "title"),
            text=_text(fields, "text"),
            facts=dict(fields["facts"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a notice: {type(error).__name__}: {error}") from error


_OUTCOMES = {
    Status.FAILED: (Event.FAILED, "failed"),
    Status.TIMED_OUT: (Event.FAILED, "timed out"),
    Status.SUCCEEDED: (Event.SUCCEEDED, "succeeded"),
}


def outcome_notice(execution: Execution, job_name: str, notify: Notify | None) -> Notice | None:
    """The notice of an ended execution; ``None`` when the rule does not request it, or the execution was cancelled."""
    event, verb = _OUTCOMES.get(execution.status, (None, ""))
    rule = DEFAULT_RULE if notify is None else notify
    if event is None or not rule.includes(event):
        return None
    title = f"{job_name} {verb}"
    return Notice(
        id=f"{execution.execution_id}#{event}",
        event=event,
        at=execution.ended_at or execution.scheduled_at,
        job_id=execution.job_id,
        job_name=job_name,
        owner=execution.owner,
        execution_id=execution.execution_id,
        to=rule.to,
        title=title,
        text=f"{title}\n\n" + "\n".join(f"{name}: {value}" for name, value in _lines(execution)),
        facts=_facts(execution),
    )


def format_duration(duration: timedelta) -> str:
    """A duration with its unit: ``4.2 seconds``, ``15 minutes``, ``8.1 hours``."""
    seconds = duration.total_seconds()
    if seconds < 120:
        number, unit = round(seconds, 1), "second"
    elif seconds < 7200:
        number, unit = round(seconds / 60), "minute"
    else:
        number, unit = round(seconds / 3600, 1), "hour"
    return f"{number:g} {unit}" + ("" if number == 1 else "s")


def _lines(execution: Execution) -> list[tuple[str, str]]:
    error, ran = execution.error, _duration(execution)
    lines = [
        ("Error", f"{error.type}: {error.message[:MAX_NOTICE_ERROR_CHARACTERS]}" if error else None),
        ("Reason", execution.reason and execution.reason[:MAX_NOTICE_ERROR_CHARACTERS]),
        ("Attempts", str(execution.attempt)),
        ("Due", to_text(execution.scheduled_at)),
        ("Ended", execution.ended_at and to_text(execution.ended_at)),
        ("Ran for", format_duration(ran) if ran is not None else None),
        ("Deadline", execution.deadline_at and to_text(execution.deadline_at)),
        ("Task", execution.task),
        ("Owner", execution.owner),
        ("Execution", execution.execution_id),
    ]
    return [(name, value) for name, value in lines if value]


def _facts(execution: Execution) -> dict[str, Any]:
    error, ran = execution.error, _duration(execution)
    return {
        "status": str(execution.status),
        "reason": execution.reason and execution.reason[:MAX_NOTICE_ERROR_CHARACTERS],
        "task": execution.task,
        "lane": str(execution.lane),
        "attempt": execution.attempt,
        "max_attempts": execution.retry.max_attempts,
        "scheduled_at": to_text(execution.scheduled_at),
        "started_at": execution.started_at and to_text(execution.started_at),
        "ended_at": execution.ended_at and to_text(execution.ended_at),
        "deadline_at": execution.deadline_at and to_text(execution.deadline_at),
        "ran_seconds": None if ran is None else ran.total_seconds(),
        "error": {"type": error.type, "message": error.message[:MAX_NOTICE_ERROR_CHARACTERS]} if error else None,
    }


def _duration(execution: Execution) -> timedelta | None:
    """The time from the recorded start to the end."""
    if execution.started_at is None or execution.ended_at is None:
        return None
    return execution.ended_at - execution.started_at


def _text(fields: Mapping[str, Any], name: str) -> str:
    text = fields[name]
    if not isinstance(text, str) or not text:
        raise TypeError(f"{name} must be a non-empty string")
    return text
