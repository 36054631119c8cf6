"""Dispatch: once a minute, per shard, move what is due soon into the queues, and replace workers that fell silent.

The sweep goes from where the last one ended to the horizon ahead. Its position is stored after each page, so a
missed tick is caught up by the next, a crash repeats at most one page, and two at once do the same thing twice:
queueing what is queued already changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.execution import Execution
from punctual.domain.horizon import LEASE, SUSPICION, SWEEP
from punctual.domain.order import Order, order_for

if TYPE_CHECKING:
    from punctual.ports import Clock, Executions, Lanes, Timers

TICK = timedelta(minutes=1)

FIRST_LOOK_BACK = timedelta(hours=1)
"""Where a shard starts that was never swept."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What one tick did."""

    timers_seen: int
    queued: int
    taken_over: int
    behind: timedelta
    """How much of the wheel had been left unswept, beyond the one tick that a sweep always finds."""


@dataclass(frozen=True)
class Dispatcher:
    executions: Executions
    timers: Timers
    lanes: Lanes
    clock: Clock

    def tick(self, shard: int) -> Sweep:
        now = self.clock()
        until = now + SWEEP
        swept_to = self.timers.position(shard)
        seen, queued = self._sweep(shard, swept_to or (now - FIRST_LOOK_BACK, ""), until)
        orders = list(self._successors(shard, now))
        self.lanes.send(orders, now)
        behind = max(until - swept_to[0] - TICK, timedelta()) if swept_to else timedelta()
        return Sweep(timers_seen=seen, queued=queued, taken_over=len(orders), behind=behind)

    def _sweep(self, shard: int, swept_to: tuple[datetime, str], until: datetime) -> tuple[int, int]:
        since, after = swept_to
        seen = queued = 0
        for page in self.timers.due(shard, since, after, until):
            queued += self.executions.queue_all(page, self.clock())
            seen += len(page)
            self.timers.advance(shard, page[-1].at, page[-1].position)
        if until > since:  # a clock that went back must not make the wheel turn back
            self.timers.advance(shard, until, "")
        return seen, queued

    def _successors(self, shard: int, now: datetime) -> Iterator[Order]:
        """An order for the next attempt of whatever has not renewed its lease, to arrive when the lease has lapsed.

        A worker that comes back to life in between keeps its lease, and the order comes to nothing.
        """
        for execution in self.executions.running(shard):
            if execution.lease_until is not None and self._suspect(execution, now):
                yield order_for(execution, max(now, execution.lease_until))

    @staticmethod
    def _suspect(execution: Execution, now: datetime) -> bool:
        assert execution.lease_until is not None
        return now - (execution.lease_until - LEASE) > SUSPICION
