"""Edit: store the next revision of a job. The planner then replaces executions that are planned but not started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Conflict, Invalid, Stale
from punctual.domain.jobs.batch import LONG_LANE_FIELDS
from punctual.domain.jobs.job import LIVE_STATES, Job, JobState
from punctual.domain.jobs.misfire import default_misfire
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.planning.dependency_graph import CheckedJobs
from punctual.domain.planning.replan import old_rules_until, planned_until_edit, replan
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dedupe import duplicate_of
from punctual.domain.requests.dry_run import DryRunChanges, foreseen_from, overdue_at_edit, upcoming_executions
from punctual.domain.schedules.schedule import Schedule

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.jobs import Jobs
    from punctual.stages.api.dependencies import DependencyChecker
    from punctual.stages.api.find import Finder
    from punctual.stages.api.submission import JobBuilder

REPLACED = "replaced: the same instant, under the new rules"
MATCHING_FIELDS = frozenset({"depends_on", "schedule", "window"})
"""The fields that decide which upstream executions a job waits for: dependencies are checked only if one changes."""
LANE_FIELDS = (*LONG_LANE_FIELDS, "timeout_seconds", "expected_seconds")
"""The fields that an edit resets when it changes the lane."""


@dataclass(frozen=True)
class Edit:
    jobs: Jobs
    builder: JobBuilder
    executions: Executions
    dependencies: DependencyChecker
    clock: Clock
    find: Finder

    def edit(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Job:
        """Store and return the next revision of a job. A change to ``None`` resets a field to its default.

        ``revision`` is the revision that the caller has read, if given: the edit then never overwrites a concurrent
        one. Raises ``NotFound``, ``Forbidden``, ``Conflict``, ``Invalid``, or ``Stale`` when another edit came first.
        """
        job = self._find_editable(job_id, revision, caller)
        if not changes:
            return job
        checked = self._next_revision(job, changes, caller)
        self.dependencies.mark_upstreams(checked)
        [edited] = checked.jobs
        if not self.jobs.replace(edited, job):
            self._check_name(edited)
            raise Stale("the job changed during this request: read it and send the edit again", field="If-Match")
        if edited.depends_on != job.depends_on:
            self._revert_cycle(job, edited)
        return edited

    def preview(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> DryRunChanges:
        """Dry run of ``edit``: the executions that it would add, remove and replace."""
        job, now = self._find_editable(job_id, revision, caller), self.clock()
        if not changes:
            return DryRunChanges()
        [edited] = self._next_revision(job, changes, caller).jobs
        live = self.executions.live_of(job_id, since=edited.waiting_since(now))
        plan = replan(edited, job, live, self.executions.last_planned(job, up_to=planned_until_edit(edited)))
        overdue = overdue_at_edit(edited, plan, now, partial(self.executions.was_cancelled, job_id))
        appear = [*overdue, *upcoming_executions(edited, old_rules_until(edited), now)]
        obsolete = plan.obsolete(lambda due: edited.state is JobState.ACTIVE and edited.has_instant(due))
        kept = [one for one in plan.outdated if one not in obsolete]
        existing = self.executions.read_many(
            [*(one.execution_id for one in appear), *(one.execution_id for one in kept)]
        )
        # an execution of the long lane whose state machine has started is not replaced
        started = {one.execution_id for one in existing.values() if one.may_have_parts}
        replaced = [one for one in kept if one.execution_id not in started]
        not_run = {one.execution_id: one for one in overdue if one.note}
        return DryRunChanges(
            appear=tuple(one for one in appear if one.execution_id not in existing),
            vanish=(
                *foreseen_from(obsolete),
                *(not_run[one.execution_id] for one in replaced if one.execution_id in not_run),
            ),
            repeat=foreseen_from((one for one in replaced if one.execution_id not in not_run), REPLACED),
        ).shortened()

    def _revert_cycle(self, job: Job, edited: Job) -> None:
        """Restore the former rules if concurrent edits have closed a cycle together.

        Each edit checks again after it was stored, so at least the later of the two sees the cycle.
        """
        try:
            self.dependencies.check(replace(edited, is_upstream=True))
        except Invalid:
            now = self.clock()
            revision = edited.revision + 1
            is_same_schedule = edited.schedule == job.schedule
            restored = replace(
                job,
                revision=revision,
                updated_at=now,
                revised_at=now,
                rescheduled_at=job.rescheduled_at if is_same_schedule else now,
                schedule_revision=job.schedule_revision if is_same_schedule else revision,
                live_since=edited.live_since,
                is_upstream=True,
            )
            if not self.jobs.replace(restored, edited):  # if its former name was taken meanwhile, it keeps the new one
                self.jobs.replace(replace(restored, name=edited.name), edited)
            raise

    def _check_name(self, edited: Job) -> None:
        """Raise ``Conflict`` if another live job has the name of the edited one."""
        for key, holder in self.jobs.find_live(edited.unique_keys).items():
            if holder.job_id != edited.job_id:
                raise duplicate_of(holder, key, key.field)

    def _find_editable(self, job_id: str, revision: int | None, caller: Caller) -> Job:
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if job.state not in LIVE_STATES:
            message = f"job {job_id!r} is {job.state}: only an active or paused job can be changed"
            raise Conflict(message, field="job_id")
        if revision is not None and revision != job.revision:
            message = f"the job is at revision {job.revision}, not {revision}: read it and send the edit again"
            raise Stale(message, field="If-Match")
        return job

    def _next_revision(self, job: Job, changes: Mapping[str, Any], caller: Caller) -> CheckedJobs:
        if changes.get("dedupe_key", job.dedupe_key) != job.dedupe_key:
            message = "cannot be changed: delete the job, and submit a new one with the other key"
            raise Invalid("dedupe_key", message)
        now = self.clock()
        current = _to_submission(job)
        if job.overlap is Overlap.default(recurring=job.schedule.recurring):
            current.pop("overlap")  # the default may differ for the new schedule
        if changes.get("lane", job.lane) != job.lane:
            current = {name: value for name, value in current.items() if name not in LANE_FIELDS}
        kept_schedule = None if "schedule" in changes else job.schedule
        edited = self._build(current, changes, kept_schedule, replace(caller, owners=(job.owner,)), now)
        is_same_schedule, revision = edited.schedule == job.schedule, job.revision + 1
        edited = replace(
            edited,
            job_id=job.job_id,
            created_by=job.created_by,
            created_at=job.created_at,
            revision=revision,
            run_times=job.run_times,
            live_since=job.live_since,
            state=job.state,
            paused_at=job.paused_at,
            resumed_at=job.resumed_at,
            revised_at=now,
            rescheduled_at=job.rescheduled_at if is_same_schedule else now,
            schedule_revision=job.schedule_revision if is_same_schedule else revision,
            dedupe_key=job.dedupe_key,
            is_upstream=job.is_upstream,
        )
        if edited.name != job.name:
            self._check_name(edited)
        # executions that wait under the current rules must stay findable under the new ones
        if (since := job.waiting_since(now)) < edited.waiting_since(now):
            edited = replace(edited, live_since=since)
        return self.dependencies.check(edited) if MATCHING_FIELDS.intersection(changes) else CheckedJobs([edited])

    def _build(
        self,
        current: Mapping[str, Any],
        changes: Mapping[str, Any],
        kept_schedule: Schedule | None,
        caller: Caller,
        now: datetime,
    ) -> Job:
        """Build the job from the current fields and the changes.

        An error in a field that the request did not change says how to remove that field.
        """
        submission = {name: value for name, value in {**current, **changes}.items() if value is not None}
        try:
            return self.builder.build(submission, caller, now, kept_schedule=kept_schedule, changed=changes)
        except Invalid as error:
            name = str(error.field).partition(".")[0]
            if name in changes or name not in current or name == "task":
                raise
            message = f"{error.message}; the job has this field: set it to null to remove it"
            raise Invalid(str(error.field), message) from None


def _to_submission(job: Job) -> dict[str, Any]:
    """Return the submission that would create this job."""
    batch = job.batch
    submission: dict[str, Any] = {
        "task": job.task,
        "name": job.name,
        "parameters": job.parameters,
        "tags": job.tags,
        "schedule": job.schedule.to_spec(),
        "lane": job.lane,
        "priority": job.priority,
        "timeout_seconds": job.timeout_seconds,
        "retry": asdict(job.retry),
        "deadline": job.deadline.to_spec() if job.deadline else None,
        "expected_seconds": job.expected_seconds,
        "overlap": job.overlap,
        "misfire": None if job.misfire == default_misfire(job.schedule) else job.misfire.to_spec(),
        "concurrency": job.concurrency.to_spec() if job.concurrency else None,
        "notify": job.notify.to_stored() if job.notify else None,
        "window": job.window,
        "depends_on": [one.to_spec() for one in job.depends_on],
    }
    if batch is not None:
        submission |= {
            "resources": batch.resources.to_spec(),
            "container": {"image": batch.image, "command": list(batch.command)} if batch.image else None,
            "partitions": batch.partitions.to_spec() if batch.partitions else None,
            "preemptible": batch.preemptible,
        }
    return submission
