"""Send: hand executions over to a work queue, to a state machine, or back to a timer.

The sender reacts to stream records, like the planner:

* an execution became ``queued``: its work order is sent (in the long lane: its state machine is started), and so is the
  first check of its deadline, if it has one. A misfire is skipped or missed instead. If the execution leads, its
  successors are planned;
* an execution became ``retrying``: the work order for its next attempt is sent, or a timer is set for it;
* no worker has claimed an execution whose order was sent (``start_checks.py``): it is sent again;
* a running execution was asked to stop: the work order that revokes its lease is sent;
* DynamoDB TTL removed a timer: the execution is checked, as the sweep may have missed it.

Streams deliver at least once, so each step may run twice, late or after a crash; every step is idempotent. A duplicate
work order is harmless, because only one worker wins the claim of an attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution, Origin, as_live
from punctual.domain.executions.horizon import MAX_SQS_DELAY
from punctual.domain.executions.start_check import start_check
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.executions.work_order import WorkOrder, work_order_for
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.jobs.job import LONG_DELAY, REMOVED_STATES, Job, JobState
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status
from punctual.domain.triggers import Effect

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import StateMachines
    from punctual.ports.monitoring import Checks
    from punctual.ports.planning import WorkQueues
    from punctual.stages.plan.plan import Planner
    from punctual.stages.plan.planned_executions import PlannedExecutions
    from punctual.stages.plan.upstreams import UpstreamGuard


@dataclass(frozen=True)
class ExecutionSender:
    planner: Planner
    planned: PlannedExecutions
    jobs: Jobs
    executions: Executions
    work_queues: WorkQueues
    machines: StateMachines
    checks: Checks
    upstream_guard: UpstreamGuard
    clock: Clock

    def executions_ready(self, by_effect: Mapping[Effect, Sequence[Execution]]) -> None:
        """Send executions that became ``queued`` or ``retrying``, and plan the successors of leaders. Idempotent.

        An execution can have been skipped, missed or cancelled instead: then only its successors are planned.
        Executions that are sent again plan no successors. Raises if a work queue rejects an order, and ``JobChanged``;
        the stream then delivers the batch again.
        """
        planned, came_due = by_effect.get(Effect.SEND_PLANNED, ()), by_effect.get(Effect.SEND_DUE, ())
        again = by_effect.get(Effect.SEND_AGAIN, ())
        jobs = self.jobs.get_many({one.job_id for one in [*planned, *came_due, *again]})
        ready = [one for one in [*planned, *again] if self._is_allowed_by_job(one, jobs.get(one.job_id))]
        for one in came_due:
            if self._is_allowed_by_job(one, jobs.get(one.job_id)) and not self._apply_misfire(one, jobs[one.job_id]):
                ready.append(one)
        self._record_old_instants(ready)
        self._send([one for one in ready if one.status not in FINAL])
        for leader in [*planned, *came_due]:
            job = jobs.get(leader.job_id)
            if job is None or not leader.is_leader or leader.attempt:
                continue
            if job.state is JobState.ACTIVE:
                self.planner.plan_successors(job, leader)
            else:  # an earlier call may have died after it stored successors, before it read the job again
                self.planner.job_changed(job)

    def stop_requested(self, executions: Iterable[Execution]) -> None:
        """Send a work order for ``cancel_at`` of each running execution of the short lane. Idempotent.

        The worker that receives it revokes the lease if the execution is still running. In the long lane the settler
        stops the containers.
        """
        orders = [work_order_for(one, one.cancel_at) for one in executions if one.cancel_at and one.lane is Lane.SHORT]
        self.work_queues.send(orders, self.clock())

    def timer_expired(self, timer: Timer) -> None:
        """Queue or send the execution of a timer that DynamoDB TTL removed, if that did not happen in time. Idempotent.

        TTL removes a timer long after its instant. Every recurring job has a timer for its leader, so this also repairs
        a chain whose successors were never planned. By then SQS has delivered a message again whose start a timer was
        to check.
        """
        if timer.reason is TimerReason.START or self.executions.queue(timer, self.clock()):
            return
        execution = self.executions.get(timer.job_id, timer.execution_id)
        if execution is not None and execution.status is Status.QUEUED:
            self.executions_ready({Effect.SEND_DUE: [execution]})
        elif execution is not None and execution.is_leader:
            self.planner.repair_chain(execution)

    def _record_old_instants(self, ready: Iterable[Execution]) -> None:
        """Record the due instant of an execution whose retry backoff is long.

        Otherwise the planner would not find the execution when its job is paused or deleted meanwhile.
        """
        for one in ready:
            if one.retry_at is not None and one.retry_at - one.scheduled_at > LONG_DELAY:
                self.jobs.extend_live_since(one.job_id, one.scheduled_at)

    def _send(self, ready: list[Execution]) -> None:
        free = [
            execution
            for execution in ready
            if not execution.has_pending_upstreams or self.upstream_guard.try_clear(execution)
        ]
        short = [execution for execution in free if execution.lane is Lane.SHORT]
        # the timers of the start checks are set before any order is sent: should a send fail for good, they remain
        orders = [order for execution in short if (order := self._work_order(execution))]
        self.work_queues.send(orders, self.clock())
        self.checks.send(filter(None, map(self._first_check, ready)), self.clock())
        for execution in free:
            if execution.lane is Lane.LONG and execution.status is Status.QUEUED and execution.run_arn is None:
                self.machines.start(execution)

    def _is_allowed_by_job(self, execution: Execution, job: Job | None) -> bool:
        """Whether the job as it is now lets the execution run; if not, stop, skip, replace or remove the execution."""
        if job is None or job.state in REMOVED_STATES:
            self.planner.stop(execution.job_id, execution.execution_id, f"job {job.state if job else 'deleted'}")
            return False
        if job.state is JobState.PAUSED:
            return not self.planner.apply_pause(job, as_live(execution))
        return not self.planner.replace_outdated(job, execution)

    def _apply_misfire(self, execution: Execution, job: Job) -> bool:
        """Apply the job's misfire policy to a late execution and return whether it was skipped or missed."""
        is_planned = (
            execution.origin is Origin.SCHEDULE and execution.status is Status.QUEUED and execution.attempt == 0
        )
        if not is_planned or execution.may_have_parts:
            return False
        now = execution.queued_at or self.clock()
        decision = job.misfire.decide(
            [execution.scheduled_at],
            job.schedule,
            now,
            job.resumed_at,
            was_cancelled=partial(self.executions.was_cancelled, job.job_id),
        )
        ending = decision.ending_of(job.job_id, execution.scheduled_at)
        return ending is not None and self.planner.misfire_records.of(job).end(execution, ending, self.clock())

    def _first_check(self, execution: Execution) -> Check | None:
        """Return the first deadline check if it is near. The monitor sends later checks, and checks that were lost."""
        if execution.check_at is None or execution.check_at > self.clock() + MAX_SQS_DELAY:
            return None
        return Check(job_id=execution.job_id, execution_id=execution.execution_id, at=execution.check_at)

    def _work_order(self, execution: Execution) -> WorkOrder | None:
        """Return the work order for the next attempt; ``None`` if it is so far ahead that a timer was set for it."""
        not_before, now = execution.retry_at or execution.earliest_start, self.clock()
        if not_before <= now + MAX_SQS_DELAY:
            if check := start_check(execution, not_before, now):
                self.planned.timers.set(check)
            return work_order_for(execution, not_before, now)
        self.planned.set_timer(execution, not_before, TimerReason.RETRY)
        return None
