"""Notices: what the people of a job are told."""

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
from punctual.domain.jobs.notify_rule import DEFAULT, Event, Notify, Topic
from punctual.domain.status import Status

LONGEST_WORDS = 700
"""Characters of an error's own words that a notice repeats. Whatever they are, it stays small enough to be sent."""

_UNSENDABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""SQS refuses a message with any of these."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """One thing to tell. The same thing said again has the same ``id``, and so is told once."""

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
    """For people: several lines."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The same for programs: any JSON."""

    def to_body(self) -> str:
        """As the text of a message; ``read_notice`` reads it back."""
        fields = {**vars(self), "at": to_text(self.at)}
        return _UNSENDABLE.sub("\ufffd", json.dumps(fields, ensure_ascii=False, allow_nan=False))


def read_notice(body: str) -> Notice:
    """The notice in a message's text. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()  # no halves of characters, and no NaN
        return Notice(
            id=_words(fields, "id"),
            event=Event(fields["event"]),
            at=from_text(fields["at"]),
            job_id=_words(fields, "job_id"),
            job_name=_words(fields, "job_name"),
            owner=_words(fields, "owner"),
            execution_id=_words(fields, "execution_id"),
            to=Topic(fields["to"]),
            title=_words(fields, "title"),
            text=_words(fields, "text"),
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
    """What to tell of an execution that has ended; ``None`` when the rule does not ask for it, or it was cancelled."""
    event, verb = _OUTCOMES.get(execution.status, (None, ""))
    rule = DEFAULT if notify is None else notify
    if event is None or not rule.wants(event):
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


def spelled(span: timedelta) -> str:
    """A span of time, as people say it: ``4.2 seconds``, ``15 minutes``, ``8.1 hours``."""
    seconds = span.total_seconds()
    if seconds < 120:
        number, unit = round(seconds, 1), "second"
    elif seconds < 7200:
        number, unit = round(seconds / 60), "minute"
    else:
        number, unit = round(seconds / 3600, 1), "hour"
    return f"{number:g} {unit}" + ("" if number == 1 else "s")


def _lines(execution: Execution) -> list[tuple[str, str]]:
    error, ran = execution.error, _ran(execution)
    lines = [
        ("Error", f"{error.type}: {error.message[:LONGEST_WORDS]}" if error else None),
        ("Reason", execution.reason and execution.reason[:LONGEST_WORDS]),
        ("Attempts", str(execution.attempt)),
        ("Due", to_text(execution.scheduled_at)),
        ("Ended", execution.ended_at and to_text(execution.ended_at)),
        ("Ran for", spelled(ran) if ran is not None else None),
        ("Deadline", execution.deadline_at and to_text(execution.deadline_at)),
        ("Task", execution.task),
        ("Owner", execution.owner),
        ("Execution", execution.execution_id),
    ]
    return [(name, value) for name, value in lines if value]


def _facts(execution: Execution) -> dict[str, Any]:
    error, ran = execution.error, _ran(execution)
    return {
        "status": str(execution.status),
        "reason": execution.reason and execution.reason[:LONGEST_WORDS],
        "task": execution.task,
        "lane": str(execution.lane),
        "attempt": execution.attempt,
        "max_attempts": execution.retry.max_attempts,
        "scheduled_at": to_text(execution.scheduled_at),
        "started_at": execution.started_at and to_text(execution.started_at),
        "ended_at": execution.ended_at and to_text(execution.ended_at),
        "deadline_at": execution.deadline_at and to_text(execution.deadline_at),
        "ran_seconds": None if ran is None else ran.total_seconds(),
        "error": {"type": error.type, "message": error.message[:LONGEST_WORDS]} if error else None,
    }


def _ran(execution: Execution) -> timedelta | None:
    """From the start that its record shows to its end."""
    if execution.started_at is None or execution.ended_at is None:
        return None
    return execution.ended_at - execution.started_at


def _words(fields: Mapping[str, Any], name: str) -> str:
    words = fields[name]
    if not isinstance(words, str) or not words:
        raise TypeError(f"{name} must be a text that is not empty")
    return words
