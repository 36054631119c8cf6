"""Find: the job or the execution that a request names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.errors import NotFound
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import check_job_id, job_of
from punctual.domain.jobs.job import Job

if TYPE_CHECKING:
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class Finder:
    """Reads records by id. Both methods raise ``NotFound``."""

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
