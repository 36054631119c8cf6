"""Ports to the gates, which limit how many executions run at once, and to the executions that pass them.

docs/gates.md specifies the operations. Each method that writes makes one conditional write, or one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.gate import Entrant, FullGateDecision, Gate, GateState, Rate, Waiter
from punctual.ports.executions import ExecutionCanceller


class GatedExecutions(ExecutionCanceller, Protocol):
    """The executions, for the gatekeeper. A method that moves an execution returns whether it did."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        """Return the executions that exist, in no particular order, with an eventually consistent read."""

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """Return the executions that exist, by id, with a strongly consistent read."""

    def postpone(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        """Postpone the start of an execution that has not started: ``queued`` until then."""

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool:
        """Move it to ``skipped`` if it still has the revision and the attempt that it was sent for."""

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str, now: datetime) -> Execution | None:
        """Ask a running execution to stop by ``until``; ``None`` if it no longer runs. Idempotent: the first wins."""


class Gates(Protocol):
    """The gates: holders, waiters and reserved starts."""

    def acquire(self, gate: Gate, entrant: Entrant) -> GateState | None:
        """Take a place. Return ``None`` on success, and the state of the gate if it is full or others wait for it.

        It is a success, too, if the place is held already for this or a later claim. A place that the execution holds
        for an earlier claim is kept if the gate is within this entrant's limit, and given up otherwise.
        """

    def release(self, name: str, execution_id: str, claim_number: int | None) -> bool:
        """Give up a place and return whether executions may be waiting for it. Idempotent.

        A place that is held for a later claim is kept. ``None``: the execution has ended.
        """

    def evict(self, name: str, execution_id: str, seen: Execution | None) -> bool:
        """Remove a holder whose record is still as ``seen``, ``None`` if it does not exist. ``False`` if it changed."""

    def enqueue(self, gate: Gate, entrant: Entrant, reason: str) -> bool:
        """Move an execution to ``waiting`` and append it to the queue.

        ``False`` if it is not to start any more, holds a place, or finds the only place in the queue taken.
        """

    def enqueue_new(self, gate: Gate, executions: Sequence[Execution]) -> list[Execution]:
        """Store executions as ``waiting`` in the queue, and return those whose ids were free."""

    def skip_for_waiter(
        self, entrant: Entrant, gate: str, waiter: Waiter, decision: FullGateDecision, now: datetime
    ) -> bool:
        """Move an execution to ``skipped`` if ``waiter`` waits at the gate to run instead; ``False`` otherwise."""

    def replace_waiter(self, gate: Gate, entrant: Entrant, waiter: Waiter, reason: str, now: datetime) -> bool:
        """Move the first waiter to ``skipped`` and let this execution wait in its place; ``False`` if one changed."""

    def cover(self, waiter: Execution) -> bool:
        """Mark a waiting execution that covers a skipped one, so that an edit keeps it on record.

        ``False`` if it does not wait any more.
        """

    def grant(self, gate: Gate, waiter: Waiter, waiting: Execution, now: datetime) -> bool:
        """Give a waiter a place and move its execution to ``queued``, with its wait in ``gate_waits``.

        ``False`` if there is no room, or the waiter has changed.
        """

    def drop(self, name: str, waiter: Waiter) -> bool:
        """Remove a waiter whose execution does not wait here any more; ``False`` if it does."""

    def clear_queue_mark(self, name: str, mark: str) -> bool:
        """Record that the queue is empty; ``False`` if an execution joined it since ``mark`` was read."""

    def remove_if_empty(self, name: str) -> None:
        """Remove the record of a gate that has neither holders nor waiters."""

    def state(self, name: str) -> GateState:
        """Return the holders and the queue mark, with a strongly consistent read."""

    def first_waiter(self, name: str) -> Waiter | None:
        """Return the first waiter of the queue, with a strongly consistent read."""

    def gates(self, share: int, shares: int) -> Iterator[Mapping[str, GateState]]:
        """Yield the gates with holders or waiters, in pages: one of ``shares`` equal shares of them.

        With an eventually consistent read.
        """

    def ahead_of(self, name: str, turn: str, at_most: int) -> list[str]:
        """Return the first waiters before this turn, including ended executions that were not removed yet."""

    def reserve(self, name: str, rate: Rate, now: datetime) -> datetime:
        """Reserve the next start under the rate limit and return its instant. Each start is reserved once.

        Raises ``GateContention``.
        """

    def reserved_until(self, name: str) -> datetime | None:
        """Return until when starts are reserved; ``None`` if none is."""
