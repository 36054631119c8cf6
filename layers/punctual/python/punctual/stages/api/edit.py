"""Edit: the next revision of a job. The planner hears of it, and replaces what was planned and has not started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Conflict, Invalid, Stale
from punctual.domain.jobs.batch import OF_BATCHES
from punctual.domain.jobs.job import LIVE, Job, JobState
from punctual.domain.jobs.misfire import Misfire
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.planning.dependency_graph import Tied
from punctual.domain.planning.replan import edited_until, planned_until, replan
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import Changes, coming, foreseen, made_up
from punctual.domain.schedules.schedule import Schedule

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Ties
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Drafts, Jobs

REPLACED = "replaced: the same instant, under the new rules"
RETIED = frozenset({"depends_on", "schedule", "window"})
"""What decides which executions of its upstreams a job waits for: only then are they looked at again."""
OF_THE_LANE = (*OF_BATCHES, "timeout_seconds", "expected_seconds")


@dataclass(frozen=True)
class Edit:
    jobs: Jobs
    drafts: Drafts
    executions: Executions
    ties: Ties
    clock: Clock
    find: Callable[[str], Job]

    def edit(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Job:
        """The next revision of a job, with ``changes`` in place of what it said. ``None`` sets a field back.

        ``revision`` is the one that the caller has seen, if they say so: then another's change is not overwritten.
        """
        job = self._changeable(job_id, revision, caller)
        if not changes:
            return job
        tied = self._edited(job, changes, caller)
        self.ties.note(tied)
        [edited] = tied.jobs
        if not self.jobs.replace(edited):
            raise Stale("the job was changed at the same moment: look at it again", field="If-Match")
        if edited.depends_on != job.depends_on:
            self._take_back_a_circle(job, edited)
        return edited

    def foresee(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Changes:
        """What ``edit`` would replace, bring and take away."""
        job, now = self._changeable(job_id, revision, caller), self.clock()
        if not changes:
            return Changes()
        [edited] = self._edited(job, changes, caller).jobs
        live = self.executions.live_of(job_id, since=edited.waiting_since(now))
        plan = replan(edited, job, live, self.executions.last_planned(job_id, before=planned_until(edited)))
        late = made_up(edited, plan, now, partial(self.executions.withdrawn, job_id))
        appear = [*late, *coming(edited, edited_until(edited), now)]
        known = [
            one for one in plan.outdated if edited.state is JobState.ACTIVE and edited.has_instant(one.scheduled_at)
        ]
        standing = self.executions.read_many(
            [*(one.execution_id for one in appear), *(one.execution_id for one in known)]
        )
        # what has its state machine in the long lane already is not replaced
        carried = {one.execution_id for one in standing.values() if one.run_arn}
        replaced = [one for one in known if one.execution_id not in carried]
        left_out = {one.execution_id: one for one in late if one.note}
        return Changes(
            appear=tuple(one for one in appear if one.execution_id not in standing),
            vanish=(
                *foreseen(one for one in plan.outdated if one not in known),
                *(left_out[one.execution_id] for one in replaced if one.execution_id in left_out),
            ),
            repeat=foreseen((one for one in replaced if one.execution_id not in left_out), REPLACED),
        ).shortened()

    def _take_back_a_circle(self, job: Job, edited: Job) -> None:
        """Two edits at the same moment may close one between them: whoever of them looks last sees it."""
        try:
            self.ties.check(replace(edited, feeds=True))
        except Invalid:
            now = self.clock()
            rescheduled_at = job.rescheduled_at if edited.schedule == job.schedule else now
            self.jobs.replace(
                replace(
                    job,
                    revision=edited.revision + 1,
                    updated_at=now,
                    revised_at=now,
                    rescheduled_at=rescheduled_at,
                    live_since=edited.live_since,
                    feeds=True,
                )
            )
            raise

    def _changeable(self, job_id: str, revision: int | None, caller: Caller) -> Job:
        job = self.find(job_id)
        caller.must_manage(job)
        if job.state not in LIVE:
            raise Conflict(f"job {job_id!r} is {job.state}: it cannot be changed", field="job_id")
        if revision is not None and revision != job.revision:
            raise Stale(f"the job is at revision {job.revision}, not {revision}: look at it again", field="If-Match")
        return job

    def _edited(self, job: Job, changes: Mapping[str, Any], caller: Caller) -> Tied:
        if changes.get("dedupe_key", job.dedupe_key) != job.dedupe_key:
            message = "stays what it was when the job was submitted: delete the job, and submit one with another key"
            raise Invalid("dedupe_key", message)
        now = self.clock()
        standing = _as_submitted(job)
        if job.overlap is Overlap.usual(recurring=job.schedule.recurring):
            standing.pop("overlap")  # what is usual may be another thing with another schedule
        if changes.get("lane", job.lane) != job.lane:  # what belongs to the lane that it leaves goes with it
            standing = {name: value for name, value in standing.items() if name not in OF_THE_LANE}
        kept = None if "schedule" in changes else job.schedule
        edited = self._drafted(standing, changes, kept, caller, now)
        edited = replace(
            edited,
            job_id=job.job_id,
            owner=job.owner,
            created_by=job.created_by,
            created_at=job.created_at,
            revision=job.revision + 1,
            run_times=job.run_times,
            live_since=job.live_since,
            state=job.state,
            paused_at=job.paused_at,
            resumed_at=job.resumed_at,
            revised_at=now,
            rescheduled_at=job.rescheduled_at if edited.schedule == job.schedule else now,
            dedupe_key=job.dedupe_key,
            feeds=job.feeds,
        )
        if (since := job.waiting_since(now)) < edited.waiting_since(now):  # what waits by the rules of now
            edited = replace(edited, live_since=since)
        return self.ties.check(edited) if RETIED.intersection(changes) else Tied([edited])

    def _drafted(
        self,
        standing: Mapping[str, Any],
        changes: Mapping[str, Any],
        kept: Schedule | None,
        caller: Caller,
        now: datetime,
    ) -> Job:
        """The job that a submission of all this would make."""
        said = {name: value for name, value in {**standing, **changes}.items() if value is not None}
        try:
            return self.drafts.draft(said, caller, now, kept=kept, changed=changes)
        except Invalid as error:
            name = str(error.field).partition(".")[0]
            if name in changes or name not in standing or name == "task":
                raise
            raise Invalid(str(error.field), f"{error.message}; the job has it: null takes it away") from None


def _as_submitted(job: Job) -> dict[str, Any]:
    """What a submission of this job would say."""
    batch = job.batch
    said: dict[str, Any] = {
        "task": job.task,
        "name": job.name,
        "parameters": job.parameters,
        "schedule": job.schedule.to_spec(),
        "lane": job.lane,
        "priority": job.priority,
        "timeout_seconds": job.timeout_seconds,
        "retry": asdict(job.retry),
        "deadline": job.deadline.to_spec() if job.deadline else None,
        "expected_seconds": job.expected_seconds,
        "overlap": job.overlap,
        "misfire": job.misfire.to_spec() if job.misfire != Misfire() else None,
        "concurrency": job.concurrency.to_spec() if job.concurrency else None,
        "notify": job.notify.to_spec() if job.notify else None,
        "window": job.window,
        "depends_on": [one.to_spec() for one in job.depends_on],
    }
    if batch is not None:
        said |= {
            "resources": batch.resources.to_spec(),
            "container": {"image": batch.image, "command": list(batch.command)} if batch.image else None,
            "partitions": batch.partitions.to_spec() if batch.partitions else None,
            "preemptible": batch.preemptible,
        }
    return said
