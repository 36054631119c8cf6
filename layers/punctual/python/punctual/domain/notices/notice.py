"""Notices: the messages that Punctual sends to the people responsible for a job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.destination import Destination, Topic, check_key
from punctual.domain.jobs.notify_rule import Event, Notify

MAX_NOTICE_ERROR_CHARACTERS = 500
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
    execution_id: str | None
    """``None`` if it is about the job."""
    to: str
    """The key of the destination."""
    title: str
    """One line."""
    text: str
    """For people, in several lines."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The same content for programs, as JSON types."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The tags of the execution, or of the job."""

    def to_body(self) -> str:
        """Serialise for SQS; ``read_notice`` is the inverse."""
        fields = {**vars(self), "at": to_text(self.at)}
        return _UNSENDABLE.sub("\ufffd", json.dumps(fields, ensure_ascii=False, allow_nan=False))


def addressed(notice: Notice, rule: Notify) -> list[Notice]:
    """Return one notice per destination of ``rule``: each is published, repeated and dead-lettered on its own."""
    return [replace(notice, id=notice.id + _suffix(one, rule), to=one.key) for one in rule.to]


def _suffix(destination: Destination, rule: Notify) -> str:
    """Nothing for the topic of most rules, so that its notice keeps its id when another destination is added."""
    is_plain = isinstance(destination, Topic) and (destination is Topic.NOTICE or Topic.NOTICE not in rule.to)
    return "" if is_plain else f"#{destination.key}"


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
            execution_id=None if fields["execution_id"] is None else _text(fields, "execution_id"),
            to=check_key(_text(fields, "to")),
            title=_text(fields, "title"),
            text=_text(fields, "text"),
            facts=dict(fields["facts"]),
            tags=dict(fields.get("tags", {})),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a notice: {type(error).__name__}: {error}") from error


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


def _text(fields: Mapping[str, Any], name: str) -> str:
    text = fields[name]
    if not isinstance(text, str) or not text:
        raise TypeError(f"{name} must be a non-empty string")
    return text
