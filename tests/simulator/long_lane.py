"""Follows the parts of long executions: slots, attempts, backoff and gates at each step, and what is left at rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.part_item import item_to_part
from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Execution, Outcome
from punctual.domain.lane import Lane, Priority
from punctual.domain.long_lane.assignment import Assignment
from punctual.domain.long_lane.part import COLLECT, Part
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES, Status
from tests.simulator.aws.table import Change
from tests.simulator.kernel import Process
from tests.simulator.observer import Observer, describe
from tests.simulator.starts import MAX_SKEW

LANE_TASKS, LANE_CPU = 6, 4 * 1024
"""The largest capacity of the lane in a run: ``tests.resources``, and ``UPGRADES`` in simulation.py."""


@dataclass
class LongLaneObserver:
    observer: Observer
    parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    containers: set[tuple[str, str, int]] = field(default_factory=set)
    """Execution, part and attempt of every task that has run in a container."""
    running: set[tuple[str, str, int]] = field(default_factory=set)
    """The tasks that run now."""
    reports: dict[Process, int] = field(default_factory=dict)
    """The attempt whose container has called the reporter."""
    _read: int = 0

    def poll(self) -> None:
        history = self.observer.account.dynamodb.tables["parts"].history
        changes, self._read = history[self._read :], len(history)
        for change in changes:
            if change.key[0] != "#lane":
                self._part_changed(change)
        if changes:
            self._check_slots()

    @contextmanager
    def observed(self, assignment: Assignment) -> Iterator[None]:
        """The task of a part runs in a container."""
        key = (assignment.execution_id, assignment.part, assignment.attempt)
        self.observer.kernel.log(f"  {key} runs in a container")
        if key in self.containers:
            self.observer.violated(f"an attempt of a part runs twice: {key}")
        self.containers.add(key)
        self.running.add(key)
        try:
            yield
        finally:
            self.running.discard(key)

    def check_orders(self, queue: str, entries: Iterable[dict[str, Any]]) -> None:
        """No work order is sent for an execution of the long lane."""
        for entry in entries if queue in tuple(Priority) else ():
            execution = self.observer.executions.get(json.loads(entry["MessageBody"]).get("execution_id"))
            if execution is not None and execution.lane is Lane.LONG:
                self.observer.violated(f"a work order is sent for {describe(execution)}, which is of the long lane")

    def at_rest(self) -> Iterator[str]:
        """No part outlives its execution, and a success within the grace period of a cancellation is not lost."""
        for part in self.parts.values():
            execution = self.observer.executions.get(part.execution_id)
            if (execution is None or execution.status in FINAL) and part.status not in FINAL:
                yield f"{_describe(part)} outlives {describe(execution) if execution else 'its execution'}"
        for one in self.observer.executions.values():
            is_asked = one.cancel_at is not None and one.execution_id not in self.observer.cancelled_at_once
            if one.status is Status.CANCELLED and is_asked and self._has_succeeded(one):
                yield f"all parts of {describe(one)} have succeeded"

    def _has_succeeded(self, one: Execution) -> bool:
        parts = [part for part in self.parts.values() if part.execution_id == one.execution_id]
        partitions = [part for part in parts if part.name != COLLECT]
        complete = bool(partitions) and len(partitions) == partitions[0].count
        is_collected = len(parts) > len(partitions) or one.batch is None or not one.batch.collects
        return complete and is_collected and all(part.status is Status.SUCCEEDED for part in parts)

    def cancelled(self) -> Iterator[str]:
        """Executions that the settler has to end: they were cancelled, and none of their parts is asked to stop."""
        for one in self.observer.executions.values():
            parts = [part for part in self.parts.values() if part.execution_id == one.execution_id]
            is_left = (
                one.cancel_at is not None
                and one.status not in FINAL
                and any(part.status is not Status.SUCCEEDED for part in parts)
            )
            if is_left and all(part.status in FINAL and part.cancel_at is None for part in parts):
                yield f"{describe(one)} was cancelled and all its parts have ended, but it is live"

    def _part_changed(self, change: Change) -> None:
        old = item_to_part(plain(change.old)) if change.old else None
        if change.new is None:
            self.parts.pop(change.key, None)
            return
        new = self.parts[change.key] = item_to_part(plain(change.new))
        self.observer.coverage.part_changed(old, new)
        self._check_tickets(old, new)
        if old is not None and old.status is new.status and old.attempt == new.attempt:
            return
        self.observer.kernel.log(f"  {_describe(new)}" + (f" (was {old.status})" if old else ""))
        if old is None and sum(part.execution_id == new.execution_id for part in self.parts.values()) == 1:
            execution = self.observer.executions[new.execution_id]
            self.observer.started(execution, self.observer.kernel.clock(), execution.rate_at)
        if old is not None and old.status in FINAL:
            self.observer.violated(f"{_describe(old)} became {_describe(new)}")
        self._check_lost(old, new)
        self._check_fence(old, new)
        counted = new.attempt - sum(one.outcome in UNCOUNTED_OUTCOMES for one in new.attempts)
        if counted > new.retry.max_attempts:
            self.observer.violated(f"more than {new.retry.max_attempts} attempts: {_describe(new)}")
        waited_until = old.retry_at if old is not None and new.status is Status.WAITING else None
        if waited_until is not None and self.observer.kernel.now + MAX_SKEW < waited_until:
            self.observer.violated(f"{_describe(new)} did not wait until {waited_until}")
        if new.status is Status.STARTING:
            self._check_start(new)
        elif new.status is Status.RUNNING:
            self._check_claim(new)

    def _check_tickets(self, old: Part | None, new: Part) -> None:
        """Only the attached run requests a slot, and no request of a run that waits is lost."""
        before, tokens = old.tickets if old else frozenset(), self.observer.account.states.tokens
        for ticket in new.tickets - before:
            execution = self.observer.executions.get(new.execution_id)
            if execution is None or execution.run_arn != tokens[ticket].run_arn:
                self.observer.violated(f"{_describe(new)}: a run requests a slot that does not conduct the execution")
        if old is not None and old.status is new.status is Status.WAITING:
            for ticket in before - new.tickets:
                if tokens[ticket].is_waiting:
                    self.observer.violated(f"{_describe(new)}: a request is lost, but its run waits for the grant")

    def _check_fence(self, old: Part | None, new: Part) -> None:
        """The report of a container changes only the attempt of this container."""
        process = self.observer.kernel.current
        attempt = self.reports.get(process) if process is not None else None
        if attempt is not None and old is not None and old.status is Status.RUNNING and old.attempt != attempt:
            self.observer.violated(f"a report of attempt {attempt} changed {_describe(old)} to {_describe(new)}")

    def _check_lost(self, old: Part | None, new: Part) -> None:
        """An attempt is not taken for lost while its container runs and renews its lease."""
        if old is None or len(new.attempts) == len(old.attempts) or new.attempts[-1].outcome is not Outcome.LOST:
            return
        is_running = (old.execution_id, old.name, old.attempt) in self.running
        if is_running and old.lease_until is not None and self.observer.kernel.now + MAX_SKEW < old.lease_until:
            self.observer.violated(f"{_describe(old)} is taken for lost, but has a lease until {old.lease_until}")

    def _check_claim(self, part: Part) -> None:
        """A container has claimed a part: its execution had not ended when the reporter was called."""
        execution, process = self.observer.executions.get(part.execution_id), self.observer.kernel.current
        ended_at = execution.ended_at if execution else None
        if ended_at is not None and process is not None and ended_at + MAX_SKEW < process.started_at:
            self.observer.violated(f"{_describe(part)} although its execution ended at {ended_at}")

    def _check_start(self, part: Part) -> None:
        """A part has got a slot: its execution holds its gates, and no more partitions run at once than allowed."""
        execution = self.observer.executions.get(part.execution_id)
        if execution is None:
            self.observer.violated(f"{_describe(part)} got a slot without an execution")
            return
        if execution.status not in FINAL:
            self.observer.starts.check_places(execution, _describe(part), first_attempt=1)
        partitions = execution.batch.partitions if execution.batch else None
        holding = [one for one in self.parts.values() if one.status in SLOT_HOLDING_STATUSES]
        at_once = partitions.at_once if partitions else None
        if at_once and sum(one.execution_id == part.execution_id for one in holding) > at_once:
            self.observer.violated(f"more than {at_once} partitions at once: {_describe(part)}")
        for gate in execution.gates:
            found = {one.execution_id: self.observer.executions.get(one.execution_id) for one in holding}
            limits = {
                describe(one): other.limit
                for one in found.values()
                if one is not None and one.status not in FINAL  # cancelled at once, while its container still stops
                for other in one.gates
                if other.name == gate.name and other.limit is not None
            }
            if limits and len(limits) > max(limits.values()):
                self.observer.violated(f"{len(limits)} long executions at once at {gate.name}, with limits: {limits}")

    def _check_slots(self) -> None:
        """The lane's record agrees with the parts, and its capacity is not exceeded."""
        lane = plain(self.observer.account.dynamodb.tables["parts"].items.get(("#lane", "long"), {}))
        holding = [part for part in self.parts.values() if part.status in SLOT_HOLDING_STATUSES]
        used = (len(holding), sum(part.cpu for part in holding))
        if used != (lane.get("tasks", 0), lane.get("cpu", 0)):
            self.observer.violated(f"the lane's record {lane} does not agree with {used}")
        if used[0] > LANE_TASKS or used[1] > LANE_CPU:
            self.observer.violated(f"the lane is over its capacity: {used}")


def _describe(part: Part) -> str:
    due = part.execution_id[9:15]
    return f"{part.job_id[-4:]}@{due}/{part.name} a{part.attempt} {part.status}"
