"""Wake dependants: when an execution has ended, release or skip the executions that waited for it.

The other half of the protocol, and the reason why no wake-up is lost, is in ``punctual.stages.plan.upstreams``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.planning.upstreams import Readiness, counted, decide_start
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Dependants, HeldExecutions
    from punctual.stages.plan.upstreams import UpstreamLookup

WAKE_BATCH_SIZE = 100
"""Dependants that are read together when an upstream has ended."""


@dataclass(frozen=True)
class DependantWaker:
    """Releases, skips or rechecks the dependants of an execution that has ended."""

    lookup: UpstreamLookup
    executions: HeldExecutions
    dependants: Dependants
    clock: Clock

    def execution_ended(self, ended: Execution) -> None:
        """Wake the registered dependants. Idempotent; no effect on an execution that has not ended."""
        if not ended.is_upstream or ended.status not in FINAL:
            return
        registered = self.dependants.of(ended.execution_id)
        while some := list(islice(registered, WAKE_BATCH_SIZE)):
            self._wake(self.executions.read_many(some).values(), ended)

    def _wake(self, dependants: Iterable[Execution], ended: Execution) -> None:
        held = [
            one for one in dependants if one.has_pending_upstreams and one.status in (Status.QUEUED, Status.WAITING)
        ]
        for dependant, upstreams in zip(held, self.lookup.of(held), strict=True):
            decision, now = decide_start(upstreams, self.clock()), self.clock()
            if decision.readiness is Readiness.READY:
                self.executions.release(dependant, counted(upstreams), now)
            elif decision.readiness is Readiness.NEVER:
                self.executions.skip_held(dependant, decision.reason, now)
            elif ended.execution_id not in [one.execution_id for one in upstreams]:
                # the dependant waits for another execution: an edit replaced this one, or an operator retried it
                self.executions.recheck(dependant, now)
