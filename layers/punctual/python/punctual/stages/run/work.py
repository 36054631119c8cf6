"""Work: claim the attempt of a work order, run it, and store the decision on it.

Transitions: the claim moves ``queued`` or ``retrying`` to ``running``, and the decision moves ``running``
to ``succeeded``, ``failed``, ``timed_out``, ``retrying`` or ``cancelled``. After a lease has expired, a takeover moves
``running`` to ``running`` with the next attempt; if no attempt is left, ``give_up`` moves it to ``failed``. If a
cancellation was requested, ``revoke`` moves ``running`` to ``cancelled``. Before the claim, a full gate makes the
execution ``waiting`` or ``skipped``, and a rate limit postpones its start.

Work orders are delivered at least once, but each attempt runs at most once: its number is a fencing token that both the
claim and the decision compare. If a worker dies after the claim, the dispatcher notices that the lease was not renewed
for 12 seconds and sends an order for the next attempt, delayed until the lease expires. The worker that receives it
takes over. A late decision of the first worker is refused, because its attempt number is no longer current.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.executions.attempt_decision import (
    AttemptDecision,
    AttemptResult,
    decide,
    decide_and_store,
    decide_lost_worker,
    decide_revocation,
)
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.forecasts.queue_flow import FlowCounter
from punctual.domain.jobs.gate import Entrant, claim_number, queue_key
from punctual.domain.lane import Priority
from punctual.domain.redelivery import redelivery_delay
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.running import AttemptRunner, Results
    from punctual.stages.run.gates import Gatekeeper


class WorkOutcome(StrEnum):
    """The outcome of a work order. The value is logged."""

    DECIDED = "attempt finished"
    NOT_CLAIMED = "not claimed"
    """The order is a duplicate or obsolete: the attempt was claimed elsewhere, the job was edited, the retry is not
    due, or the execution has ended. Not an error."""
    REFUSED = "decision refused"
    """The attempt ended after another worker had taken over or ended the execution."""
    DENIED = "denied at a gate"
    """The execution waits at a gate, was postponed by a rate limit, or was skipped there."""
    REVOKED = "lease revoked"
    """A cancellation was requested, and the attempt did not end with an accepted decision. The execution is cancelled,
    even if its task still runs."""
    EXHAUSTED = "attempts exhausted"
    """The lease expired in the last attempt that the job's retry policy allows."""


MIN_REDELIVERY, MAX_REDELIVERY = timedelta(seconds=5), timedelta(seconds=600)
"""Bounds of the backoff of a work order that failed because AWS itself has problems."""


