"""Pause, resume, cancel and delete jobs. The planner applies the consequences to the job's executions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.jobs.job import LIVE_STATES, REMOVED_STATES, Job, JobState
from punctual.domain.planning.disposal import Disposal, disposal_on_pause
from punctual.domain.planning.missed_instants import removal_reason
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import DryRunChanges, changes_on_removal, changes_on_resume, foreseen_from

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs
    from punctual.stages.api.find import Finder

ALLOWED_FROM = {
    JobState.PAUSED: {JobState.ACTIVE},
    JobState.ACTIVE: {JobState.PAUSED},
    JobState.CANCELLED: {JobState.ACTIVE, JobState.PAUSED},
    JobState.DELETED: {JobState.ACTIVE, JobState.PAUSED, JobState.DONE, JobState.CANCELLED},
}
"""The states from which a caller may move a job to a state."""
MAX_STATE_CHANGE_TRIES = 5
STAYING = (Disposal.KEEP, Disposal.DEFER)
"""The executions that a pause leaves, possibly to run later."""


@dataclass(frozen=True)
class JobStateChanger:
    jobs: Jobs
    executions: Executions
    clock: Clock
    find: Finder

    def change_state(self, job_id: str, state: JobState, caller: Caller, paused_by: str | None = None) -> Job:
        """Change the state of a job and return the job.

        ``paused_by`` is the bulk operation that pauses the job; a resume applies only to a job that it has paused.
        Idempotent, except that deleting a deleted job is a ``Conflict``. Raises ``NotFound``, ``Forbidden``, or
        ``Conflict`` when the current state does not allow the change.
        """
        for _ in range(MAX_STATE_CHANGE_TRIES):
            job = self._find_changeable(job_id, state, caller)
            now = self.clock()
            if state is JobState.ACTIVE and paused_by not in (None, job.paused_by):
                raise Conflict(f"the job was paused by another request, or changed after {paused_by}", field="job_id")
            if job.state is state:
                return job
            if self.jobs.change_state(job, state, now, paused_by):
                return job.with_state(state, now, paused_by)
        raise Conflict("the job kept changing during this request: read it and try again", field="job_id")

    def preview(self, job_id: str, state: JobState, caller: Caller) -> DryRunChanges:
        """Dry run of ``change_state``."""
        job, now = self._find_changeable(job_id, state, caller), self.clock()
        if job.state is state:
            return DryRunChanges()
        if state is JobState.ACTIVE:
            return self._preview_resume(job, now)
        live = self.executions.live_of(job_id, since=job.waiting_since(now))
        if state is JobState.PAUSED:
            paused = job.with_state(state, now)
            live = (one for one in live if disposal_on_pause(paused, one, now) not in STAYING)
        vanish = foreseen_from(live)
        is_removed = state in REMOVED_STATES and job.state in LIVE_STATES
        changes = self._preview_missed(job, state, now) if is_removed else DryRunChanges()
        return replace(changes, vanish=vanish).shortened()

    def _preview_missed(self, job: Job, state: JobState, now: datetime) -> DryRunChanges:
        """List the instants missed in a pause or an outage, which the planner records when the job is removed."""
        last = self.executions.last_planned(job, up_to=job.planned_until(now))
        return self._without_existing(
            changes_on_removal(job, last, now, f"skipped: {removal_reason(job.state, state)}")
        )

    def _preview_resume(self, job: Job, now: datetime) -> DryRunChanges:
        assert job.paused_at is not None
        last = self.executions.last_planned(job, up_to=job.paused_at)
        changes = changes_on_resume(
            job.with_state(JobState.ACTIVE, now),
            job.planning_resumes_after(last),
            now,
            partial(self.executions.was_cancelled, job.job_id),
        )
        live = self.executions.live_of(job.job_id, since=job.waiting_since(now))
        deferred = foreseen_from((one for one in live if one.is_deferred), "kept during the pause")
        return replace(self._without_existing(changes), repeat=deferred).shortened()

    def _without_existing(self, changes: DryRunChanges) -> DryRunChanges:
        """Drop executions that are stored already: an execution cancelled ahead of its due instant stays cancelled."""
        existing = self.executions.read_many(one.execution_id for one in changes.appear)
        return replace(changes, appear=tuple(one for one in changes.appear if one.execution_id not in existing))

    def _find_changeable(self, job_id: str, state: JobState, caller: Caller) -> Job:
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if job.state not in ALLOWED_FROM[state] and (job.state is not state or state is JobState.DELETED):
            raise Conflict(f"job {job_id!r} is {job.state}: it cannot be {_PARTICIPLES[state]}", field="job_id")
        return job


_PARTICIPLES = {
    JobState.PAUSED: "paused",
    JobState.ACTIVE: "resumed",
    JobState.CANCELLED: "cancelled",
    JobState.DELETED: "deleted again",
}
