"""Ports for executions that wait for upstream executions to finish."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from punctual.domain.executions.counted_upstream import CountedUpstream
from punctual.domain.executions.execution import Execution
from punctual.ports.executions import ExecutionReader


class HeldExecutions(ExecutionReader, Protocol):
    """Executions that are held until their upstream executions finish.

    A state change is one conditional write: it applies only while the stored execution is still held and has the
    revision that the caller read. Returns ``False`` otherwise.
    """

    def mark_as_upstream(self, execution: Execution) -> Execution | None:
        """Make the end of a live execution wake its dependants. Returns the execution as stored, live or ended."""

    def hold(self, execution: Execution, reason: str, recheck_at: datetime) -> bool:
        """Move from ``queued`` to ``waiting``. ``recheck_at`` is the instant of the timer that checks it again."""

    def clear(self, execution: Execution, counted: tuple[CountedUpstream, ...]) -> bool:
        """Allow a ``queued`` execution to start, and record the upstream executions that met its conditions.

        Idempotent: also ``True`` when it was cleared before.
        """

    def release(self, execution: Execution, counted: tuple[CountedUpstream, ...], now: datetime) -> bool:
        """The same for a ``waiting`` execution: the change to ``queued`` triggers its dispatch."""

    def recheck(self, execution: Execution, now: datetime) -> bool:
        """Move from ``waiting`` to ``queued``, still held, because its set of upstream executions has changed."""

    def skip_held(self, execution: Execution, reason: str, now: datetime) -> bool:
        """Move to ``skipped``."""


class Dependants(Protocol):
    """The registry of executions that wait for an upstream execution to finish."""

    def register(self, dependant: str, upstream: str, now: datetime) -> None: ...

    def of(self, upstream: str) -> Iterator[str]:
        """Yield all dependants that were registered before this call."""
