"""Reconcile: once an hour, compare what the long lane's records say with what AWS runs, and mend the difference.

Nothing here is needed while all goes well. It is for what no message tells of: a schedule removed by hand, a state
machine run that was stopped, a container whose end ECS did not report, a lane's record edited by somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import NotFound
from punctual.domain.executions.attempt_decision import AttemptResult, decide
from punctual.domain.executions.execution import Execution, Failure, Outcome
from punctual.domain.executions.horizon import REACH
from punctual.domain.identity import job_of, short_name
from punctual.domain.lane import Lane
from punctual.domain.long_lane.container_death import STOPPED
from punctual.domain.long_lane.laxity import Occupancy
from punctual.domain.long_lane.part import Part
from punctual.domain.status import FINAL, HOLDING, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, CountedSlots, KnownContainers, LongExecutions, Parts, StateMachines

GRACE = timedelta(minutes=2)
"""What has changed within this may not show everywhere yet."""
STOPPED_RUN = "its state machine stopped"
SECOND_LOOK = 5.0
"""Seconds between two counts of those who hold a slot: the index behind them is a moment late."""


@dataclass
class Repairs:
    """What was mended, by execution or part."""

    armed: list[str] = field(default_factory=list)
    disarmed: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    containers_gone: list[str] = field(default_factory=list)
    recounted: bool = False


@dataclass(frozen=True)
class Reconciler:
    executions: LongExecutions
    parts: Parts
    slots: CountedSlots
    machines: StateMachines
    containers: KnownContainers
    callbacks: Callbacks
    clock: Clock
    sleep: Callable[[float], None]
    uniform: Callable[[float, float], float]

    def reconcile(self, *, grace: timedelta = GRACE) -> Repairs:
        repairs = Repairs()
        armed = set(self.machines.armed())  # before the executions: whatever is armed was stored earlier
        live = list(self.executions.live_long())
        running = set(self.machines.running())  # after them: whatever conducts one was started earlier
        for execution in live:
            if execution.held and (execution.status is not Status.SCHEDULED or self._is_to_come(execution, grace)):
                continue  # not started by a schedule, but when what it depends on has ended
            if execution.status is Status.WAITING and execution.waits_at is not None:
                continue  # in line at a gate, where no state machine carries it
            if execution.status is Status.SCHEDULED:
                self._see_to_schedule(execution, armed, repairs)
            elif execution.run_arn not in running and self.clock() - _moved_at(execution) > grace:
                self._restart(execution, repairs)
        self._disarm_orphans(armed, {short_name(one.execution_id) for one in live}, repairs)
        self._see_to_containers(repairs)
        repairs.recounted = self._recount()
        return repairs

    def _is_to_come(self, execution: Execution, grace: timedelta) -> bool:
        return execution.scheduled_at > self.clock() - grace

    def _see_to_schedule(self, execution: Execution, armed: set[str], repairs: Repairs) -> None:
        if short_name(execution.execution_id) in armed:
            return
        if execution.scheduled_at > self.clock() + REACH:
            self.machines.arm(execution)
            repairs.armed.append(execution.execution_id)
        elif self.executions.change_conductor(execution, self.clock()):  # becoming queued starts it
            repairs.started.append(execution.execution_id)

    def _restart(self, seen: Execution, repairs: Repairs) -> None:
        """Free what the stopped run left, and let another take over: becoming ``queued`` starts it."""
        execution = self.executions.get(seen.job_id, seen.execution_id)
        if execution is None or execution.status in FINAL or execution.run_arn != seen.run_arn:
            return
        if execution.run_arn:
            self.machines.stop(execution.run_arn, "replaced")  # it may run after all: lists are a moment late
        for part in self.parts.of(execution.execution_id):
            if part.status in HOLDING:
                self._interrupt(part, STOPPED_RUN)
            elif part.status is Status.WAITING:  # nobody would hear that it got a slot
                self.parts.step_back(part, STOPPED_RUN, self.clock())
        if self.executions.change_conductor(execution, self.clock()):
            repairs.restarted.append(execution.execution_id)

    def _interrupt(self, part: Part, why: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, why)
        verdict = AttemptResult(outcome=Outcome.INTERRUPTED, error=Failure(type="Interrupted", message=why))
        self.parts.conclude(part, decide(part, verdict, now=self.clock(), uniform=self.uniform), self.clock())

    def _disarm_orphans(self, armed: set[str], live: set[str], repairs: Repairs) -> None:
        for name in armed - live:
            if self._is_orphan(name):
                self.machines.disarm(name)
                repairs.disarmed.append(name)

    def _is_orphan(self, name: str) -> bool:
        """The index that lists executions is a moment late: the record itself decides."""
        try:
            execution = self.executions.get(job_of(name), name)
        except NotFound:
            return True
        return execution is None or execution.status is not Status.SCHEDULED or execution.lane is not Lane.LONG

    def _see_to_containers(self, repairs: Repairs) -> None:
        holders = {part.task_arn: part for part in self.slots.holders() if part.task_arn}
        for task_arn, cause in self.containers.gone(holders).items():
            part = holders[task_arn]
            if not self.callbacks.fail(part.token or "", STOPPED, cause):
                continue  # its state machine is gone as well: the restart of that frees the slot
            repairs.containers_gone.append(f"{part.execution_id}/{part.name}")

    def _recount(self) -> bool:
        """Counted twice, with a pause: only what stays wrong is wrong."""
        before = self.slots.occupancy()
        if self._agrees(before, self.slots.holders()):
            return False
        self.sleep(SECOND_LOOK)
        seen, holders = self.slots.occupancy(), list(self.slots.holders())
        return seen == before and not self._agrees(seen, holders) and self.slots.recount(seen, holders)

    @staticmethod
    def _agrees(occupancy: Occupancy, holders: Iterable[Part]) -> bool:
        holders = list(holders)
        return (occupancy.tasks, occupancy.cpu) == (len(holders), sum(part.cpu for part in holders))


def _moved_at(execution: Execution) -> datetime:
    return execution.queued_at or execution.scheduled_at
