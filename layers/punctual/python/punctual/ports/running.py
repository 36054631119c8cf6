"""Ports for running a task and for storing its result."""

from __future__ import annotations

from typing import Any, Protocol

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Result


class AttemptRunner(Protocol):
    """Runs a task's code under a lease and a time limit."""

    def run(self, execution: Execution, seconds_left: float) -> AttemptResult:
        """Run the claimed attempt for at most ``seconds_left`` and return how it ended."""


class Results(Protocol):
    """Storage for results that are too large for the execution's record."""

    def store(self, name: str, value: Any, *, always: bool = False) -> Result:
        """Turn ``value`` into a result: inline if it is small, else stored under ``name``; with ``always``, stored too.

        Raises ``Fatal`` if ``value`` cannot be serialised as JSON.
        """

    def load(self, result: Result) -> Any:
        """Return the value of a result. Raises ``Fatal`` if it was stored and has expired."""

    def link(self, result: Result) -> str | None:
        """Return a URL from which a stored result can be downloaded for a limited time; ``None`` if it is inline."""
