"""Misfires: executions that missed their due instants, written in one transaction with a check of their job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.executions import DynamoExecutions
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.errors import JobChanged
from punctual.domain.executions.execution import Execution, LiveExecution
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import MisfireEnding

MISFIRES_PER_TRANSACTION = 50


@dataclass(frozen=True)
class DynamoMisfires:
    executions: DynamoExecutions
    jobs: Table

    def of(self, job: Job) -> DynamoMisfireRecords:
        return DynamoMisfireRecords(self.executions, self.jobs, job)


@dataclass(frozen=True)
class DynamoMisfireRecords:
    executions: DynamoExecutions
    jobs: Table
    job: Job

    def add(self, execution: Execution) -> Execution | None:
        if self._write(self.executions.add_request(execution)) == [True]:
            return None
        return self.executions.get(execution.job_id, execution.execution_id)

    def add_all(self, executions: Iterable[Execution]) -> None:
        left = list(executions)
        while left:
            chunk, left = left[:MISFIRES_PER_TRANSACTION], left[MISFIRES_PER_TRANSACTION:]
            are_new = self._write(*map(self.executions.add_request, chunk))
            if not all(are_new):  # the transaction was not applied
                left = [one for one, is_new in zip(chunk, are_new, strict=True) if is_new] + left

    def replace(self, execution: Execution) -> bool:
        return self._write(self.executions.replace_request(execution)) == [True]

    def end(self, execution: Execution, ending: MisfireEnding, now: datetime) -> bool:
        return self._write(self.executions.end_missed_request(execution, ending, now)) == [True]

    def defer(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        return self._write(self.executions.defer_request(one, reason, now)) == [True]

    def remove(self, one: LiveExecution, reason: str, now: datetime) -> bool:
        is_removed = self._write(self.executions.remove_request(one)) == [True]
        return is_removed or self.executions.skip_covering(one, reason, now)

    def _write(self, *writes: Mapping[str, Any]) -> list[bool]:
        """Apply all writes or none. Returns for each whether its own condition held."""
        is_unchanged = self.jobs.check_request(
            {"job_id": self.job.job_id},
            "#state = :state AND #revision = :revision",
            {"state": str(self.job.state), "revision": self.job.revision},
        )
        *applied, is_current = transact(self.jobs.client, [*writes, {"ConditionCheck": is_unchanged}])
        if not is_current:
            raise JobChanged(self.job.job_id)
        return applied


if TYPE_CHECKING:
    from punctual.ports.executions import Misfires

    _misfires: type[Misfires] = DynamoMisfires
