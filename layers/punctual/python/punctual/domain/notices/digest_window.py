"""Notices that come in a flood are told together.

Those of one job about one event to one topic are a *group*. The first is told at once and opens a *window*; those that
come while it is open are counted in it, and told as one summary when it ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text
from punctual.domain.jobs.notify_rule import OUTCOMES, Event, Topic
from punctual.domain.notices.notice import Notice, read_notice, spelled

GROUP_WINDOW = timedelta(minutes=15)
"""For outcomes."""
DANGER_WINDOW = timedelta(minutes=1)
"""For deadlines: what is told too late is of no use."""
"""How long a window is open. SQS holds the message that ends it back for no longer."""

LARGEST_BODY = 25_000
"""Bytes of a notice as a message: ten are sent in one request, and each is published in two forms."""

LARGEST_KEY = 1000
"""Bytes of what the ledger's keys are made of."""

MOST_NAMED = 20
"""Executions that a summary names. More are only counted."""

_VERBS = {
    Event.FAILED: "failed",
    Event.SUCCEEDED: "succeeded",
    Event.DEADLINE_AT_RISK: "was at risk of missing its deadline",
    Event.WILL_MISS: "was about to miss its deadline",
    Event.MISSED: "missed its deadline",
    Event.RECOVERED: "recovered",
}


class Noted(StrEnum):
    """What came of writing a notice down."""

    NEW = "new"
    KNOWN = "known"
    """It was written down before."""
    MOVED = "moved"
    """Its group has changed since it was seen: look again."""


@dataclass(frozen=True)
class Group:
    """Whose notices are told together."""

    job_id: str
    event: Event
    to: Topic

    @property
    def name(self) -> str:
        return f"{self.job_id}#{self.event}#{self.to}"

    @property
    def span(self) -> timedelta:
        """How long its windows are."""
        return GROUP_WINDOW if self.event in OUTCOMES else DANGER_WINDOW


@dataclass(frozen=True, kw_only=True)
class DigestWindow:
    """An open window of a group, and what was counted in it so far."""

    group: Group
    until: datetime
    """It tells the windows of a group apart."""
    counted: int = 0
    executions: frozenset[str] = frozenset()
    """Of those that were counted, some."""
    latest: Notice | None = None

    @property
    def summary_id(self) -> str:
        """The id of the notice that tells what was counted: a window ends once."""
        return f"{self.group.name}#{to_text(self.until)}"

    def to_body(self) -> str:
        """The message that comes when the window ends. It only points at it."""
        group = self.group
        return json.dumps(
            {"window_until": to_text(self.until), "job_id": group.job_id, "event": group.event, "to": group.to}
        )


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Something that is being told: the intention is written down before, and that it was done after."""

    id: str
    """Of the notice that led to it, or of the window's summary."""
    notice: Notice
    """What is published."""
    opens: DigestWindow
    """The window that was opened with it, and that somebody has to end."""
    lease_until: datetime
    """Until then it is left to the one who began. Who is late with it is dead."""


def group_of(notice: Notice) -> Group:
    return Group(notice.job_id, notice.event, notice.to)


def next_window(group: Group, seen: DigestWindow | None, now: datetime) -> DigestWindow:
    """The window that opens now, in place of the one that was ``seen``. It ends later than that, whatever the clock."""
    return DigestWindow(group=group, until=max(now, seen.until if seen else now) + group.span)


def summary_of(window: DigestWindow, now: datetime) -> Notice:
    """All that was counted in a window, as one notice that is like the latest of them."""
    assert window.latest is not None, "whatever was counted is kept"
    count, since = window.counted, window.until - window.group.span
    times = "time" if count == 1 else "times"
    title = f"{window.latest.job_name} {_VERBS[window.group.event]} {count} more {times} in {spelled(now - since)}"
    return replace(
        window.latest,
        id=window.summary_id,
        at=now,
        title=title,
        text=f"{title}; the latest:\n\n{window.latest.text}\n\n{_named(window)}",
        facts={
            "more": count,
            "since": to_text(since),
            "executions": sorted(window.executions),
            "latest": window.latest.facts,
        },
    )


def told_with(notice: Notice, window: DigestWindow | None, now: datetime) -> Notice:
    """``notice``, and with it what was counted in a window that nobody has ended."""
    if window is None or not window.counted:
        return notice
    executions = window.executions | {notice.execution_id}
    together = replace(window, counted=window.counted + 1, executions=executions, latest=notice)
    return replace(summary_of(together, now), id=notice.id)


def read_message(body: str) -> Notice | DigestWindow:
    """What a message on the queue of notices says: something to tell, or that a window ends.

    Raises ``Unreadable``, also for what is too large to be written down or published: no retry would cure that.
    """
    try:
        fields = json.loads(body)
        if "window_until" in fields:
            group = Group(str(fields["job_id"]), Event(fields["event"]), Topic(fields["to"]))
            return DigestWindow(group=group, until=from_text(fields["window_until"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"neither a notice nor the end of a window: {type(error).__name__}: {error}") from error
    notice = read_notice(body)
    _check_size("a notice", body, LARGEST_BODY)
    _check_size("id and job_id", notice.id + notice.job_id, LARGEST_KEY)
    return notice


def _check_size(what: str, text: str, limit: int) -> None:
    size = len(text.encode())
    if size > limit:
        raise Unreadable(f"{what} of {size:,} bytes: the limit is {limit:,}")


def _named(window: DigestWindow) -> str:
    others = ["and others"] if len(window.executions) >= MOST_NAMED else []
    return "\n".join(["Executions:", *sorted(window.executions), *others])
