"""Ports for the logs of executions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from punctual.domain.executions.execution_log import LogChunk


class LogStore(Protocol):
    """The logs, as used by the processes that run tasks."""

    def store(self, execution_id: str, chunk: LogChunk) -> None:
        """Store a chunk and the totals of its attempt. A chunk with another stamp is stored beside the first copy."""


class StoredLogs(Protocol):
    """The logs, as used by the API."""

    def chunks(
        self, execution_id: str, low: str, high: str, *, descending: bool = False, consistent: bool = False
    ) -> Iterator[LogChunk]:
        """The chunks whose entry is between ``low`` and ``high``, both included, in the order of their entries."""

    def totals(self, execution_id: str) -> Mapping[str, int]:
        """The number of lines of all attempts, by level."""
