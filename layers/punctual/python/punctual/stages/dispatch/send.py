"""Forward: send executions on their way: to a queue, into a state machine, or back to a timer.

Driven by streams, as ``plan`` is, and each step may come again:

* an execution became ``queued`` → its order is sent, or in the long lane its state machine started, so is the first
  look at its deadline if it has one; if it leads, its successors are planned; what came too late is left out;
* an execution became ``retrying`` → the order for its next attempt is sent, or a timer set for it;
* a running one was asked to stop → the order that will revoke its lease is sent;
* a timer was removed by TTL → what it should have set in motion is checked (the dead man's switch).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution, Origin, Planned
from punctual.domain.executions.horizon import LONGEST_DELAY
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.executions.work_order import WorkOrder, work_order_for
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import GONE, OLD, Job, JobState
from punctual.domain.jobs.misfire import covered_words, missed_words
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Upstreams
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import StateMachines
    from punctual.ports.monitoring import Checks
    from punctual.ports.planning import Lanes, Plan


@dataclass(frozen=True)
class Forwarder:
    plan: Plan
    jobs: Jobs
    executions: Executions
    lanes: Lanes
    machines: StateMachines
    checks: Checks
    gatekeeper: Gatekeeper
    upstreams: Upstreams
    clock: Clock

    def executions_ready(
        self,
        *,
        planned: Iterable[Execution] = (),
        came_due: Iterable[Execution] = (),
        again: Iterable[Execution] = (),
    ) -> None:
        """Executions became ``queued`` or ``retrying``: send them on their way, and plan what follows them.

        ``planned`` were stored, or replaced by an edit, as that; ``came_due`` were ``scheduled`` before, and may have
        been left out or cancelled, too: then they only lead on. Nothing follows those that are queued ``again``.
        """
        planned, came_due, again = list(planned), list(came_due), list(again)
        jobs = self.jobs.get_many({one.job_id for one in [*planned, *came_due, *again]})
        ready = [one for one in [*planned, *again] if self._still_wanted(one, jobs.get(one.job_id))]
        for one in came_due:
            if self._still_wanted(one, jobs.get(one.job_id)) and not self._left_out(one, jobs[one.job_id]):
                ready.append(one)
        self._note_old(ready)
        self._send([one for one in ready if one.status not in FINAL])
        for leader in [*planned, *came_due]:
            job = jobs.get(leader.job_id)
            if leader.leads and leader.attempt == 0 and job is not None and job.state is JobState.ACTIVE:
                self.plan.lead_on(job, leader)

    def asked_to_stop(self, executions: Iterable[Execution]) -> None:
        """Whoever gets this order revokes the lease of what has not stopped by then. A long one is the settler's."""
        orders = [work_order_for(one, one.cancel_at) for one in executions if one.cancel_at and one.lane is Lane.SHORT]
        self.lanes.send(orders, self.clock())

    def timer_expired(self, timer: Timer) -> None:
        """TTL removed a timer long after its instant. Whatever should have happened by then and did not, happens now.

        Every recurring job has a timer for the execution that leads, so this also finds a chain that broke.
        """
        if self.executions.queue(timer, self.clock()):
            return
        execution = self.executions.get(timer.job_id, timer.execution_id)
        if execution is not None and execution.status is Status.QUEUED:
            self.executions_ready(came_due=[execution])
        elif execution is not None and execution.leads:
            self.plan.mend_chain(execution)

    def _note_old(self, ready: Iterable[Execution]) -> None:
        """What rests for long is found by that, should its job be paused or deleted meanwhile."""
        for one in ready:
            if one.retry_at is not None and one.retry_at - one.scheduled_at > OLD:
                self.jobs.note_old(one.job_id, one.scheduled_at)

    def _send(self, ready: list[Execution]) -> None:
        free = [execution for execution in ready if not execution.held or self.upstreams.let_through(execution)]
        free = [execution for execution in free if self.gatekeeper.is_its_turn(execution)]
        short = [execution for execution in free if execution.lane is Lane.SHORT]
        self.lanes.send(filter(None, map(self._order, short)), self.clock())
        self.checks.send(filter(None, map(self._first_look, ready)), self.clock())
        for execution in free:
            if execution.lane is Lane.LONG and execution.status is Status.QUEUED and execution.run_arn is None:
                self.machines.start(execution)

    def _still_wanted(self, execution: Execution, job: Job | None) -> bool:
        """Withdraws what was planned for a job that has since been paused, cancelled or deleted."""
        if job is None or job.state in GONE:
            self.plan.stop(execution.job_id, execution.execution_id, f"job {job.state if job else 'deleted'}")
            return False
        return job.state is not JobState.PAUSED or not self.plan.hold_back(job, _as_planned(execution))

    def _left_out(self, execution: Execution, job: Job) -> bool:
        """Whether one that comes too late is not to run: its job's misfire rule decides."""
        planned = execution.origin is Origin.SCHEDULE and execution.status is Status.QUEUED and execution.attempt == 0
        if not planned or execution.run_arn is not None:
            return False
        now = execution.queued_at or self.clock()
        sorted_out = job.misfire.sort_out(
            [execution.scheduled_at],
            job.schedule,
            now,
            job.resumed_at,
            withdrawn=partial(self.executions.withdrawn, job.job_id),
        )
        if sorted_out.covered and sorted_out.covered_by:
            cover = execution_id(job.job_id, sorted_out.covered_by)
            return self.executions.skip(job.job_id, execution.execution_id, covered_words(cover), self.clock(), cover)
        return bool(sorted_out.missed) and self.executions.miss(
            job.job_id, execution.execution_id, missed_words(job.misfire), self.clock()
        )

    def _first_look(self, execution: Execution) -> Check | None:
        """The first look at its deadline, if that is near: the monitor sends what is due later, and what gets lost."""
        if execution.check_at is None or execution.check_at > self.clock() + LONGEST_DELAY:
            return None
        return Check(job_id=execution.job_id, execution_id=execution.execution_id, at=execution.check_at)

    def _order(self, execution: Execution) -> WorkOrder | None:
        """The order for the next attempt, or ``None`` after a timer was set for it."""
        not_before = execution.retry_at or execution.released_at
        if not_before <= self.clock() + LONGEST_DELAY:
            return work_order_for(execution, not_before, self.clock())
        self.plan.set_timer(execution, not_before, TimerReason.RETRY)
        return None


def _as_planned(execution: Execution) -> Planned:
    return Planned(
        execution.execution_id,
        execution.scheduled_at,
        execution.revision,
        execution.status,
        execution.attempt,
        execution.origin,
        execution.queued_at,
        execution.lane,
    )
