"""Timers: re-examine an execution at an instant, for a reason. Together they form the dispatcher's timer wheel.

A bucket of the wheel is one minute of one shard, and one partition of the table. Within a bucket
timers sort by instant, so a position in that order records how far a shard has been swept.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from punctual.domain.identity import job_of
from punctual.domain.instant import to_text

MINUTE = timedelta(minutes=1)


class TimerReason(StrEnum):
    """Why the dispatcher re-examines an execution."""

    DUE = "due"
    """It was planned beyond the planner's horizon and is due soon: queue it."""

    RETRY = "retry"
    """Its retry backoff is longer than the maximum SQS delay: queue it again."""

    UPSTREAM = "upstream"
    """It waits for its upstreams and has not been woken: check them again."""

    START = "start"
    """Its work order was sent: if no worker has claimed it since, send it again."""


@dataclass(frozen=True, kw_only=True)
class Timer:
    at: datetime
    job_id: str
    execution_id: str
    reason: TimerReason

    @property
    def position(self) -> str:
        """Sort key within the bucket. Unique."""
        return f"{to_text(self.at)}#{self.execution_id}#{self.reason}"


def timer_for(execution_id: str, at: datetime, reason: TimerReason) -> Timer:
    """Build a timer of an execution."""
    return Timer(at=at, job_id=job_of(execution_id), execution_id=execution_id, reason=reason)


def timer_bucket(at: datetime, shard: int) -> str:
    """Return the bucket of the wheel that holds instant ``at``."""
    return f"{to_text(at)[:16]}#{shard}"


@dataclass(frozen=True, kw_only=True)
class SweepPosition:
    """How far a shard has been swept: all timers before ``at``, and those at ``at`` up to ``position``."""

    at: datetime
    position: str = ""
    ticks: int | None = None
    """The number of ticks that share the start checks, if the tick that swept the shard has also made its share."""


def buckets_between(start: datetime, end: datetime, shard: int) -> Iterator[tuple[str, datetime]]:
    """Yield every bucket from that of ``start`` to that of ``end``, each with the instant at which it ends."""
    at = start.replace(second=0, microsecond=0)
    while at <= end:
        yield timer_bucket(at, shard), at + MINUTE
        at += MINUTE


def shard_of(execution_id: str, shards: int) -> int:
    """Return the shard of an execution's timers, and of the execution itself while it runs."""
    return zlib.crc32(execution_id.encode()) % shards
