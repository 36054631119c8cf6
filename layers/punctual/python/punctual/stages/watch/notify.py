"""Notify: tell the people of a job what happened, once, and not in a flood.

A notice, and a window (see ``domain/notices/digest_window.py``), move like this; each arrow is one transaction::

    no window, or an empty one past its end  ── a notice: due, told at once ──▶  a new window
    a window                                 ── a notice: counted ──▶            the window, with one more
    a window past its end, with some counted ── a notice: due, told with them ─▶ a new window
    a window, with some counted              ── its end: a summary is due ──▶    a new window
    an empty window                          ── its end ──▶                      no window

What is *due* is then carried out: the message that ends the new window goes to the queue, held back until then; the
notice is published; it is marked as told. Whoever dies on the way leaves it due. Its message comes again, and once the
lease has lapsed it is carried out from the start. So nothing is lost, and only who dies, or hears no answer, between
publishing and marking makes a notice come twice: a standard SNS topic cannot do better.

- The same notice twice: the second is known. While the first is still being told, it has to come again later.
- Two notices that open a window at once: one does; the other looks again, and is counted.
- The end of a window twice, or late: the window is another one by then, and only its summary, if due, is finished.
- The end of a window never: the next notice past its end is told at once, together with all that was counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.notices.digest_window import (
    DigestWindow,
    Noted,
    Telling,
    group_of,
    next_window,
    summary_of,
    told_with,
)

if TYPE_CHECKING:
    from punctual.domain.notices.notice import Notice
    from punctual.ports.notices import NoticeLedger, Topics, WindowEnds

LEASE = timedelta(seconds=60)
"""Longer than the function may run, so that whoever is late is dead; shorter than a message stays hidden, so that the
next delivery goes on."""

MOST_LOOKS = 10
"""Each time that a group has moved, another notice was written down. If that happens this often, come again later."""


class Fate(StrEnum):
    """What became of a message."""

    TOLD = "told"
    COUNTED = "counted"
    KNOWN = "known"
    """There is nothing left to do."""
    CLOSED = "closed"
    """The window had nothing to tell."""
    HELD = "held"
    """Another is at it right now, and may yet die: it has to come again."""


@dataclass(frozen=True)
class Notifier:
    ledger: NoticeLedger
    topics: Topics
    ends: WindowEnds

    def tell(self, notice: Notice, now: datetime) -> Fate:
        """Tell it at once, or count it for the next summary. Coming again changes nothing."""
        group = group_of(notice)
        for _ in range(MOST_LOOKS):
            window = self.ledger.window(group)
            if window is not None and now < window.until:
                noted = self.ledger.count(notice, window, now)
                if noted is Noted.NEW:
                    return Fate.COUNTED
            else:
                telling = _telling(notice.id, told_with(notice, window, now), window, now)
                noted = self.ledger.begin(telling, window, now)
                if noted is Noted.NEW:
                    return self._carry_out(telling, now)
            if noted is Noted.KNOWN:
                return self._finish(notice.id, now)
        return Fate.HELD

    def end(self, ended: DigestWindow, now: datetime) -> Fate:
        """Tell what was counted in a window, and go on to the next; if there is nothing, close it."""
        for _ in range(MOST_LOOKS):
            window = self.ledger.window(ended.group)
            if window is None or window.until != ended.until:
                return self._finish(ended.summary_id, now)
            if not window.counted:
                if self.ledger.close(window):
                    return Fate.CLOSED
                continue
            telling = _telling(window.summary_id, summary_of(window, now), window, now)
            if self.ledger.begin(telling, window, now) is Noted.NEW:
                return self._carry_out(telling, now)
        return Fate.HELD

    def _finish(self, notice_id: str, now: datetime) -> Fate:
        """What is known may still be due: carry it out, unless somebody does."""
        telling = self.ledger.due(notice_id)
        if telling is None:
            return Fate.KNOWN
        if now < telling.lease_until or not self.ledger.take_over(telling, now + LEASE):
            return Fate.HELD
        return self._carry_out(replace(telling, lease_until=now + LEASE), now)

    def _carry_out(self, telling: Telling, now: datetime) -> Fate:
        self.ends.end_later(telling.opens, now)
        self.topics.publish(telling.notice)
        self.ledger.told(telling)
        return Fate.TOLD


def _telling(telling_id: str, notice: Notice, seen: DigestWindow | None, now: datetime) -> Telling:
    opens = next_window(group_of(notice), seen, now)
    return Telling(id=telling_id, notice=notice, opens=opens, lease_until=now + LEASE)
