"""Work: claim an ordered attempt, run it, and settle what came of it.

Whatever happens twice is let through once: the claim compares the attempt's number, and so does the decision. A
worker that dies after the claim leaves a lease behind that lapses; the dispatcher orders the next attempt, and the
dead one's late decision is refused because its number is no longer the execution's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.errors import Fatal
from punctual.domain.executions.attempt_decision import AttemptDecision, AttemptResult, decide
from punctual.domain.executions.execution import Attempt, Execution, Failure, Outcome
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.forecasts.queue_flow import Tally
from punctual.domain.jobs.gate import Entrant, turn_of
from punctual.domain.lane import Priority
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.running import Results, Runner


class Ending(StrEnum):
    """What became of an order."""

    SETTLED = "settled"
    NOT_OURS = "not ours"
    """Someone else runs or ran this attempt, or the execution was withdrawn. Normal, and silent."""
    REFUSED = "refused"
    """The result came after another attempt had taken over."""
    HELD_BACK = "held back"
    """It waits at a gate, or was skipped there."""
    REVOKED = "revoked"
    """It was asked to stop and has not: cancelled, whatever it still does."""
    GIVEN_UP = "given up"
    """The lost attempt was the last that the job allows."""


@dataclass(frozen=True)
class Worker:
    executions: Executions
    results: Results
    runner: Runner
    clock: Clock
    sleep: Callable[[float], None]
    uniform: Callable[[float, float], float]
    worker_id: str
    flow: Tally
    gatekeeper: Gatekeeper

    def work(self, order: WorkOrder, seconds_left: Callable[[], float]) -> Ending:
        """Carry out one order. May be called again with the same one."""
        self._wait_for(order)
        if order.gates and not self._let_in(order):
            self.flow.passed(order.priority)
            return Ending.HELD_BACK
        now = self.clock()
        claimed, standing = self.executions.claim(order, self.worker_id, now)
        if claimed is None and standing is not None and self._to_be_revoked(standing, order):
            self.flow.passed(order.priority)
            return self._revoke(standing, self._given_up(standing))
        if claimed is None and standing is not None and self._lapsed(standing, order):
            if not standing.retry.allows_after(standing.attempt):
                return self._give_up(standing, order.priority)
            claimed = self._take_over(standing, order.priority)
        if claimed is None:
            if standing is None or standing.status in FINAL:  # whoever ended it may have died before it left
                self.gatekeeper.leave(order.execution_id, order.gates)
            self.flow.passed(order.priority)
            return Ending.NOT_OURS
        self.flow.started(order.priority, order.not_before, now, first=order.attempt == 1)
        verdict = self.runner.run(claimed, min(seconds_left(), claimed.timeout_seconds))
        return self._conclude(claimed, verdict, order.priority)

    def _wait_for(self, order: WorkOrder) -> None:
        """Queues count in whole seconds: wait out the rest, so that nothing ever starts early."""
        early = (order.not_before - self.clock()) / timedelta(seconds=1)
        while early > 0:
            self.sleep(early)
            early = (order.not_before - self.clock()) / timedelta(seconds=1)

    def _let_in(self, order: WorkOrder) -> bool:
        turn = turn_of(order.execution_id, order.released_at or order.not_before, order.priority)
        entrant = Entrant(
            execution_id=order.execution_id,
            turn=turn,
            revision=order.revision,
            tried=order.attempt - 1,
            rated=order.rated,
        )
        return self.gatekeeper.acquire(entrant, order.gates)

    def _to_be_revoked(self, standing: Execution, order: WorkOrder) -> bool:
        """It was asked to stop, and its time is up or its worker gone."""
        if standing.status is not Status.RUNNING or standing.cancel_at is None:
            return False
        return standing.cancel_at <= self.clock() or self._lapsed(standing, order)

    def _given_up(self, standing: Execution) -> Attempt:
        return Attempt(
            number=standing.attempt,
            outcome=Outcome.CANCELLED,
            started_at=standing.started_at,
            ended_at=self.clock(),
            worker_id=standing.worker_id,
        )

    def _revoke(self, standing: Execution, attempt: Attempt) -> Ending:
        if not self.executions.revoke(standing, attempt, self.clock()):
            return Ending.NOT_OURS
        self.gatekeeper.leave(standing.execution_id, standing.gates)
        return Ending.REVOKED

    def _lapsed(self, standing: Execution, order: WorkOrder) -> bool:
        return (
            standing.status is Status.RUNNING
            and standing.attempt == order.attempt - 1
            and standing.lease_until is not None
            and standing.lease_until < self.clock()
        )

    def _lost(self, lapsed: Execution) -> Attempt:
        return Attempt(
            number=lapsed.attempt,
            outcome=Outcome.LOST,
            started_at=lapsed.started_at,
            ended_at=self.clock(),
            worker_id=lapsed.worker_id,
            error=_LOST_WORKER,
        )

    def _take_over(self, lapsed: Execution, queue: Priority) -> Execution | None:
        claimed = self.executions.take_over(lapsed, self._lost(lapsed), self.worker_id, self.clock())
        if claimed is not None:
            self.flow.ended(queue, timedelta(), succeeded=False)
        return claimed

    def _give_up(self, lapsed: Execution, queue: Priority) -> Ending:
        verdict = AttemptResult(outcome=Outcome.LOST, error=_LOST_WORKER)
        decision = decide(lapsed, verdict, now=self.clock(), uniform=self.uniform)
        if not self.executions.give_up(lapsed, decision, self.clock()):
            self.flow.passed(queue)
            return Ending.NOT_OURS
        self.gatekeeper.leave(lapsed.execution_id, lapsed.gates)
        self.flow.ended(queue, timedelta(), succeeded=False)
        return Ending.GIVEN_UP

    def _conclude(self, execution: Execution, verdict: AttemptResult, queue: Priority) -> Ending:
        decision = self._settlement(execution, verdict)
        attempt = decision.attempt
        busy = attempt.ended_at - (attempt.started_at or attempt.ended_at)
        self.flow.ended(queue, busy, succeeded=decision.status is Status.SUCCEEDED)
        if self.executions.conclude(execution, decision, self.clock()):
            kept = decision.status is Status.RETRYING  # between attempts it is still the one of its job that runs
            self.gatekeeper.leave(
                execution.execution_id, [gate for gate in execution.gates if not (kept and gate.of_job)]
            )
            return Ending.SETTLED
        standing = self.executions.get(execution.job_id, execution.execution_id)
        if standing is not None and standing.cancel_at is not None and standing.attempt == execution.attempt:
            return self._revoke(standing, replace(attempt, outcome=Outcome.CANCELLED))
        return Ending.REFUSED

    def _settlement(self, execution: Execution, verdict: AttemptResult) -> AttemptDecision:
        """The decision, with the result stored where it belongs. What cannot be stored is a fatal failure."""
        try:
            decision = decide(execution, verdict, now=self.clock(), uniform=self.uniform)
            if decision.status is not Status.SUCCEEDED and verdict.value is None:
                return decision
            # the attempt is part of the name: a late, refused attempt cannot overwrite the result that counts
            name = f"{execution.job_id}/{execution.execution_id}/{execution.attempt}"
            return replace(decision, result=self.results.keep(name, verdict.value))
        except Fatal as error:
            failure = Failure(type="Fatal", message=str(error))
            verdict = AttemptResult(outcome=Outcome.FATAL, error=failure)
            return decide(execution, verdict, now=self.clock(), uniform=self.uniform)


_LOST_WORKER = Failure(
    type="LostWorker", message="the worker stopped renewing its lease: killed, frozen or out of time"
)