@dataclass(frozen=True)
class Worker:
    executions: Executions
    results: Results
    runner: AttemptRunner
    clock: Clock
    sleep: Callable[[float], None]
    uniform: Callable[[float, float], float]
    worker_id: str
    flow: FlowCounter
    gatekeeper: Gatekeeper

    def work(self, order: WorkOrder, seconds_left: Callable[[], float]) -> WorkOutcome:
        """Carry out one work order. A duplicate order runs no task; it may sleep, and acquire and give back gates.

        ``seconds_left`` limits the task in addition to the execution's own timeout. Raises on AWS errors and
        ``GateContention``; SQS then redelivers the message.
        """
        self._wait_until_due(order)
        if order.takes_over:
            return self._replace_worker(order, seconds_left)
        entrant = _entrant(order)
        if order.gates and not self.gatekeeper.acquire(entrant, order.gates):
            self.flow.count_discard(order.priority)
            return WorkOutcome.DENIED
        now = self.clock()
        claimed, current = self.executions.claim(order, self.worker_id, now)
        if claimed is None:
            self.gatekeeper.give_back(entrant, order.gates, current)
            self.flow.count_discard(order.priority)
            return WorkOutcome.NOT_CLAIMED
        self.flow.count_start(order.priority, order.not_before, now, first=order.attempt == 1)
        return self._run(claimed, order.priority, seconds_left)

    def _replace_worker(self, order: WorkOrder, seconds_left: Callable[[], float]) -> WorkOutcome:
        """Revoke the lease of a running execution that was asked to stop, or take over after its lease has expired."""
        current = self.executions.get(order.job_id, order.execution_id)
        if current is not None and self._is_to_be_revoked(current, order):
            self.flow.count_discard(order.priority)
            return self._revoke(current, decide_revocation(current, now=self.clock()))
        claimed = None
        if current is not None and self._may_take_over(current, order):
            now = self.clock()
            decision = decide_lost_worker(current, now=now, uniform=self.uniform)
            if decision.status is not Status.RETRYING:
                return self._give_up(current, decision, order.priority)
            claimed = self.executions.take_over(current, decision.attempt, self.worker_id, now)
        if claimed is None:
            self.flow.count_discard(order.priority)
            return WorkOutcome.NOT_CLAIMED
        self.flow.count_end(order.priority, timedelta(), succeeded=False)
        self.flow.count_start(order.priority, order.not_before, self.clock(), first=False)
        return self._run(claimed, order.priority, seconds_left)

    def _run(self, claimed: Execution, queue: Priority, seconds_left: Callable[[], float]) -> WorkOutcome:
        result = self.runner.run(claimed, min(seconds_left(), claimed.timeout_seconds))
        return self._conclude(claimed, result, queue)

    def _wait_until_due(self, order: WorkOrder) -> None:
        """Wait if the order is early: SQS delays are whole seconds, and no task may start before its due instant."""
        early = (order.not_before - self.clock()) / timedelta(seconds=1)
        while early > 0:
            self.sleep(early)
            early = (order.not_before - self.clock()) / timedelta(seconds=1)

    def _is_to_be_revoked(self, current: Execution, order: WorkOrder) -> bool:
        """Whether a running execution was asked to stop and its grace period is over or its lease has expired."""
        if current.status is not Status.RUNNING or current.cancel_at is None:
            return False
        return current.cancel_at <= self.clock() or self._may_take_over(current, order)

    def _revoke(self, current: Execution, decision: AttemptDecision) -> WorkOutcome:
        if not self.executions.revoke(current, decision, self.clock()):
            return WorkOutcome.NOT_CLAIMED
        self.gatekeeper.release(current.execution_id, current.gates)
        return WorkOutcome.REVOKED

    def _may_take_over(self, current: Execution, order: WorkOrder) -> bool:
        return (
            current.status is Status.RUNNING
            and current.attempt == order.attempt - 1
            and current.lease_until is not None
            and current.lease_until < self.clock()
        )

    def _give_up(self, expired: Execution, decision: AttemptDecision, queue: Priority) -> WorkOutcome:
        if not self.executions.give_up(expired, decision, self.clock()):
            self.flow.count_discard(queue)
            return WorkOutcome.NOT_CLAIMED
        self.gatekeeper.release(expired.execution_id, expired.gates)
        self.flow.count_end(queue, timedelta(), succeeded=False)
        return WorkOutcome.EXHAUSTED

    def _conclude(self, execution: Execution, attempt_result: AttemptResult, queue: Priority) -> WorkOutcome:
        decision = self._decide(execution, attempt_result)
        attempt = decision.attempt
        busy = attempt.ended_at - (attempt.started_at or attempt.ended_at)
        self.flow.count_end(queue, busy, succeeded=decision.status is Status.SUCCEEDED)
        if self.executions.conclude(execution, decision, self.clock()):
            if decision.status is Status.RETRYING:  # it keeps the gate of its job between attempts
                shared = [gate for gate in execution.gates if not gate.of_job]
                claimed = claim_number(execution.revision, execution.attempt)
                self.gatekeeper.release(execution.execution_id, shared, claimed)
            else:
                self.gatekeeper.release(execution.execution_id, execution.gates)
            return WorkOutcome.DECIDED
        current = self.executions.get(execution.job_id, execution.execution_id)
        if current is not None and current.cancel_at is not None and current.attempt == execution.attempt:
            return self._revoke(current, decide_revocation(current, now=attempt.ended_at, error=attempt.error))
        return WorkOutcome.REFUSED

    def _decide(self, execution: Execution, attempt_result: AttemptResult) -> AttemptDecision:
        # the attempt number in the name keeps a late, refused attempt from overwriting the valid result
        name = f"{execution.job_id}/{execution.execution_id}/{execution.attempt}"
        now = self.clock()
        return decide_and_store(
            execution,
            attempt_result,
            now,
            decision_on=lambda result: decide(execution, result, now=now, uniform=self.uniform),
            store=lambda value: self.results.store(name, value),
        )


def delay_of_failed_order(deliveries: int) -> timedelta:
    """Return the time until a work order that raised an error is delivered again."""
    return redelivery_delay(deliveries, MIN_REDELIVERY, MAX_REDELIVERY)


def _entrant(order: WorkOrder) -> Entrant:
    return Entrant(
        execution_id=order.execution_id,
        turn=queue_key(order.execution_id, order.earliest_start or order.not_before, order.priority),
        attempt=order.attempt,
        revision=order.revision,
        reserved_start=order.reserved_start,
    )
