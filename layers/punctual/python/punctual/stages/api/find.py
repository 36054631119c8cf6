"""Find: the job or the execution that a request names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.errors import NotFound
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import check_job_id, job_of
from punctual.domain.jobs.job import Job
from punctual.domain.requests.caller import Caller

if TYPE_CHECKING:
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class Finder:
    """Reads records by id. All methods raise ``NotFound``."""

    jobs: Jobs
    executions: Executions

    def job(self, job_id: str) -> Job:
        job = self.jobs.get(check_job_id(job_id))
        if job is None:
            raise NotFound("job", job_id, field="job_id")
        return job

    def execution(self, execution_id: str) -> Execution:
        execution = self.executions.get(job_of(execution_id), execution_id)
        if execution is None:
            raise NotFound("execution", execution_id, field="execution_id")
        return execution

    def execution_to_manage(self, execution_id: str, caller: Caller) -> Execution:
        """Return an execution that the caller may change, as the current owner of its job. Raises ``Forbidden``."""
        execution = self.execution(execution_id)
        caller.require_can_manage(self.jobs.get(execution.job_id) or execution)  # the job may have expired
        return execution
