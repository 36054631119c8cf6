"""Finish: mark a job as done when its schedule is exhausted and all its executions have ended.

The planner and the settler both call this. Idempotent: the job is marked by one conditional write, and only while it is
active and unedited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import JobState
from punctual.domain.schedules.schedule import last_due
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import JobExecutions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class JobFinisher:
    jobs: Jobs
    executions: JobExecutions
    clock: Clock

    def finish_if_complete(self, job_id: str) -> None:
        """Mark a job as done if it is complete. Idempotent.

        Otherwise a live execution is marked as possibly the last, so that its end triggers this check again. The check
        reads the job again, because it may have been edited since the caller's record was written.
        """
        job, now = self.jobs.get(job_id), self.clock()
        if job is None or job.state is not JobState.ACTIVE:
            return
        live = self.executions.live_of(job_id, since=job.waiting_since(now))
        if any(self.executions.mark_last_of_job(job_id, one.execution_id) for one in live):
            return
        last = last_due(job.schedule)  # earlier instants have executions, too: they are planned in order
        last_execution = self.executions.get(job_id, execution_id(job_id, last)) if last else None
        if last_execution is not None and last_execution.status in FINAL:
            self.jobs.finish(job, now)
