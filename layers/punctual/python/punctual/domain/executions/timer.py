"""Timers: at an instant, look at an execution, for a reason. They are the wheel that the dispatcher turns.

The wheel's partitions are minutes times shards. Within one, timers sort by due instant, so a position in that
order says how far a shard was swept.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.instant import to_text

MINUTE = timedelta(minutes=1)


class TimerReason(StrEnum):
    """Why to look at an execution."""

    DUE = "due"
    """It was planned beyond the horizon and is now near: queue it."""

    RETRY = "retry"
    """It rests between two attempts for longer than a queue can hold a message: queue it again."""

    UPSTREAM = "upstream"
    """It waits for what it depends on, and no word has come: look again."""


@dataclass(frozen=True, kw_only=True)
class Timer:
    at: datetime
    job_id: str
    execution_id: str
    reason: TimerReason

    @property
    def position(self) -> str:
        """Its place in the order of its slot; unique."""
        return f"{to_text(self.at)}#{self.execution_id}#{self.reason}"


def slot_of(at: datetime, shard: int) -> str:
    """The wheel's partition for instant ``at``."""
    return f"{to_text(at)[:16]}#{shard}"


@dataclass(frozen=True, kw_only=True)
class Reached:
    """How far a sweep has come: all timers up to ``at`` were seen, and those at ``at`` itself up to ``position``."""

    at: datetime
    position: str = ""


def slots_between(start: datetime, end: datetime, shard: int) -> Iterator[tuple[str, datetime]]:
    """Every slot from the one that holds ``start`` to the one that holds ``end``, with the instant at which it ends."""
    at = start.replace(second=0, microsecond=0)
    while at <= end:
        yield slot_of(at, shard), at + MINUTE
        at += MINUTE


def shard_of(execution_id: str, shards: int) -> int:
    """The shard that carries an execution's timers, and the execution itself while it runs."""
    return zlib.crc32(execution_id.encode()) % shards
