"""Ports for planning and dispatch: timers and work queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.timer import SweepPosition, Timer
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.lane import Priority


class Timers(Protocol):
    """The timer wheel: timers by shard and minute, and how far each shard was swept."""

    def set(self, timer: Timer) -> None:
        """Store a timer. Idempotent."""

    def swept_to(self, shard: int) -> SweepPosition | None:
        """Return how far a shard was swept; ``None`` if it never was."""

    def due(self, shard: int, since: SweepPosition, until: datetime) -> Iterator[tuple[list[Timer], SweepPosition]]:
        """Yield the timers after ``since`` up to ``until`` in order, in pages, each with the position it ends at."""

    def advance(self, shard: int, to: SweepPosition) -> None:
        """Record how far a shard was swept."""


class WorkQueues(Protocol):
    """The SQS queues of the workers, one per priority."""

    def length(self, priority: Priority) -> int:
        """Return about how many messages of a queue wait for a worker now."""

    def send(self, orders: Iterable[WorkOrder], now: datetime) -> None:
        """Send each order, delayed until its ``not_before`` if that is in the future.

        Delivery is at least once. Raises if the queue rejects any of the orders.
        """
