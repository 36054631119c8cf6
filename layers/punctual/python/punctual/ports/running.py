"""What running a task needs, and what is left of it."""

from __future__ import annotations

from typing import Any, Protocol

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Result


class Runner(Protocol):
    """Runs a task's code under a lease and a time limit."""

    def run(self, execution: Execution, seconds_left: float) -> AttemptResult: ...


class Results(Protocol):
    """Where results too large for a record lie."""

    def keep(self, name: str, value: Any, *, always: bool = False) -> Result:
        """``value`` as a result: inline when small, stored under ``name`` when it is not, or ``always``.

        Raises ``Fatal`` for what is not JSON.
        """

    def link(self, result: Result) -> str | None:
        """An address from which a stored result can be fetched for a while; ``None`` for one that is inline."""
