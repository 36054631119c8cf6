"""Cancel: withdraw an execution. What it has in AWS is cleared away by whoever hears that it has ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict, NotFound
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.dry_run import Changes, Foreseen
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gatekeeper


@dataclass(frozen=True)
class Cancel:
    executions: Executions
    gatekeeper: Gatekeeper
    clock: Clock

    def cancel(self, execution_id: str, caller: Caller, grace: timedelta) -> Execution:
        """How the execution stands then. One that was cancelled before, or asked to stop, stays as it is."""
        execution = self._cancellable(execution_id, caller)
        if execution.status is Status.CANCELLED:
            return execution
        stopped = self.gatekeeper.stop(execution, f"cancelled by {caller.subject}", grace)
        if stopped is None:
            raise Conflict("the execution has ended meanwhile", field="execution_id")
        return stopped

    def foresee(self, execution_id: str, caller: Caller) -> Changes:
        """What ``cancel`` would do."""
        execution = self._cancellable(execution_id, caller)
        if execution.status is Status.CANCELLED:
            return Changes()
        return Changes(vanish=(Foreseen(execution_id, execution.scheduled_at, str(execution.status)),))

    def _cancellable(self, execution_id: str, caller: Caller) -> Execution:
        caller.must_be(Role.OPERATOR)
        execution = self.executions.get(job_of(execution_id), execution_id)
        if execution is None:
            raise NotFound("execution", execution_id, field="execution_id")
        caller.must_manage(execution)
        if execution.status in FINAL and execution.status is not Status.CANCELLED:
            raise Conflict(f"the execution has ended: it is {execution.status}", field="execution_id")
        return execution
