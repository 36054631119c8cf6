"""Reconcile: every half hour, compare the records of the long lane with what runs in AWS, and repair the differences.

In normal operation it finds nothing. It repairs what no event reports: a schedule that an operator deleted, a state
machine run that was stopped, a container whose end ECS did not report, an occupancy record that was edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import NotFound
from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.executions.horizon import StartTrigger, start_trigger
from punctual.domain.identity import job_of, short_name
from punctual.domain.lane import Lane
from punctual.domain.long_lane.container_death import STOPPED
from punctual.domain.long_lane.laxity import Occupancy
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.part_decision import decide_part
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import (
        Callbacks,
        InspectableContainers,
        LongExecutions,
        Parts,
        RecountableSlots,
        StateMachines,
    )

GRACE = timedelta(minutes=2)
"""An execution queued less than this ago is not restarted: lists and indexes are eventually consistent."""
RUN_STOPPED = "its state machine run stopped"
RESTARTING = "restarting: the state machine run stopped"
STARTING_LATE = "starting: no state machine run was attached"
STARTING_UNSCHEDULED = "starting: its one-time schedule or timer was missing"
RECOUNT_DELAY_SECONDS = 5.0
"""Delay between the two counts: the index of slot holders is eventually consistent."""


@dataclass
class Repairs:
    """The repairs made, by execution or part."""

    scheduled: list[str] = field(default_factory=list)
    unscheduled: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    containers_gone: list[str] = field(default_factory=list)
    recounted: bool = False


@dataclass(frozen=True)
class Reconciler:
    executions: LongExecutions
    parts: Parts
    slots: RecountableSlots
    machines: StateMachines
    containers: InspectableContainers
    callbacks: Callbacks
    clock: Clock
    sleep: Callable[[float], None]
    uniform: Callable[[float, float], float]

    def reconcile(self, *, grace: timedelta = GRACE) -> Repairs:
        """Repair schedules, state machine runs, containers and the occupancy record. Idempotent.

        An execution queued less than ``grace`` ago is not restarted.
        """
        repairs = Repairs()
        scheduled = set(
            self.machines.scheduled()
        )  # read before the executions: an execution is stored before its schedule
        live = list(self.executions.live_long())
        running = set(self.machines.running())  # read after the executions: a run is started before it is attached
        for execution in live:
            if execution.has_pending_upstreams and (
                execution.status is not Status.SCHEDULED or self._is_not_overdue(execution, grace)
            ):
                continue  # it has no schedule: a timer queues it when it is due, and the end of its upstreams starts it
            if execution.status is Status.WAITING and execution.waits_at is not None:
                continue  # queued at a gate: it has no state machine run
            if execution.is_deferred:
                continue  # the resume of its job queues it
            if execution.status is Status.SCHEDULED:
                self._repair_schedule(execution, scheduled, repairs)
            elif self.clock() - _queued_or_due_at(execution) > grace and (
                execution.run_arn not in running or self._is_stuck(execution, grace)
            ):
                self._restart(execution, repairs)
        self._delete_orphaned_schedules(scheduled, {short_name(one.execution_id) for one in live}, repairs)
        self._report_stopped_containers(repairs)
        repairs.recounted = self._recount()
        return repairs

    def _is_not_overdue(self, execution: Execution, grace: timedelta) -> bool:
        return execution.scheduled_at > self.clock() - grace

    def _is_stuck(self, execution: Execution, grace: timedelta) -> bool:
        """Whether its run waits for an answer that will not come: no part waits for a slot, has one, or is in backoff.

        A run continues within seconds after a part has ended, so this does not last longer than ``grace``.
        """
        parts, queued_at = self.parts.of(execution.execution_id), _queued_or_due_at(execution)
        changed_at = (part.ended_at or part.retry_at or part.requested_at or queued_at for part in parts)
        is_moving = any(part.status in (Status.WAITING, *SLOT_HOLDING_STATUSES) for part in parts)
        return bool(parts) and not is_moving and max(changed_at) < self.clock() - grace

    def _repair_schedule(self, execution: Execution, scheduled: set[str], repairs: Repairs) -> None:
        if short_name(execution.execution_id) in scheduled:
            return
        if start_trigger(execution, self.clock()) is StartTrigger.SCHEDULE:
            self.machines.create_schedule(execution)
            repairs.scheduled.append(execution.execution_id)
        elif self.executions.detach_run(execution, STARTING_UNSCHEDULED, self.clock()):  # the planner starts a run
            repairs.started.append(execution.execution_id)

    def _restart(self, seen: Execution, repairs: Repairs) -> None:
        """Free the slots of a stopped run, and set the execution to ``queued``: the planner starts a new run."""
        execution = self.executions.get(seen.job_id, seen.execution_id)
        if execution is None or execution.status in FINAL or execution.run_arn != seen.run_arn:
            return
        if execution.run_arn:
            self.machines.stop(execution.run_arn, "replaced")  # it may still run: the list is eventually consistent
        for part in self.parts.of(execution.execution_id):
            if part.status in SLOT_HOLDING_STATUSES:
                self._interrupt(part, RUN_STOPPED)
            elif part.status is Status.WAITING:  # no run would receive its grant
                self.parts.cancel_slot_request(part, RUN_STOPPED, self.clock())
        reason = RESTARTING if execution.run_arn else STARTING_LATE
        if self.executions.detach_run(execution, reason, self.clock()):
            repairs.restarted.append(execution.execution_id)

    def _interrupt(self, part: Part, why: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, why)
        result = AttemptResult(outcome=Outcome.INTERRUPTED, error=Failure(type="Interrupted", message=why))
        after, decision = decide_part(part, result, now=self.clock(), uniform=self.uniform)
        self.parts.conclude(after, decision, self.clock())

    def _delete_orphaned_schedules(self, scheduled: set[str], live: set[str], repairs: Repairs) -> None:
        for name in scheduled - live:
            if self._is_orphan(name):
                self.machines.delete_schedule(name)
                repairs.unscheduled.append(name)

    def _is_orphan(self, name: str) -> bool:
        """Whether a schedule has no execution to start. The record decides: the index is eventually consistent."""
        try:
            execution = self.executions.get(job_of(name), name)
        except NotFound:
            return True
        return execution is None or execution.status is not Status.SCHEDULED or execution.lane is not Lane.LONG

    def _report_stopped_containers(self, repairs: Repairs) -> None:
        holders = {part.task_arn: part for part in self.slots.holders() if part.task_arn}
        for task_arn, cause in self.containers.find_stopped(holders).items():
            part = holders[task_arn]
            if not self.callbacks.fail(part.tokens, STOPPED, cause):
                continue  # its state machine run has stopped too: restarting the execution frees the slot
            repairs.containers_gone.append(f"{part.execution_id}/{part.name}")

    def _recount(self) -> bool:
        """Correct the occupancy record if it is wrong in two counts with a pause between them."""
        before = self.slots.occupancy()
        if self._matches(before, self.slots.holders()):
            return False
        self.sleep(RECOUNT_DELAY_SECONDS)
        seen, holders = self.slots.occupancy(), list(self.slots.holders())
        return seen == before and not self._matches(seen, holders) and self.slots.recount(seen, holders)

    @staticmethod
    def _matches(occupancy: Occupancy, holders: Iterable[Part]) -> bool:
        holders = list(holders)
        return (occupancy.tasks, occupancy.cpu) == (len(holders), sum(part.cpu for part in holders))


def _queued_or_due_at(execution: Execution) -> datetime:
    return execution.queued_at or execution.scheduled_at
