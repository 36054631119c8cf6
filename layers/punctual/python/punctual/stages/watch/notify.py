"""Notify: publish notices once each, and a flood of them as summaries.

The window of a group (see ``domain/notices/digest_window.py``) changes as follows; each arrow is one transaction::

    no window, or an empty one past its end     ── notice: recorded for publication ──▶              new window
    window before its end                       ── notice: counted ──▶                               same window
    window past its end, with counted notices   ── notice: recorded, merged with the counted ones ─▶ new window
    window with counted notices                 ── end message: a summary is recorded ──▶            new window
    empty window                                ── end message ──▶                                   no window

A recorded publication is then carried out: the end message of the new window is sent with a delay, the notice is
published, and it is marked as published. If a notifier crashes in between, the publication stays pending: the message
that led to it is redelivered, and once the lease has expired, the publication is carried out from the start. No notice
is lost. A notice is published twice only if the notifier crashes, or gets no response, between publishing and marking.
A standard SNS topic cannot do better; a webhook recognizes the repetition by the id of the notice.

- A duplicate of a finished notice is ignored. If the first one is pending, the duplicate is redelivered until the lease
  has expired, and then finishes it.
- Two notices that open a window at the same time: one wins, the other reads the window again and is counted.
- An end message that is delivered twice or late: the window has changed by then, and only a pending summary is
  finished.
- An end message that is never delivered: the next notice of the group is published with all counted ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.notices.digest_window import (
    DigestWindow,
    Publication,
    RecordResult,
    group_of,
    merge_overdue_window,
    next_window,
    summary_of,
)

if TYPE_CHECKING:
    from punctual.domain.notices.notice import Notice
    from punctual.ports.notices import Destinations, NoticeLedger, WindowEnds

PUBLICATION_LEASE = timedelta(seconds=60)
"""Longer than the function's timeout, so that a notifier whose lease has expired is dead. Shorter than the visibility
timeout of a message, so that the next delivery can continue."""

MAX_WINDOW_TRIES = 10
"""After each conflict, the window of the group has changed. After this many tries, the message is redelivered."""


class NotifyResult(StrEnum):
    """The result of handling a message."""

    PUBLISHED = "published"
    COUNTED = "counted"
    ALREADY_DONE = "already done"
    """Nothing is pending: it was published, counted or merged before."""
    CLOSED = "closed"
    """The window was empty and is closed."""
    RETRY = "retry"
    """Another notifier holds the lease, or there were too many conflicts: the message must be redelivered."""

    @property
    def needs_redelivery(self) -> bool:
        return self is NotifyResult.RETRY


@dataclass(frozen=True)
class Notifier:
    ledger: NoticeLedger
    destinations: Destinations
    window_ends: WindowEnds

    def notify(self, notice: Notice, now: datetime) -> NotifyResult:
        """Publish a notice, or count it for the next summary. Idempotent."""
        group = group_of(notice)
        for _ in range(MAX_WINDOW_TRIES):
            window = self.ledger.window(group)
            if window is not None and now < window.until:
                recorded = self.ledger.count(notice, window, now)
                if recorded is RecordResult.RECORDED:
                    return NotifyResult.COUNTED
            else:
                publication = _publication(notice.id, merge_overdue_window(notice, window, now), window, now)
                recorded = self.ledger.begin(publication, window, now)
                if recorded is RecordResult.RECORDED:
                    return self._carry_out(publication, now)
            if recorded is RecordResult.DUPLICATE:
                return self._finish_pending(notice.id, now)
        return NotifyResult.RETRY

    def end_window(self, ended: DigestWindow, now: datetime) -> NotifyResult:
        """Publish the summary of a window and open the next one; close a window without counted notices. Idempotent."""
        for _ in range(MAX_WINDOW_TRIES):
            window = self.ledger.window(ended.group)
            if window is None or window.until != ended.until:
                return self._finish_pending(ended.summary_id, now)
            if not window.counted:
                if self.ledger.close(window):
                    return NotifyResult.CLOSED
                continue
            publication = _publication(window.summary_id, summary_of(window, now), window, now)
            if self.ledger.begin(publication, window, now) is RecordResult.RECORDED:
                return self._carry_out(publication, now)
        return NotifyResult.RETRY

    def _finish_pending(self, publication_id: str, now: datetime) -> NotifyResult:
        """Carry out a publication that an earlier notifier recorded and did not finish, once its lease has expired."""
        publication = self.ledger.pending(publication_id)
        if publication is None:
            return NotifyResult.ALREADY_DONE
        if now < publication.lease_until or not self.ledger.take_over(publication, now + PUBLICATION_LEASE):
            return NotifyResult.RETRY
        return self._carry_out(replace(publication, lease_until=now + PUBLICATION_LEASE), now)

    def _carry_out(self, publication: Publication, now: datetime) -> NotifyResult:
        self.window_ends.schedule_end(publication.new_window, now)
        self.destinations.publish(publication.notice)
        self.ledger.mark_published(publication)
        return NotifyResult.PUBLISHED


def _publication(publication_id: str, notice: Notice, seen: DigestWindow | None, now: datetime) -> Publication:
    new_window = next_window(group_of(notice), seen, now)
    return Publication(id=publication_id, notice=notice, new_window=new_window, lease_until=now + PUBLICATION_LEASE)
