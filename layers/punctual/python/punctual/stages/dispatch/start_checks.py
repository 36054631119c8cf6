"""Start checks: send an execution again that came due a minute ago, if no worker has claimed it.

The dispatcher does not send the order itself. It marks the execution, and the stream lets the planner send it: the
planner checks the job first, and sets a timer for the next check. A repeated order is harmless, because only one worker
wins the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.executions.start_check import (
    CHECKED_SINCE,
    MAX_QUEUE_LENGTH,
    UNCLAIMED_AFTER,
    is_unchecked,
    is_unclaimed,
)
from punctual.domain.executions.timer import Timer
from punctual.domain.executions.work_order import work_order_for

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution
    from punctual.domain.lane import Priority
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Owners
    from punctual.ports.planning import WorkQueues


@dataclass(frozen=True)
class StartChecks:
    executions: Executions
    owners: Owners
    work_queues: WorkQueues
    clock: Clock

    def check_due(self, share: int, shares: int, checked_to: datetime | None) -> int:
        """Check one of ``shares`` shares of the executions that came due since the last check. Idempotent.

        ``checked_to`` is the instant of that check, if it is known. Returns how many executions are sent again.
        """
        now = self.clock()
        since = max(checked_to, now - CHECKED_SINCE) if checked_to else now - CHECKED_SINCE
        return self._send_again(self._came_due(since - UNCLAIMED_AFTER, now - UNCLAIMED_AFTER, share, shares))

    def check(self, timers: Iterable[Timer]) -> int:
        """Check the executions of timers, and return how many of them are sent again. Idempotent."""
        ids = [timer.execution_id for timer in timers]
        return self._send_again(self.executions.read_many(ids).values()) if ids else 0

    def check_holders(self, holders: Iterable[Execution]) -> int:
        """Check holders of a gate whose order the planner may never have sent. Idempotent."""
        return self._send_again(one for one in holders if is_unchecked(one, self.clock()))

    def _came_due(self, since: datetime, until: datetime, share: int, shares: int) -> Iterator[Execution]:
        for owner in self.owners.owners():
            yield from self.executions.due_between(owner, since, until, share, shares)

    def _send_again(self, found: Iterable[Execution]) -> int:
        """Mark the unclaimed ones as sent again, unless their queue is long: then they wait for a free worker."""
        marked = 0
        room: dict[Priority, int] = {}
        for one in found:
            now = self.clock()
            if not is_unclaimed(one, now):
                continue
            priority = work_order_for(one, now).priority
            if priority not in room:
                room[priority] = MAX_QUEUE_LENGTH - self.work_queues.length(priority)
            if room[priority] > 0:
                is_marked = self.executions.send_again(one, now)
                room[priority] -= is_marked
                marked += is_marked
        return marked
