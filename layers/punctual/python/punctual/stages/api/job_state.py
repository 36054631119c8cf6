"""Manage: pause, resume, cancel and delete a job. The planner hears of it and does what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.jobs.job import GONE, LIVE, Job, JobState
from punctual.domain.planning.missed_instants import why
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import Changes, foreseen, left_behind, resumed

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs

FROM = {
    JobState.PAUSED: {JobState.ACTIVE},
    JobState.ACTIVE: {JobState.PAUSED},
    JobState.CANCELLED: {JobState.ACTIVE, JobState.PAUSED},
    JobState.DELETED: {JobState.ACTIVE, JobState.PAUSED, JobState.DONE, JobState.CANCELLED},
}
"""From where a person may bring a job into a state."""
TRIES = 5


@dataclass(frozen=True)
class Manage:
    jobs: Jobs
    executions: Executions
    clock: Clock
    find: Callable[[str], Job]

    def move(self, job_id: str, state: JobState, caller: Caller) -> Job:
        """The job, as it is then. One that is in that state already stays as it is, but for a deleted one."""
        for _ in range(TRIES):
            job = self._movable(job_id, state, caller)
            now = self.clock()
            if job.state is state:
                return job
            if self.jobs.move(job, state, now):
                return job.moved(state, now)
        raise Conflict("the job keeps changing: look at it again", field="job_id")

    def foresee(self, job_id: str, state: JobState, caller: Caller) -> Changes:
        """What ``move`` would do."""
        job, now = self._movable(job_id, state, caller), self.clock()
        if job.state is state:
            return Changes()
        if state is JobState.ACTIVE:
            return self._foresee_resumption(job, now)
        live = self.executions.live_of(job_id, since=job.waiting_since(now))
        vanish = foreseen(one for one in live if one.has_not_started or state is not JobState.PAUSED)
        changes = self._foresee_what_stays(job, state, now) if state in GONE and job.state in LIVE else Changes()
        return replace(changes, vanish=vanish).shortened()

    def _foresee_what_stays(self, job: Job, state: JobState, now: datetime) -> Changes:
        """What went by in a pause or an outage is then on record."""
        last = self.executions.last_planned(job.job_id, before=job.planned_until(now))
        return self._without_those_on_record(
            left_behind(job, job.goes_on_after(last), now, f"skipped: {why(job.state, state)}")
        )

    def _foresee_resumption(self, job: Job, now: datetime) -> Changes:
        assert job.paused_at is not None
        last = self.executions.last_planned(job.job_id, before=job.paused_at)
        changes = resumed(
            job.moved(JobState.ACTIVE, now),
            job.goes_on_after(last),
            now,
            partial(self.executions.withdrawn, job.job_id),
        )
        return self._without_those_on_record(changes)

    def _without_those_on_record(self, changes: Changes) -> Changes:
        """What was cancelled before its time stays that."""
        standing = self.executions.read_many(one.execution_id for one in changes.appear)
        return replace(changes, appear=tuple(one for one in changes.appear if one.execution_id not in standing))

    def _movable(self, job_id: str, state: JobState, caller: Caller) -> Job:
        job = self.find(job_id)
        caller.must_manage(job)
        if job.state not in FROM[state] and (job.state is not state or state is JobState.DELETED):
            raise Conflict(f"job {job_id!r} is {job.state}: it cannot be {_TOLD[state]}", field="job_id")
        return job


_TOLD = {
    JobState.PAUSED: "paused",
    JobState.ACTIVE: "resumed",
    JobState.CANCELLED: "cancelled",
    JobState.DELETED: "deleted again",
}
