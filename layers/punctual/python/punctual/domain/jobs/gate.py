"""Gates: semaphores that limit how many executions run concurrently.

An execution acquires its gates before it starts and releases them when it ends. If a gate is full, the execution waits
in the gate's queue or is skipped, according to ``when_full``. A gate may also limit the rate of starts.
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
    """The policy for an execution that arrives at a full gate."""

    SKIP = "skip"
    """It is skipped."""
    WAIT = "wait"
    """It waits in the queue, ordered by ``turn``."""
    WAIT_ALONE = "wait_alone"
    """It waits if the queue is empty; otherwise it is skipped."""
    TAKE_OVER = "take_over"
    """It replaces the current waiter, and the executions that hold the gate are cancelled."""


@dataclass(frozen=True)
class Rate:
    """A token-bucket rate limit: ``starts`` per ``per_seconds`` on average, in bursts of at most ``starts``.

    An execution over the limit is not rejected: its start is delayed.
    """

    starts: int
    per_seconds: int

    def reserve(self, reserved_until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
        """Reserve the next start.

        Returns when it may start and the new end of the reserved time, both in whole milliseconds.
        """
        burst = self._interval * (self.starts - 1)
        reserved_until = max(reserved_until or now, now)
        return max(now, reserved_until - burst), reserved_until + self._interval

    def before(self, start: datetime, now: datetime) -> int:
        """The number of starts reserved between ``now`` and the delayed start ``start``: they are evenly spaced."""
        return max(-((now - start) // self._interval) - 1, 0)

    @property
    def _interval(self) -> timedelta:
        return timedelta(milliseconds=ceil(self.per_seconds * 1000 / self.starts))


@dataclass(frozen=True)
class Gate:
    """A named semaphore with an optional rate limit."""

    name: str
    limit: int | None = None
    """How many executions may hold the gate concurrently; ``None`` for a gate with only a rate limit."""
    when_full: WhenFull = WhenFull.WAIT
    rate: Rate | None = None

    @property
    def of_job(self) -> bool:
        """Whether this is the overlap gate of one job.

        Its holder keeps it between attempts, and a running execution of the job is found by it.
        """
        return self.name.startswith(OF_JOB)

    @property
    def of_key(self) -> bool:
        """Whether this is the gate of a concurrency key."""
        return self.name.startswith(OF_KEY)

    @property
    def of_backfill(self) -> bool:
        """Whether this gate limits the concurrency of one backfill."""
        return self.name.startswith(OF_BACKFILL)

    def to_entry(self) -> list[Any]:
        """The form in which a work order carries it; the inverse of ``of_entry``."""
        rate = [self.rate.starts, self.rate.per_seconds] if self.rate else []
        return [self.name, self.limit, str(self.when_full), *rate]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """An execution that tries to acquire a gate."""

    execution_id: str
    turn: str
    """Its queue position if it has to wait: a ``queue_key``."""
    revision: int
    """The job revision that sent it. If the job has been edited since, the new rules apply to it."""
    tried: int = 0
    """The number of attempts when it was sent. If another attempt has started since, it is not queued again."""
    has_reserved_start: bool = False
    """Whether its start has already been reserved at the rate limit."""


@dataclass(frozen=True)
class Waiter:
    """An execution in the queue of a gate."""

    execution_id: str
    turn: str
    """Its queue position: the lowest is next. ``ONLY`` where at most one execution may wait."""


ONLY = "only"

OF_JOB = "job#"
OF_KEY = "key#"
OF_BACKFILL = "backfill#"
"""The gate name ends with the instant at which the backfill was requested."""
BACKFILL_STORE_GRACE = timedelta(minutes=1)
"""Executions of a backfill are added to the gate before they are stored. An execution that is not stored within this
time after the request never will be."""


def is_within_grace(name: str, now: datetime) -> bool:
    """Whether a missing execution registered at the gate ``name`` may still be about to be stored."""
    return name.startswith(OF_BACKFILL) and now < from_text(name.rpartition("#")[2]) + BACKFILL_STORE_GRACE


def of_entry(entry: list[Any]) -> Gate:
    """Parse the result of ``Gate.to_entry``."""
    name, limit, when_full, *rate = entry
    return Gate(name, limit, WhenFull(when_full), Rate(*rate) if rate else None)


def key_in_use(count: int) -> str:
    """The reason why an execution waits for its concurrency key, which ``count`` executions hold."""
    executions = "1 execution" if count == 1 else f"{count} executions"
    return f"{executions} with the same concurrency key {'is' if count == 1 else 'are'} running"


HEAD_START = {
    Priority.HIGH: timedelta(minutes=10),
    Priority.NORMAL: timedelta(),
    Priority.LOW: -timedelta(minutes=10),
}
"""How far each priority moves an execution ahead in a gate's queue. An execution that has waited longer than the
difference precedes one of higher priority, which prevents starvation."""


def queue_key(execution_id: str, earliest_start: datetime, priority: Priority) -> str:
    """The sort key of an execution in a gate's queue: the lowest is next."""
    return f"{due_key(earliest_start - HEAD_START[priority])}#{execution_id}"
