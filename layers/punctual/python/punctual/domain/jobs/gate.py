"""Gates: where only so many executions may run at once, each passes a gate on its way in and leaves it at its end.

What does not get in waits in line, or is skipped, as the gate says. A gate may also say how often it opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

from punctual.domain.identity import due_key
from punctual.domain.instant import from_text
from punctual.domain.lane import Priority


class WhenFull(StrEnum):
    """What becomes of an execution that finds a gate full."""

    SKIP = "skip"
    WAIT = "wait"
    """In line, by its turn."""
    WAIT_ALONE = "wait_alone"
    """If nobody waits yet; else it is skipped."""
    TAKE_OVER = "take_over"
    """In place of whoever waits, and those inside are asked to leave."""


@dataclass(frozen=True)
class Rate:
    """No more than ``starts`` in ``per_seconds`` on average, and no more than ``starts`` at once after a rest.

    What would be too many starts later.
    """

    starts: int
    per_seconds: int

    def reserve(self, reserved_until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
        """When the next may start, and until when starts are then reserved, both in whole milliseconds."""
        burst = self._interval * (self.starts - 1)
        reserved_until = max(reserved_until or now, now)
        return max(now, reserved_until - burst), reserved_until + self._interval

    def before(self, start: datetime, now: datetime) -> int:
        """How many starts are reserved between now and one that was put off: one after the other without a gap."""
        return max(-((now - start) // self._interval) - 1, 0)

    @property
    def _interval(self) -> timedelta:
        return timedelta(milliseconds=ceil(self.per_seconds * 1000 / self.starts))


@dataclass(frozen=True)
class Gate:
    name: str
    limit: int | None = None
    """How many may be inside at once; ``None`` for a gate that only has a rate."""
    when_full: WhenFull = WhenFull.WAIT
    rate: Rate | None = None

    @property
    def of_job(self) -> bool:
        """Whether it keeps executions of one job apart. Then who is inside stays so between attempts, and is found
        by it while it runs."""
        return self.name.startswith(OF_JOB)

    @property
    def of_key(self) -> bool:
        return self.name.startswith(OF_KEY)

    @property
    def of_backfill(self) -> bool:
        return self.name.startswith(OF_BACKFILL)

    def to_entry(self) -> list[Any]:
        rate = [self.rate.starts, self.rate.per_seconds] if self.rate else []
        return [self.name, self.limit, str(self.when_full), *rate]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """An execution on its way in."""

    execution_id: str
    turn: str
    """Its place, if it has to wait in line."""
    revision: int
    """Of the rules that sent it: what has been replaced since goes by others."""
    tried: int = 0
    """How many attempts it had when it was sent: what has been tried since does not go back in line."""
    rated: bool = False
    """Whether its start was reserved already."""


@dataclass(frozen=True)
class Waiter:
    """Somebody in line."""

    execution_id: str
    turn: str
    """The lowest is next; ``ONLY`` where no more than one may wait."""


ONLY = "only"


OF_JOB = "job#"
OF_KEY = "key#"
OF_BACKFILL = "backfill#"
"""With the instant at which it was asked for at its end."""
STORED_BY_THEN = timedelta(minutes=1)
"""A backfill's executions get their places before they are stored: what is not there by then will not come."""


def may_yet_come(name: str, now: datetime) -> bool:
    """Whether one that is not there yet, and has its place at a gate, may be about to be stored."""
    return name.startswith(OF_BACKFILL) and now < from_text(name.rpartition("#")[2]) + STORED_BY_THEN


def of_entry(entry: list[Any]) -> Gate:
    name, limit, when_full, *rate = entry
    return Gate(name, limit, WhenFull(when_full), Rate(*rate) if rate else None)


HEAD_START = {
    Priority.HIGH: timedelta(minutes=10),
    Priority.NORMAL: timedelta(),
    Priority.LOW: -timedelta(minutes=10),
}
"""By how much a priority goes before another in line. Whoever has waited for longer than that goes first, whatever
their priority: nobody starves."""


def turn_of(execution_id: str, released_at: datetime, priority: Priority) -> str:
    """A place in line: the lowest is next."""
    return f"{due_key(released_at - HEAD_START[priority])}#{execution_id}"
