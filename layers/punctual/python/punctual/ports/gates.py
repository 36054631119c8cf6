"""Ports to the gates, which limit how many executions run at once, and to the executions that pass them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.gate import Entrant, Gate, Rate, Waiter
from punctual.ports.executions import ExecutionCanceller


class GatedExecutions(ExecutionCanceller, Protocol):
    """The executions, for the gatekeeper. A method that moves an execution returns whether it did."""

    def get(self, job_id: str, execution_id: str) -> Execution | None: ...

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        """Return the executions that exist, in no particular order, with an eventually consistent read."""

    def wait(self, entrant: Entrant, gate: str, reason: str) -> bool:
        """Move an execution that has not started to ``waiting`` at a gate."""

    def wake(self, job_id: str, execution_id: str, gate: str, now: datetime) -> bool:
        """Move an execution that waits at this gate to ``queued``."""

    def put_off(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        """Postpone the start of an execution that has not started: ``queued`` until then."""

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool:
        """Move it to ``skipped`` if it still has the revision and the attempt that its order was sent for."""

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        """Move an execution that has not started to ``skipped``."""

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str) -> Execution | None:
        """Ask a running execution to stop by ``until``; ``None`` if it no longer runs. Idempotent: the first wins."""


class Gates(Protocol):
    """The gates: holders, waiters and reserved starts."""

    def enter(self, gate: Gate, execution_id: str) -> frozenset[str] | None:
        """Take a place and return ``None``, also if it is held already; if the gate is full, return the holders."""

    def release(self, name: str, execution_id: str) -> bool:
        """Give up a place and return whether the queue may have waiters. Idempotent."""

    def ask_for_word(self, name: str) -> bool:
        """Mark the gate so that the next release checks the queue; ``False`` if the gate has no holder."""

    def pass_on(self, name: str, execution_id: str, to: str) -> bool:
        """Transfer a place; ``False`` if ``execution_id`` does not hold one, or ``to`` does already."""

    def inside(self, name: str) -> frozenset[str]:
        """Return the holders."""

    def held(self, shard: int) -> Iterator[Mapping[str, frozenset[str]]]:
        """Yield all gates that have holders, with the holders, in pages."""

    def stand_in_line(self, name: str, execution_id: str, turn: str, now: datetime) -> None:
        """Append an execution to the queue, ordered by ``turn``. Idempotent."""

    def form_line(self, name: str, waiters: Iterable[Waiter], now: datetime) -> None:
        """Append many executions to the queue."""

    def stand_alone(self, name: str, execution_id: str, instead_of: str | None, now: datetime) -> str | None:
        """Take the only place of the queue if it is free or held by ``instead_of``; otherwise return its holder."""

    def first_in_line(self, name: str) -> Waiter | None:
        """Return the first waiter of the queue."""

    def step_out(self, name: str, waiter: Waiter) -> None:
        """Remove a waiter from the queue. Idempotent."""

    def ahead_of(self, name: str, turn: str) -> list[str]:
        """Return the waiters before this turn, including ended executions that were not removed yet."""

    def reserve(self, name: str, rate: Rate, now: datetime) -> datetime:
        """Reserve the next start under the rate limit and return its instant. Each start is reserved once."""

    def reserved_until(self, name: str) -> datetime | None:
        """Return until when starts are reserved; ``None`` if none is."""
