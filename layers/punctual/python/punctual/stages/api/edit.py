"""Edit: store the next revision of a job. The planner then replaces executions that are planned but not started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Conflict, Invalid, Stale
from punctual.domain.jobs.batch import LONG_LANE_FIELDS
from punctual.domain.jobs.definition import to_submission
from punctual.domain.jobs.job import LIVE_STATES, Job, JobState
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.jobs.revision import revision_of
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
    from punctual.ports.revisions import Revisions
    from punctual.stages.api.dependencies import DependencyChecker
    from punctual.stages.api.find import Finder
    from punctual.stages.api.submission import JobBuilder

REPLACED = "replaced: the same instant, under the new rules"
MATCHING_FIELDS = frozenset({"depends_on", "schedule", "window"})
"""The fields that decide which upstream executions a job waits for: dependencies are checked only if one changes."""
CARRIED_OVER = (
    *("job_id", "created_by", "created_at", "dedupe_key", "is_upstream", "run_times", "live_since"),
    *("state", "paused_at", "resumed_at"),
)
"""What no edit changes."""
OF_REVISION = ("revision", "updated_at", "revised_at", "rescheduled_at", "schedule_revision", "paused_by")
"""What every edit changes."""
LANE_FIELDS = (*LONG_LANE_FIELDS, "timeout_seconds", "expected_seconds")
"""The fields that an edit resets when it changes the lane."""


@dataclass(frozen=True)
class Edit:
    jobs: Jobs
    revisions: Revisions
    builder: JobBuilder
    executions: Executions
    dependencies: DependencyChecker
    clock: Clock
    find: Finder

    def edit(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> Job:
        """Store and return the next revision of a job. A change to ``None`` resets a field to its default.

        Idempotent: if the job has the requested fields already, it is returned unchanged.

        ``revision`` is the revision that the caller has read, if given: the edit then never overwrites a concurrent
        one. Raises ``NotFound``, ``Forbidden``, ``Conflict``, ``Invalid``, or ``Stale`` when another edit came first.
        """
        job = self.find_editable(job_id, revision, caller)
        checked = self._next_revision(job, changes, caller)
        if checked is None:
            return job
        self.dependencies.mark_upstreams(checked)
        [edited] = checked.jobs
        if not self.revisions.replace(edited, job, revision_of(edited, job, caller.subject)):
            self._check_name(edited)
            raise Stale("the job changed during this request: read it and send the edit again", field="If-Match")
        if edited.depends_on != job.depends_on:
            self._revert_cycle(job, edited, caller)
        return edited

    def preview(self, job_id: str, changes: Mapping[str, Any], revision: int | None, caller: Caller) -> DryRunChanges:
        """Dry run of ``edit``: the executions that it would add, remove and replace."""
        job = self.find_editable(job_id, revision, caller)
        checked = self._next_revision(job, changes, caller)
        if checked is None:
            return DryRunChanges()
        [edited] = checked.jobs
        return self.foresee(job, edited)

    def foresee(self, job: Job, edited: Job) -> DryRunChanges:
        """The executions that the next revision of a job adds, removes and replaces."""
        now = self.clock()
        live = self.executions.live_of(job.job_id, since=edited.waiting_since(now))
        plan = replan(edited, job, live, self.executions.last_planned(job, up_to=planned_until_edit(edited)))
        overdue = overdue_at_edit(edited, plan, now, partial(self.executions.was_cancelled, job.job_id))
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

    def _revert_cycle(self, job: Job, edited: Job, caller: Caller) -> None:
        """Restore the former rules if concurrent edits have closed a cycle together.

        Each edit checks again after it was stored, so at least the later of the two sees the cycle.
        """
        try:
            self.dependencies.check(replace(edited, is_upstream=True), caller, edited)
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
            for one in (restored, replace(restored, name=edited.name)):  # if its former name was taken meanwhile
                if self.revisions.replace(one, edited, revision_of(one, edited, caller.subject)):
                    break
            raise

    def _check_name(self, edited: Job) -> None:
        """Raise ``Conflict`` if another live job has the name of the edited one."""
        for key, holder in self.jobs.find_live(edited.unique_keys).items():
            if holder.job_id != edited.job_id:
                raise duplicate_of(holder, key, key.field)

    def find_editable(self, job_id: str, revision: int | None, caller: Caller) -> Job:
        """Return a live job that the caller may change, and that is at the revision, if given."""
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if job.state not in LIVE_STATES:
            message = f"job {job_id!r} is {job.state}: only an active or paused job can be changed"
            raise Conflict(message, field="job_id")
        if revision is not None and revision != job.revision:
            message = f"the job is at revision {job.revision}, not {revision}: read it and send the edit again"
            raise Stale(message, field="If-Match")
        return job

    def _next_revision(self, job: Job, changes: Mapping[str, Any], caller: Caller) -> CheckedJobs | None:
        """Return the next revision of a job, with its upstreams; ``None`` if the changes change nothing."""
        if not changes:
            return None
        if changes.get("owner", job.owner) != job.owner:
            raise Invalid("owner", "cannot be changed by an edit: send POST /jobs/{id}/transfer")
        if changes.get("dedupe_key", job.dedupe_key) != job.dedupe_key:
            message = "cannot be changed: delete the job, and submit a new one with the other key"
            raise Invalid("dedupe_key", message)
        now = self.clock()
        current = to_submission(job)
        if job.overlap is Overlap.default(recurring=job.schedule.recurring):
            current.pop("overlap")  # the default may differ for the new schedule
        if changes.get("lane", job.lane) != job.lane:
            current = {name: value for name, value in current.items() if name not in LANE_FIELDS}
        kept_schedule = job.schedule if self._keeps_schedule(job, changes) else None
        built = self._build(current, changes, kept_schedule, replace(caller, teams=(job.owner,)), now)
        same = {name: getattr(job, name) for name in CARRIED_OVER}
        if replace(built, **same, **{name: getattr(job, name) for name in OF_REVISION}) == job:
            return None
        is_same_schedule, revision = built.schedule == job.schedule, job.revision + 1
        edited = replace(
            built,
            **same,
            revision=revision,
            revised_at=now,
            rescheduled_at=job.rescheduled_at if is_same_schedule else now,
            schedule_revision=job.schedule_revision if is_same_schedule else revision,
        )
        if edited.name != job.name:
            self._check_name(edited)
        # executions that wait under the current rules must stay findable under the new ones
        if (since := job.waiting_since(now)) < edited.waiting_since(now):
            edited = replace(edited, live_since=since)
        if not MATCHING_FIELDS.intersection(changes):
            return CheckedJobs([edited])
        return self.dependencies.check(edited, caller, job)

    def _keeps_schedule(self, job: Job, changes: Mapping[str, Any]) -> bool:
        """Whether the changes have no schedule, or that of the job: an interval keeps counting from its start."""
        if "schedule" not in changes:
            return True
        try:
            return self.builder.schedule(changes["schedule"], job.scheduled_since) == job.schedule
        except Invalid:  # not as of today
            return False

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
