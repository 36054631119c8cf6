"""Checks the order in which executions get places at a gate: by aged priority, and not past an execution that waits.

docs/gates.md states the promise. The process that gives a place may have read the queue earlier: an execution that
joined it since then may have to wait for the next place, although it comes first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import due_key
from punctual.domain.lane import Priority
from punctual.domain.status import Status
from tests.simulator.aws.table import Change
from tests.simulator.kernel import Process
from tests.simulator.observer import Observer, describe
from tests.simulator.starts import MAX_SKEW

AHEAD = {Priority.HIGH: timedelta(minutes=10), Priority.NORMAL: timedelta(), Priority.LOW: timedelta(minutes=-10)}
"""How far a priority moves an execution ahead, as documented in docs/gates.md."""
RANKS = (Priority.LOW, Priority.NORMAL, Priority.HIGH)
LATE = timedelta(minutes=5)
"""Executions that are later than this are raised by one priority."""


class Joined(NamedTuple):
    """An execution that waits at a gate."""

    waits_as: tuple[str, int, int]
    """The gate, the revision and the attempt."""
    turn: str
    """Its position: the lowest is next."""
    step: int
    """The step of the run in which it joined the queue."""


@dataclass
class GrantOrderObserver:
    observer: Observer
    coverage: Counter[str]
    _joined: dict[str, Joined] = field(default_factory=dict)
    """The executions that wait, by id."""
    _reads: dict[tuple[Process | None, str], int] = field(default_factory=dict)
    """The step in which a process last read a queue."""
    _gates_read: int = 0
    _executions_read: int = 0

    def after_call(self, operation: str, parameters: dict[str, Any]) -> None:
        """Check the places given by the last request. Called after the observer has read its writes."""
        if operation == "query" and parameters["TableName"] == "gates":
            gate = parameters["ExpressionAttributeValues"][":gate"]["S"].removeprefix("queue#")
            self._reads[self.observer.kernel.current, gate] = self.observer.kernel.steps
        tables = self.observer.account.dynamodb.tables
        places, self._gates_read = tables["gates"].history[self._gates_read :], len(tables["gates"].history)
        for change in places:
            self._check_new_holders(change)
        changes, self._executions_read = (
            tables["executions"].history[self._executions_read :],
            len(tables["executions"].history),
        )
        for change in changes:
            self._update_waiting(change.key[1])

    def _check_new_holders(self, change: Change) -> None:
        if change.key[0].startswith("holders#") and change.new is not None:
            for name in change.new.keys() - (change.old or {}).keys():
                if name.startswith("in:"):
                    self._check(change.key[1], name.removeprefix("in:"))

    def _check(self, gate: str, execution_id: str) -> None:
        """An execution has got a place."""
        granted = self._joined.get(execution_id)
        seen_at = self._reads.get((self.observer.kernel.current, gate), self.observer.kernel.steps)
        for name, other in self._joined.items():
            if name == execution_id or other.waits_as[0] != gate:
                continue
            if granted is None or granted.waits_as[0] != gate:
                self._violated(execution_id, name, f"takes a place at {gate}, at which this waits")
            elif other.step <= seen_at and other.turn < granted.turn:
                self._violated(
                    execution_id, name, f"({granted.turn}) gets a place at {gate} before this ({other.turn})"
                )
            elif other.step < granted.step:
                self.coverage["overtakes at a gate"] += 1

    def _check_end_of_wait(self, joined: Joined, one: Execution) -> None:
        """An execution does not wait any more. It is queued only if it has got a place, or by an edit."""
        gate, revision, _ = joined.waits_as
        is_queued = one.status is Status.QUEUED and one.revision == revision
        if is_queued and self.observer.starts.held_for(gate, one.execution_id) is None:
            self.observer.violated(f"{describe(one)} waited at {gate} and is queued without a place")

    def _violated(self, execution_id: str, other: str, what: str) -> None:
        first, second = (self.observer.executions.get(name) for name in (execution_id, other))
        texts = [describe(one) if one else "an execution that does not exist" for one in (first, second)]
        self.observer.violated(f"{texts[0]} {what}: {texts[1]}")

    def _update_waiting(self, execution_id: str) -> None:
        one = self.observer.executions.get(execution_id)
        if one is None or one.status is not Status.WAITING or one.waits_at is None:
            joined = self._joined.pop(execution_id, None)
            if joined is not None and one is not None:
                self._check_end_of_wait(joined, one)
            return
        waits_as, known = (one.waits_at, one.revision, one.attempt), self._joined.get(execution_id)
        if known is None or known.waits_as != waits_as:
            turn = one.turn or ""
            is_due = turn[:8].isdigit()  # otherwise it waits alone, and precedes all others
            self._joined[execution_id] = Joined(waits_as, turn if is_due else "", self.observer.kernel.steps)
            allowed = possible_turns(one, self.observer.kernel.now + MAX_SKEW - one.earliest_start > LATE)
            if allowed and one.turn not in allowed:
                self.observer.violated(f"{describe(one)} has the turn {one.turn}, but should have {allowed}")


def possible_turns(one: Execution, is_late: bool) -> list[str]:
    """The turns that an execution may have: it may have been late when it was sent. Empty if only one may wait."""
    gate = next((gate for gate in one.gates if gate.name == one.waits_at), None)
    if gate is None or gate.has_single_waiter:
        return []
    lowest = RANKS.index(one.priority) + (one.attempt > 0)
    ranks = {min(rank, len(RANKS) - 1) for rank in range(lowest, lowest + 1 + is_late)}
    return [f"{due_key(one.earliest_start - AHEAD[RANKS[rank]])}#{one.execution_id}" for rank in sorted(ranks)]
