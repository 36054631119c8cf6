"""Reconcile: every half hour, compare the records of the long lane with what runs in AWS, and repair the differences.

In normal operation it finds nothing. It repairs what no event reports, such as a schedule that an operator deleted or
that has no execution, a state machine run that was stopped or hangs, a container whose end ECS did not report, and an
occupancy record that was edited.
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
"""Differences that are younger are not repaired: lists and indexes are eventually consistent."""
RUN_STOPPED = "its state machine run stopped"
RESTARTING = "restarting: the state machine run stopped"
STARTING_WITHOUT_RUN = "starting: no state machine run was attached"
STARTING_UNSCHEDULED = "starting: its one-time schedule or timer was missing"
RECOUNT_DELAY_SECONDS = 5.0
"""Delay between the two counts: the index of slot holders is eventually consistent."""


@dataclass
class Repairs:
    """The ids of what was repaired: of executions, and of parts as ``<execution_id>/<part>``."""

    scheduled: list[str] = field(default_factory=list)
    unscheduled: list[str] = field(default_factory=list)
    """The names of deleted schedules."""
    started: list[str] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    containers_gone: list[str] = field(default_factory=list)
    recounted: bool = False
    """Whether the occupancy record was corrected."""


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

        Differences that are younger than ``grace`` are not repaired, except missing schedules. Pauses for some seconds
        if the occupancy record seems wrong. An AWS error ends the pass; the next one repairs the rest.
        """
        repairs = Repairs()
        # An execution is stored before its schedule: each schedule that is read here has its execution below.
        scheduled = set(self.machines.scheduled())
        live = list(self.executions.live_long())
        # A run is started before it is attached: each attached run that was read above is listed here.
        running = set(self.machines.running())
        for execution in live:
            if execution.has_pending_upstreams and not self._missed_its_timer(execution, grace):
                continue  # it has no schedule and no run: its timer queues it, and its upstreams release it
            if execution.status is Status.WAITING and execution.waits_at is not None:
                continue  # it waits at a gate and has no run
            if execution.is_deferred:
                continue  # its job is paused: resuming the job queues it
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

    def _missed_its_timer(self, execution: Execution, grace: timedelta) -> bool:
        return execution.status is Status.SCHEDULED and execution.scheduled_at <= self.clock() - grace

    def _is_stuck(self, execution: Execution, grace: timedelta) -> bool:
        """Whether its run waits for an answer that will not come: no part waits for a slot, has one, or is in backoff.

        A healthy run starts its next part within seconds: a gap longer than ``grace`` means that the run is stuck. A
        part in backoff counts by its ``retry_at``. A run without parts has not begun, and is not stuck.
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
        """Stop what is left of its run, free its slots, and set it to ``queued``: the planner starts a new run."""
        execution = self.executions.get(seen.job_id, seen.execution_id)
        if execution is None or execution.status in FINAL or execution.run_arn != seen.run_arn:
            return
        if execution.run_arn:
            self.machines.stop(execution.run_arn, "replaced")  # it may be stuck, or missing in the list
        for part in self.parts.of(execution.execution_id):
            if part.status in SLOT_HOLDING_STATUSES:
                self._interrupt(part, RUN_STOPPED)
            elif part.status is Status.WAITING:  # no run would receive its grant
                self.parts.cancel_slot_request(part, RUN_STOPPED, self.clock())
        reason = RESTARTING if execution.run_arn else STARTING_WITHOUT_RUN
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
                continue  # its state machine run has stopped, too: the next pass restarts the execution
            repairs.containers_gone.append(f"{part.execution_id}/{part.name}")

    def _recount(self) -> bool:
        """Correct the occupancy record if two counts, with a pause between them, disagree with it.

        If the record changed during the pause, the next pass tries again.
        """
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
