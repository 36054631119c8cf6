"""Dispatch: once a minute, per shard, move what is due soon into the queues, and replace workers that fell silent.

The sweep goes from where the last one ended to the horizon ahead. Its position is stored after each page, so a
missed tick is caught up by the next, a crash repeats at most one page, and two at once do the same thing twice:
queueing what is queued already changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.executions.horizon import LEASE, SUSPICION, SWEEP
from punctual.domain.executions.timer import Reached
from punctual.domain.executions.work_order import WorkOrder, work_order_for
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.planning import Lanes, Timers

TICK = timedelta(minutes=1)

EMPTY_SLOTS = 60
"""The position is recorded at least this often, so that even the sweep after a long outage gets on."""

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
    gatekeeper: Gatekeeper
    clock: Clock

    def tick(self, shard: int) -> Sweep:
        now = self.clock()
        orders = list(self._successors(shard, now))
        self.lanes.send(orders, now)  # before the sweep, which may be long after an outage
        before = self.timers.reached(shard)
        seen, queued = self._sweep(shard, before or Reached(at=now - FIRST_LOOK_BACK), until=now + SWEEP)
        behind = max(now + SWEEP - before.at - TICK, timedelta()) if before else timedelta()
        return Sweep(timers_seen=seen, queued=queued, taken_over=len(orders), behind=behind)

    def _sweep(self, shard: int, since: Reached, until: datetime) -> tuple[int, int]:
        seen = queued = slots = 0
        if until <= since.at:  # a clock that went back must not make the wheel turn back
            return seen, queued
        for timers, reached in self.timers.due(shard, since, until):
            queued += self.executions.queue_all(timers, self.clock())
            seen += len(timers)
            slots += not timers
            if timers or slots % EMPTY_SLOTS == 0:  # each record of the position costs a write
                self.timers.advance(shard, reached)
        self.timers.advance(shard, Reached(at=until))
        return seen, queued

    def _successors(self, shard: int, now: datetime) -> Iterator[WorkOrder]:
        """An order for the next attempt of whatever has not renewed its lease, to arrive when the lease has lapsed.

        A worker that comes back to life in between keeps its lease, and the order comes to nothing.
        """
        for execution in chain(self.executions.running(shard), self.gatekeeper.repair(shard)):
            if execution.status is Status.QUEUED:
                yield work_order_for(execution, now)
            elif execution.lease_until is not None and now - (execution.lease_until - LEASE) > SUSPICION:
                yield work_order_for(execution, max(now, execution.lease_until))
