"""Cancel an execution. The settler cleans up its AWS resources when it sees that the execution has ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.stages.api.find import Finder
    from punctual.stages.run.gates import Gatekeeper


@dataclass(frozen=True)
class Cancel:
    find: Finder
    gatekeeper: Gatekeeper
    clock: Clock

    def cancel(self, execution_id: str, caller: Caller, grace: timedelta) -> Execution:
        """Cancel the execution, or ask it to stop within ``grace`` if it runs. Returns its new state.

        Idempotent: an execution that is cancelled, or was already asked to stop, stays unchanged. Raises ``NotFound``,
        ``Forbidden``, or ``Conflict`` when it has ended otherwise.
        """
        execution = self._find_cancellable(execution_id, caller)
        if execution.status is Status.CANCELLED:
            return execution
        stopped = self.gatekeeper.stop(execution, f"cancelled by {caller.subject}", grace)
        if stopped is None:
            raise Conflict("the execution ended during this request: read it to see how", field="execution_id")
        return stopped

    def preview(self, execution_id: str, caller: Caller) -> DryRunChanges:
        """Dry run of ``cancel``."""
        execution = self._find_cancellable(execution_id, caller)
        if execution.status is Status.CANCELLED:
            return DryRunChanges()
        return DryRunChanges(vanish=(ForeseenExecution(execution_id, execution.scheduled_at, str(execution.status)),))

    def _find_cancellable(self, execution_id: str, caller: Caller) -> Execution:
        caller.require_role(Role.OPERATOR)
        execution = self.find.execution_to_manage(execution_id, caller)
        if execution.status in FINAL and execution.status is not Status.CANCELLED:
            message = f"the execution has already ended as {execution.status}: it cannot be cancelled"
            raise Conflict(message, field="execution_id")
        return execution
