"""The way to people."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from punctual.domain.notices.digest_window import DigestWindow, Group, Noted, Telling
from punctual.domain.notices.notice import Notice


class Notices(Protocol):
    """The queue that leads to people."""

    def send(self, notices: Iterable[Notice]) -> None:
        """Raises when any was refused. Sending one again is fine: it is told once."""


class WindowEnds(Protocol):
    """The queue of notices, as the notifier itself uses it."""

    def end_later(self, window: DigestWindow, now: datetime) -> None:
        """Have the notifier told when the window ends. Again is fine."""


class Topics(Protocol):
    """Where people listen."""

    def publish(self, notice: Notice) -> None: ...


class NoticeLedger(Protocol):
    """Which notices are known, and what is counted in each group."""

    def window(self, group: Group) -> DigestWindow | None:
        """The window that is open, also past its end; ``None`` when there is none."""

    def begin(self, telling: Telling, seen: DigestWindow | None, now: datetime) -> Noted:
        """Write down that something is to be told, and open its window in place of the one that was ``seen``."""

    def count(self, notice: Notice, seen: DigestWindow, now: datetime) -> Noted:
        """Write down that a notice is counted in the window that was ``seen``."""

    def close(self, seen: DigestWindow) -> bool:
        """Leave a group without a window; ``False`` when that has moved since it was ``seen``."""

    def due(self, notice_id: str) -> Telling | None:
        """What is to be told under this id; ``None`` when it was told or counted already, or is not known."""

    def take_over(self, telling: Telling, lease_until: datetime) -> bool:
        """Carry out what another left; ``False`` when somebody else does."""

    def told(self, telling: Telling) -> None:
        """Write down that it was published."""
