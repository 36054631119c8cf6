"""Cancel: withdraw an execution. What it has in AWS is cleared away by whoever hears that it has ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from punctual.domain.caller import Caller, Role
from punctual.domain.errors import Conflict, NotFound
from punctual.domain.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.job import Lane
from punctual.domain.status import FINAL, NOT_STARTED, Status

if TYPE_CHECKING:
    from punctual.ports import Clock, Executions


@dataclass(frozen=True)
class Cancel:
    executions: Executions
    clock: Clock

    def cancel(self, execution_id: str, caller: Caller) -> Execution:
        """The execution, cancelled. One that was cancelled before stays as it is."""
        caller.must_be(Role.OPERATOR)
        execution = self.executions.get(job_of(execution_id), execution_id)
        if execution is None:
            raise NotFound("execution", execution_id, field="execution_id")
        caller.must_manage(execution)
        if execution.status is Status.CANCELLED:
            return execution
        self._must_be_possible(execution)
        now, reason = self.clock(), f"cancelled by {caller.subject}"
        if self.executions.cancel(execution, reason, now):
            return replace(execution, status=Status.CANCELLED, reason=reason, ended_at=now)
        raise Conflict("the execution has ended meanwhile", field="execution_id")

    @staticmethod
    def _must_be_possible(execution: Execution) -> None:
        if execution.status in FINAL:
            raise Conflict(f"the execution has ended: it is {execution.status}", field="execution_id")
        if execution.lane is Lane.SHORT and execution.status not in NOT_STARTED:
            raise Conflict(
                f"a short execution that runs is not stopped: it ends within {execution.timeout_seconds} seconds",
                field="execution_id",
            )
