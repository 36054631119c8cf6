"""Ports for notices: their queue, the ledger and the destinations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from punctual.domain.notices.digest_window import DigestWindow, Group, Publication, RecordResult
from punctual.domain.notices.notice import Notice


class Notices(Protocol):
    """The notice queue, as used by the senders of notices."""

    def send(self, notices: Iterable[Notice]) -> None:
        """Send notices. Raises when any was rejected. Idempotent: a duplicate is published once."""


class WindowEnds(Protocol):
    """The notice queue, as used by the notifier."""

    def schedule_end(self, window: DigestWindow, now: datetime) -> None:
        """Send the message that ends the window, delayed until then. Idempotent in effect."""


class Destinations(Protocol):
    """Where notices are sent: topics, e-mail addresses and webhooks."""

    def publish(self, notice: Notice) -> None:
        """Deliver a notice to its destination. May be called again with the same notice, whose id is the same.

        Raises ``NotDelivered`` if the destination may accept it later, and ``Undeliverable`` if it never will.
        """


class NoticeLedger(Protocol):
    """The recorded notices, and the digest window of each group."""

    def window(self, group: Group) -> DigestWindow | None:
        """The open window of the group, even past its end; ``None`` without one."""

    def begin(self, publication: Publication, seen: DigestWindow | None, now: datetime) -> RecordResult:
        """Record a publication and replace the window ``seen`` by its new one, in one transaction."""

    def count(self, notice: Notice, seen: DigestWindow, now: datetime) -> RecordResult:
        """Record a notice as counted in the window ``seen``, in one transaction."""

    def close(self, seen: DigestWindow) -> bool:
        """Remove the group's window; ``False`` when it has changed since it was ``seen``."""

    def pending(self, notice_id: str) -> Publication | None:
        """The unpublished publication with this id; ``None`` when it was published or counted, or is unknown."""

    def take_over(self, publication: Publication, lease_until: datetime) -> bool:
        """Take over a publication whose lease has expired; ``False`` when another notifier did."""

    def mark_published(self, publication: Publication) -> None:
        """Record that it was published. Idempotent."""
