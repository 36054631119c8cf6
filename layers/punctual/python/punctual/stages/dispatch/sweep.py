"""Dispatch: once a minute and per shard, queue executions that are due soon, and replace dead workers.

A sweep starts at the position where the last one ended. It reads the timers up to the sweep horizon, and moves their
executions from ``scheduled``, ``retrying`` or ``waiting`` to ``queued``; the planner then sends their work orders. The
position is stored after each page that has timers: a crash repeats at most one such page, and the next tick catches up
on a missed one. Concurrent sweeps are harmless, because queueing an execution that is queued already changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.executions.horizon import SWEEP_HORIZON, TICK
from punctual.domain.executions.lease import LEASE_DURATION, LEASE_SUSPECT_AFTER
from punctual.domain.executions.timer import SweepPosition, Timer, TimerReason
from punctual.domain.executions.work_order import WorkOrder, work_order_for
from punctual.domain.lane import Lane

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.planning import Timers, WorkQueues
    from punctual.stages.dispatch.start_checks import StartChecks
    from punctual.stages.run.gates import Gatekeeper

EMPTY_BUCKETS_PER_ADVANCE = 60
"""The position is stored at least once per this many empty buckets, so that a sweep after a long outage makes progress
even if it times out."""

INITIAL_LOOKBACK = timedelta(hours=1)
"""How far back the first sweep of a shard starts."""


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """The outcome of one tick."""

    timers_seen: int = 0
    queued: int = 0
    sent_again: int = 0
    """Executions that no worker had claimed a minute after their start."""
    orders_sent: int = 0
    """Takeover orders."""
    behind: timedelta = timedelta()
    """How much later than one tick after the stored position the sweep started; zero for the first sweep of a shard."""


@dataclass(frozen=True)
class Dispatcher:
    executions: Executions
    timers: Timers
    work_queues: WorkQueues
    gatekeeper: Gatekeeper
    start_checks: StartChecks
    shards: int
    clock: Clock

    def tick(self, shard: int) -> SweepReport:
        """Send takeover orders for the shard, check the starts of the last minute, then sweep its timers.

        Safe to run concurrently. Repeating it may send an order twice: only one of them can claim the execution.
        """
        now = self.clock()
        holders = list(self.gatekeeper.repair(shard, self.shards))
        orders = list(self._takeover_orders(chain(self.executions.running(shard), holders), now))
        self.work_queues.send(orders, now)  # before the sweep, which may take long after an outage
        before = self.timers.swept_to(shard)
        # the position moves on only after this check, so that it also tells which due instants were checked
        unclaimed = self.start_checks.check_due(shard, self.shards, before.at - SWEEP_HORIZON if before else None)
        unclaimed += self.start_checks.check_holders(holders)
        swept = self._sweep(shard, before or SweepPosition(at=now - INITIAL_LOOKBACK), until=now + SWEEP_HORIZON)
        behind = max(now + SWEEP_HORIZON - before.at - TICK, timedelta()) if before else timedelta()
        return replace(swept, sent_again=swept.sent_again + unclaimed, orders_sent=len(orders), behind=behind)

    def _sweep(self, shard: int, since: SweepPosition, until: datetime) -> SweepReport:
        swept, empty_buckets = SweepReport(), 0
        if until <= since.at:  # a clock that went back must not move the position back
            return swept
        for timers, reached in self.timers.due(shard, since, until):
            swept = self._examine(timers, swept)
            empty_buckets += not timers
            if (
                timers or empty_buckets % EMPTY_BUCKETS_PER_ADVANCE == 0
            ):  # not after each empty bucket: it costs a write
                self.timers.advance(shard, reached)
        self.timers.advance(shard, SweepPosition(at=until))
        return swept

    def _examine(self, timers: list[Timer], swept: SweepReport) -> SweepReport:
        """Act on a page of timers, and return the report with what was done."""
        starts = [timer for timer in timers if timer.reason is TimerReason.START]
        queued = self.executions.queue_all([timer for timer in timers if timer not in starts], self.clock())
        return replace(
            swept,
            timers_seen=swept.timers_seen + len(timers),
            queued=swept.queued + queued,
            sent_again=swept.sent_again + self.start_checks.check(starts),
        )

    def _takeover_orders(self, found: Iterable[Execution], now: datetime) -> Iterator[WorkOrder]:
        """Yield an order for each execution with a suspect lease, delayed until the lease expires.

        If the worker renews its lease in between, the receiver of the order cannot claim the execution.
        """
        for execution in found:
            if execution.lane is Lane.LONG:  # has no work orders; an outdated index entry may list it
                continue
            if (
                execution.lease_until is not None
                and now - (execution.lease_until - LEASE_DURATION) > LEASE_SUSPECT_AFTER
            ):
                yield work_order_for(execution, max(now, execution.lease_until))
