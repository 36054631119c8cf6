"""Ports for bulk operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.operations.operation import ItemOutcome, ItemResult, Operation


class Operations(Protocol):
    """The store of bulk operations."""

    def add(self, operation: Operation, ids: Sequence[str]) -> Operation:
        """Store a new operation after the ids of its items; if its id exists already, return the existing one.

        ``ids`` is empty if the operation uses the items of another one.
        """

    def get(self, operation_id: str) -> Operation | None: ...

    def newest_first(self, before: str | None) -> Iterator[list[Operation]]:
        """Yield pages of the operations that were created before ``before``, newest first."""

    def items(self, operation: Operation) -> tuple[str, ...]:
        """Return the ids of the items of the current step; empty if they have expired."""

    def all_items(self, operation: Operation) -> list[str]:
        """Return the ids of all items."""

    def advance(self, before: Operation, after: Operation, results: Sequence[ItemResult]) -> bool:
        """Store the result of a step: ``False`` if another process has stored it."""

    def request_abort(self, operation: Operation, by: str, now: datetime) -> bool:
        """Record that a running operation is to end before its next step; ``False`` if it has ended."""

    def problems(self, operation_id: str, outcome: ItemOutcome) -> list[ItemResult]:
        """Return the first items that were skipped, or that failed, up to a limit."""


class RunningOperations(Protocol):
    def stalled(self, since: datetime) -> list[str]:
        """Return the ids of the running operations that no process has advanced since then."""


class OperationQueue(Protocol):
    def send(self, operation_id: str) -> None:
        """Have the operation continued. Sending it twice is harmless."""
