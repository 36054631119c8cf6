"""Planned executions: each is stored together with its start trigger, and both are removed together.

A start trigger is a timer or, in the long lane, an EventBridge schedule. An execution is stored before its trigger. If
the planner dies in between, the redelivered record finds the execution and sets the trigger. Every step is idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import IN_DANGER
from punctual.domain.executions.execution import Execution, LiveExecution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.horizon import PLANNER_HORIZON, SWEEP_HORIZON, StartTrigger, start_trigger
from punctual.domain.executions.timer import TimerReason, timer_for
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.planning.disposal import Disposal
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions, Misfires
    from punctual.ports.long_lane import StateMachines
    from punctual.ports.planning import Timers
    from punctual.stages.plan.upstreams import UpstreamGuard

    Remove = Callable[[LiveExecution, str, datetime], bool]


@dataclass(frozen=True)
class PlannedExecutions:
    executions: Executions
    misfire_records: Misfires
    timers: Timers
    machines: StateMachines
    upstream_guard: UpstreamGuard
    clock: Clock

    def store(self, execution: Execution, job: Job) -> Execution | None:
        """Store an execution, with a timer or EventBridge schedule if it is not queued yet.

        Return ``None`` if the execution was added or replaced an earlier revision. Otherwise return the existing one,
        after setting its timer or queueing it, because an earlier call may have crashed before that. Raises
        ``JobChanged`` for a misfire if the job has changed.
        """
        records = self.misfire_records.of(job) if execution.status in FINAL else self.executions
        existing = records.add(execution)
        if existing is not None and existing.revision < execution.revision:
            execution = _with_previous_outlook(execution, existing)
        if existing is not None and existing.revision < execution.revision and records.replace(execution):
            if existing.lane is Lane.LONG and (execution.lane is not Lane.LONG or execution.has_pending_upstreams):
                self.machines.delete_schedule(execution.execution_id)
            existing = None
        planned = existing or execution  # the existing execution has this or a later revision, or has started
        if planned.status is not Status.SCHEDULED:
            return existing
        match start_trigger(planned, self.clock()):
            case StartTrigger.NOW:
                self.executions.queue(
                    timer_for(planned.execution_id, planned.earliest_start, TimerReason.DUE), self.clock()
                )
            case StartTrigger.SCHEDULE:
                self.machines.create_schedule(planned)
            case StartTrigger.TIMER:
                self.set_timer(planned, planned.earliest_start, TimerReason.DUE)
        return existing

    def set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Set a timer. If the sweep may pass its instant before it can see the timer, queue the execution at once.

        That is the case when less than half of the margin between the two horizons is left.
        """
        timer = timer_for(execution.execution_id, at, reason)
        self.timers.set(timer)
        if at <= self.clock() + (SWEEP_HORIZON + PLANNER_HORIZON) / 2:
            self.executions.queue(timer, self.clock())

    def dispose(
        self, job: Job, one: LiveExecution, disposal: Disposal, reason: str, remove: Remove | None = None
    ) -> None:
        """Skip or remove an execution that has not started; other disposals change nothing."""
        if disposal is Disposal.SKIP:
            self.executions.skip(job.job_id, one.execution_id, reason, self.clock())
        elif disposal is Disposal.REMOVE and (remove or self.executions.remove_planned)(one, reason, self.clock()):
            if one.lane is Lane.LONG:  # a state machine run that has started finds the execution gone when it is due
                self.machines.delete_schedule(one.execution_id)
            if job.is_upstream:
                self.upstream_guard.upstream_removed(one.execution_id)

    def queue_deferred(self, job: Job, paused_at: datetime) -> None:
        """Queue the messages that a pause has deferred, oldest first. Idempotent."""
        live = self.executions.live_of(job.job_id, since=job.waiting_since(paused_at))
        deferred = sorted((one for one in live if one.is_deferred), key=lambda one: one.scheduled_at)
        timers = (timer_for(one.execution_id, one.scheduled_at, TimerReason.DUE) for one in deferred)
        self.executions.queue_all(timers, self.clock())

    def record_skipped(self, job: Job, instants: Iterable[datetime], reason: str) -> None:
        """Store a ``skipped`` execution for each instant that came due under earlier rules and was not planned."""
        now = self.clock()
        for due in instants:
            skipped = execution_of(job, due, status=Status.SKIPPED, now=now)
            self.executions.add(replace(skipped, reason=reason, ended_at=now, check_at=None))


def _with_previous_outlook(execution: Execution, replaced: Execution) -> Execution:
    """Carry over the outlook of a replaced execution in danger, so that the same danger triggers no second notice.

    Its recovery then triggers a notice, too.
    """
    in_danger = replaced.outlook is not None and replaced.outlook.state in IN_DANGER
    return replace(execution, outlook=replaced.outlook) if in_danger and execution.deadline_at else execution
