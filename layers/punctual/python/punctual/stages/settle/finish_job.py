"""Finish: a job is done when nothing of it lives any more, and nothing more comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import JobState
from punctual.domain.schedules.schedule import last_due
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import LastExecutions
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class Finish:
    jobs: Jobs
    executions: LastExecutions
    clock: Clock

    def if_over(self, job_id: str) -> None:
        """Mark a job as done if it is. If not, the end of one that still lives has it looked at again.

        Judged by the job as it is now: it may have been edited since whoever asks heard of it.
        """
        job, now = self.jobs.get(job_id), self.clock()
        if job is None or job.state is not JobState.ACTIVE:
            return
        live = self.executions.live_of(job_id, since=job.waiting_since(now))
        if any(self.executions.ends_its_job(job_id, one.execution_id) for one in live):
            return
        last = last_due(job.schedule)  # whatever came before it is on record, too
        standing = self.executions.get(job_id, execution_id(job_id, last)) if last else None
        if standing is not None and standing.status in FINAL:
            self.jobs.finish(job, now)
