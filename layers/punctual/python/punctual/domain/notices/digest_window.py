"""Digest windows: a flood of notices is published as a few summaries.

Notices of one job about one event to one destination form a *group*. The first is published at once and opens a
*window*. Notices that arrive while the window is open are counted in it and published as one summary when it ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.destination import check_key
from punctual.domain.jobs.notify_rule import OUTCOME_EVENTS, Event
from punctual.domain.notices.notice import Notice, format_duration, read_notice

OUTCOME_WINDOW = timedelta(minutes=15)
"""Length of a window for ``OUTCOME_EVENTS``. SQS cannot delay the message that ends it for longer."""
DEADLINE_WINDOW = timedelta(minutes=1)
"""Length of a window for deadline events, overruns and backlogs. Shorter, because a late warning is useless."""

MAX_NOTICE_BYTES = 25_000
"""Limit of a notice as a message: ten are sent in one request, and each is published in two formats."""

MAX_KEY_BYTES = 1000
"""Limit of ``id`` and ``job_id`` together, from which the ledger builds its keys."""

MAX_NAMED_EXECUTIONS = 20
"""A summary names at most this many executions. Further ones are only counted."""

_VERBS = {
    Event.FAILED: "failed",
    Event.SUCCEEDED: "succeeded",
    Event.DEADLINE_AT_RISK: "was at risk of missing its deadline",
    Event.WILL_MISS: "was about to miss its deadline",
    Event.DEADLINE_MISSED: "missed its deadline",
    Event.RECOVERED: "recovered",
    Event.OVERRUN: "ran far longer than usual",
    Event.EXECUTION_SKIPPED: "was skipped",
    Event.EXECUTION_MISSED: "missed its due instant",
    Event.BACKLOG: "exceeded its backlog limits",
    Event.BACKLOG_RECOVERED: "was within its backlog limits again",
}


class RecordResult(StrEnum):
    """The result of recording a notice in the ledger."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"
    """It was recorded before."""
    CONFLICT = "conflict"
    """The group's window has changed since it was read (compare-and-swap failed): read it again."""


@dataclass(frozen=True)
class Group:
    """The notices that share a digest window."""

    job_id: str
    event: Event
    to: str

    @property
    def name(self) -> str:
        return f"{self.job_id}#{self.event}#{self.to}"

    @property
    def span(self) -> timedelta:
        """Length of its windows."""
        return OUTCOME_WINDOW if self.event in OUTCOME_EVENTS else DEADLINE_WINDOW


@dataclass(frozen=True, kw_only=True)
class DigestWindow:
    """An open window of a group and the notices counted in it so far."""

    group: Group
    until: datetime
    """The end of the window. It identifies the window within its group."""
    counted: int = 0
    executions: frozenset[str] = frozenset()
    """Some of the counted executions: at most ``MAX_NAMED_EXECUTIONS``."""
    latest: Notice | None = None

    @property
    def summary_id(self) -> str:
        """The id of the summary. A window has one, so its end is published once."""
        return f"{self.group.name}#{to_text(self.until)}"

    def to_body(self) -> str:
        """The message that is delivered when the window ends. It identifies the window and has none of its counts."""
        group = self.group
        return json.dumps(
            {"window_until": to_text(self.until), "job_id": group.job_id, "event": group.event, "to": group.to}
        )


@dataclass(frozen=True, kw_only=True)
class Publication:
    """A notice that is being published. It is recorded before it is published, and marked as published afterwards."""

    id: str
    """Id of the notice that led to it, or of the window's summary."""
    notice: Notice
    new_window: DigestWindow
    """The window that was opened with it. Its end has to be scheduled."""
    lease_until: datetime
    """Until then only the notifier that recorded it may publish it. After that, the notifier is presumed dead."""


def executions_of(notice: Notice) -> frozenset[str]:
    """The execution that a notice is about; none if it is about a job."""
    return frozenset(filter(None, [notice.execution_id]))


def group_of(notice: Notice) -> Group:
    return Group(notice.job_id, notice.event, notice.to)


def next_window(group: Group, seen: DigestWindow | None, now: datetime) -> DigestWindow:
    """The window that replaces ``seen``. It ends later than ``seen``, even if the clock went back."""
    return DigestWindow(group=group, until=max(now, seen.until if seen else now) + group.span)


def summary_of(window: DigestWindow, now: datetime) -> Notice:
    """Summarise the notices counted in a window as one notice, based on the latest of them."""
    assert window.latest is not None, "a window with counted notices has the latest"
    count, since = window.counted, window.until - window.group.span
    times = "time" if count == 1 else "times"
    title = (
        f"{window.latest.job_name} {_VERBS[window.group.event]} {count} more {times} in {format_duration(now - since)}"
    )
    return replace(
        window.latest,
        id=window.summary_id,
        at=now,
        title=title,
        text=f"{title}; the latest:\n\n{window.latest.text}\n\n{_execution_list(window)}".rstrip(),
        facts={
            "more": count,
            "since": to_text(since),
            "executions": sorted(window.executions),
            "latest": window.latest.facts,
        },
    )


def merge_overdue_window(notice: Notice, window: DigestWindow | None, now: datetime) -> Notice:
    """Merge ``notice`` with the notices counted in a window whose end was never delivered."""
    if window is None or not window.counted:
        return notice
    executions = window.executions | executions_of(notice)
    together = replace(window, counted=window.counted + 1, executions=executions, latest=notice)
    return replace(summary_of(together, now), id=notice.id)


def read_notice_message(body: str) -> Notice | DigestWindow:
    """Parse a message of the notice queue: a notice, or the end of a window.

    Raises ``Unreadable``, also for a notice that is too large to be recorded or published: retrying cannot help.
    """
    try:
        fields = json.loads(body)
        if "window_until" in fields:
            group = Group(str(fields["job_id"]), Event(fields["event"]), check_key(fields["to"]))
            return DigestWindow(group=group, until=from_text(fields["window_until"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"neither a notice nor a window end: {type(error).__name__}: {error}") from error
    notice = read_notice(body)
    _check_size("notice", body, MAX_NOTICE_BYTES)
    _check_size("id and job_id", notice.id + notice.job_id, MAX_KEY_BYTES)
    return notice


def _check_size(field: str, text: str, limit: int) -> None:
    size = len(text.encode())
    if size > limit:
        raise Unreadable(f"{field}: {size:,} bytes; the limit is {limit:,} bytes")


def _execution_list(window: DigestWindow) -> str:
    if not window.executions:
        return ""
    others = ["and others"] if len(window.executions) >= MAX_NAMED_EXECUTIONS else []
    return "\n".join(["Executions:", *sorted(window.executions), *others])
