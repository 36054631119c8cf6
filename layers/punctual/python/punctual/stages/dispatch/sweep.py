"""Dispatch: once a minute, queue executions that are due soon, and replace dead workers.

The ticks of a minute share the shards in use. A sweep of a shard starts at the position where the last one ended. It
reads the timers up to the sweep horizon, and moves their executions from ``scheduled``, ``retrying`` or ``waiting`` to
``queued``; the planner then sends their work orders. The position is stored after each page that has timers: a crash
repeats at most one such page, and the next tick catches up on a missed one. Concurrent sweeps are harmless, because
queueing an execution that is queued already changes nothing.
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
from punctual.domain.shards import swept_since

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.planning import Timers, WorkQueues
    from punctual.ports.shards import Shards
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
    """How much later than one tick after the stored position the sweep started: the largest of the shards; zero for the
    first sweep of a shard."""


@dataclass(frozen=True)
class Dispatcher:
    executions: Executions
    timers: Timers
    work_queues: WorkQueues
    gatekeeper: Gatekeeper
    start_checks: StartChecks
    shards: Shards
    clock: Clock

    def tick(self, tick: int, ticks: int) -> SweepReport:
        """One of the ``ticks`` of a minute: replace dead workers, check the last starts, and sweep its shards.

        Its shards are every ``ticks``-th of those in use. Safe to run concurrently, also with ticks of another number.
        Repeating it may send an order twice: only one of them can claim the execution.
        """
        now, numbers = self.clock(), self.shards.numbers(consistent=True)
        mine = range(tick, max([ticks, *numbers]), ticks)
        holders = list(self.gatekeeper.repair(tick, ticks))
        running = chain.from_iterable(map(self.executions.running, mine))
        orders = list(self._takeover_orders(chain(running, holders), now))
        self.work_queues.send(orders, now)  # before the sweep, which may take long after an outage
        # the position moves on only after this check, so that it also tells which due instants were checked
        own = self.timers.swept_to(tick)
        checked_to = own.at - SWEEP_HORIZON if own and own.ticks == ticks else None
        unclaimed = self.start_checks.check_due(tick, ticks, checked_to) + self.start_checks.check_holders(holders)
        report = SweepReport(sent_again=unclaimed, orders_sent=len(orders))
        for shard in mine:
            to = SweepPosition(at=now + SWEEP_HORIZON, ticks=ticks if shard == tick else None)
            report = self._sweep(shard, to, swept_since(shard, numbers), report)
        return report

    def _sweep(self, shard: int, to: SweepPosition, since: datetime | None, report: SweepReport) -> SweepReport:
        """Sweep one shard, in which no timer is due before ``since``, and return the report with what was done."""
        before, empty_buckets = self.timers.swept_to(shard), 0
        if before is not None and since is not None and before.at < since:  # recorded when it was last in use
            before = None
        start = before or SweepPosition(at=since or to.at - SWEEP_HORIZON - INITIAL_LOOKBACK)
        if to.at <= start.at:  # a clock that went back must not move the position back
            return report
        behind = max(to.at - start.at - TICK, report.behind) if before else report.behind
        for timers, reached in self.timers.due(shard, start, to.at):
            report = self._examine(timers, report)
            empty_buckets += not timers
            if (
                timers or empty_buckets % EMPTY_BUCKETS_PER_ADVANCE == 0
            ):  # not after each empty bucket: it costs a write
                self.timers.advance(shard, replace(reached, ticks=to.ticks))
        self.timers.advance(shard, to)
        return replace(report, behind=behind)

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

        If the worker renews its lease in between, the receiver of the order cannot claim the execution. Executions of
        the long lane have no lease: their parts do.
        """
        for execution in found:
            if (
                execution.lease_until is not None
                and now - (execution.lease_until - LEASE_DURATION) > LEASE_SUSPECT_AFTER
            ):
                yield work_order_for(execution, max(now, execution.lease_until))
