"""The tasks of a run: how long each attempt takes, and how it ends.

Replaces the runner of the worker, which renews leases in a thread. Here the process that runs the task renews them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Failure, LeaseState, Outcome
from punctual.domain.executions.lease import LEASE_DURATION, LEASE_RENEWAL_INTERVAL
from tests.simulator.choices import Choices
from tests.simulator.faults import Faults
from tests.simulator.kernel import Kernel
from tests.simulator.observer import Observer

DURATIONS = (1.0, 0.0, 12.0, 45.0, 150.0)
"""Seconds that a task runs."""
OUTCOMES = (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.FAILED, Outcome.FATAL)


@dataclass(frozen=True)
class SimulatedRunner:
    """Runs an attempt. See ``punctual.ports.running.AttemptRunner``."""

    executions: Any
    kernel: Kernel
    choices: Choices
    observer: Observer
    faults: Faults

    def run(self, execution: Execution, seconds_left: float) -> AttemptResult:
        process, where = self.kernel.current, f"task/{execution.execution_id}/{execution.attempt}"
        assert process is not None
        run = self.observer.task_started(execution, self.kernel.clock())
        seconds = self.choices.pick(f"{where}/seconds", DURATIONS, 0.6) if self.faults.enabled else DURATIONS[0]
        ends_at = self.kernel.now + timedelta(seconds=seconds)
        timeout_at = self.kernel.now + timedelta(seconds=seconds_left)
        is_stopping = False
        while (left := min(ends_at, timeout_at) - self.kernel.now) > timedelta():
            process.suspend(min(left, LEASE_RENEWAL_INTERVAL).total_seconds())
            if self.kernel.now < ends_at:
                renewed_at = self.kernel.now
                state = self._renew(execution)
                is_stopping = is_stopping or state is LeaseState.STOPPING
                if state is LeaseState.KEPT:
                    run.lease_until = renewed_at + LEASE_DURATION
                if state is LeaseState.LOST or (is_stopping and self.choices.happens(f"{where}/stops", 0.5)):
                    break
        run.has_ended = True
        return self._result(where, is_stopping=is_stopping, is_late=self.kernel.now >= timeout_at)

    def _renew(self, execution: Execution) -> LeaseState | None:
        try:
            state: LeaseState = self.executions.renew(execution, self.kernel.clock(), None)
            return state
        except Exception:  # the next renewal may succeed
            return None

    def _result(self, where: str, *, is_stopping: bool, is_late: bool) -> AttemptResult:
        if is_stopping:
            return AttemptResult(outcome=Outcome.CANCELLED)
        if is_late:
            return AttemptResult(outcome=Outcome.TIMED_OUT, error=Failure(type="TimedOut", message="too slow"))
        outcome = self.choices.pick(f"{where}/outcome", OUTCOMES, 0.3)
        error = None if outcome is Outcome.SUCCEEDED else Failure(type="Error", message="as chosen")
        return AttemptResult(outcome=outcome, error=error)
