"""Plan: turn jobs into executions. ``punctual.stages.dispatch.send`` sends the executions to the workers.

The planner reacts to stream records:

* a job was created: its first executions are stored;
* a job was cancelled or deleted: its live executions are stopped;
* a job was edited: executions without an attempt are replaced. If the new schedule lacks their instant, they are
  skipped if they were due before the edit, and removed otherwise;
* a job was paused: executions without an attempt are skipped if they were due when the pause began (in the long lane:
  if they are due by now), and removed otherwise. Manual runs, manual retries and backfills are never removed.
  Executions of queue messages are deferred: they become ``scheduled`` until the job is resumed;
* a job was resumed: its misfire policy decides on the missed instants, planning continues, and deferred executions
  become ``queued``;
* the leader (the last planned execution of a recurring job) was stored as ``queued``, ``skipped`` or ``missed``, or a
  ``scheduled`` leader became ``queued`` or ``cancelled``: its successors are stored.

Streams deliver at least once, so each step may run twice, late, or after a crash between any two writes. Every step is
idempotent: execution ids are derived from job and due instant, and adding an existing id changes nothing unless the job
was edited. An execution is stored before its timer (in the long lane: before the EventBridge schedule that starts it),
and the leader after all others. After a crash, the redelivered record therefore completes whatever is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution, LiveExecution, as_live
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.horizon import PLANNER_HORIZON, StartTrigger, start_trigger
from punctual.domain.executions.lease import CANCEL_GRACE
from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import LIVE_STATES, REMOVED_STATES, Job, JobState
from punctual.domain.jobs.misfire import MisfireDecision
from punctual.domain.planning.disposal import (
    CHANGED_REASON,
    DEFERRED_REASON,
    PAUSED_REASON,
    Disposal,
    disposal_of_unstarted,
    disposal_on_pause,
)
from punctual.domain.planning.missed_instants import missed_at_removal, removal_reason
from punctual.domain.planning.replan import Replan, old_rules_until, planned_until_edit, replan, unplanned_instants
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions, Misfires
    from punctual.ports.jobs import Jobs
    from punctual.stages.plan.finish_job import JobFinisher
    from punctual.stages.plan.planned_executions import PlannedExecutions
    from punctual.stages.run.gates import Gatekeeper

PLAN_BATCH_SIZE = 300
"""Maximum number of due instants per batch. Unless the schedule ends with it, the last execution of a batch is the
leader: when it is queued, the planner stores the next batch."""


@dataclass(frozen=True)
class Planner:
    jobs: Jobs
    executions: Executions
    misfire_records: Misfires
    planned: PlannedExecutions
    gatekeeper: Gatekeeper
    finisher: JobFinisher
    clock: Clock

    def job_changed(self, job: Job, before: Job | None = None) -> None:
        """Handle a job that was created, edited, paused, resumed, cancelled or deleted. ``before`` is its old image.

        Idempotent. The record may be late: only the current version of the job is planned. For a version that was
        superseded, only the instants are recorded that came due under the rules before it and were never planned; its
        own instants are left to the record of the next version.
        """
        current = self.jobs.get(job.job_id) or job
        if before is not None and before.schedule != job.schedule and job.state in LIVE_STATES:
            is_planned = (current.state, current.revision) == (JobState.ACTIVE, job.revision)
            self.planned.record_skipped(before, [] if is_planned else self._unplanned(job, before), CHANGED_REASON)
        if job.state is JobState.ACTIVE:
            if (current.state, current.revision) == (JobState.ACTIVE, job.revision):
                self._plan_current(current, before)
        elif job.state is JobState.PAUSED:
            for one in self.executions.live_of(job.job_id, since=job.waiting_since(self.clock())):
                if current.state is JobState.PAUSED:
                    self.apply_pause(current, one)
                elif one.revision < current.revision and not one.is_of_message:
                    self.apply_pause(job, one, is_current=False)
        elif job.state in REMOVED_STATES:
            if before is not None and before.state in LIVE_STATES:
                self._record_missed_before_removal(before, job)
            for one in self.executions.live_of(job.job_id, since=job.waiting_since(self.clock())):
                self.stop(job.job_id, one.execution_id, f"job {job.state}")

    def _plan_current(self, job: Job, before: Job | None) -> None:
        if job.schedule.kind == "queue" and job.paused_at is not None:
            self.planned.queue_deferred(job, job.paused_at)
        if before is not None and before.state is JobState.PAUSED:
            assert job.paused_at is not None  # kept after the resume
            last = self.executions.last_planned(job, up_to=job.paused_at)
            self._plan(job, after=job.planning_resumes_after(last))
        elif job.revision == 1:
            self._plan(job, after=job.created_at - MILLISECOND)
        else:
            self._plan_edited(job, before)

    def _unplanned(self, job: Job, before: Job) -> list[datetime]:
        """Return the instants that came due under the rules before ``job`` and were never planned."""
        last = self.executions.last_planned(before, up_to=planned_until_edit(job))
        return unplanned_instants(before, last, old_rules_until(job))

    def repair_chain(self, leader: Execution) -> None:
        """Plan the successors of a leader if the next one is missing and the job is active. Idempotent."""
        job = self.jobs.get(leader.job_id)
        if job is None or job.state is not JobState.ACTIVE:
            return
        following = job.schedule.next_after(job.planning_resumes_after(leader.scheduled_at))
        if following and self.executions.get(job.job_id, execution_id(job.job_id, following)) is None:
            self.plan_successors(job, leader)

    def plan_successors(self, job: Job, leader: Execution) -> None:
        """Plan the executions that follow the leader, then read the job again. Idempotent.

        After an edit of the schedule, instants before the edit are not planned: they belong to the earlier schedule. If
        the job was edited, paused, cancelled or deleted meanwhile, the planner may have handled that change before the
        successors were stored. The current job is therefore handled again, without its old image: that corrects the
        successors.
        """
        self._plan(job, after=job.planning_resumes_after(leader.scheduled_at))
        current = self.jobs.get(job.job_id)
        if current is not None and (current.state, current.revision) != (job.state, job.revision):
            self.job_changed(current)

    def replace_outdated(self, job: Job, execution: Execution) -> bool:
        """Replace, skip or remove an execution that was planned under an earlier revision, and return whether it was.

        An edit replaces the executions that it finds. A planner that was slow may store others later: they are replaced
        here, before they are sent.
        """
        one = as_live(execution)
        is_outdated = one.revision < job.revision and one.is_from_schedule and one.has_not_started
        if not is_outdated or execution.may_have_parts:
            return False
        if job.has_instant(one.scheduled_at):
            decision = self._decide_misfires(job, [one.scheduled_at])
            self.planned.store(self._execution(job, one.scheduled_at, decision, None, exhausted=False), job)
        else:
            disposal = disposal_of_unstarted(one, due_by=old_rules_until(job), now=self.clock())
            self.planned.dispose(job, one, disposal, CHANGED_REASON)
        return True

    def stop(self, job_id: str, an_execution_id: str, reason: str) -> None:
        """Cancel an execution, or ask a running one to stop within ``CANCEL_GRACE``. Raises ``GateContention``.

        No effect if it has ended or does not exist.
        """
        execution = self.executions.get(job_id, an_execution_id)
        if execution is not None:
            self.gatekeeper.stop(execution, reason, CANCEL_GRACE)

    def apply_pause(self, job: Job, one: LiveExecution, *, is_current: bool = True) -> bool:
        """Skip, defer or remove an execution of a paused job and return whether that was done.

        See ``disposal_on_pause``. Raises ``JobChanged`` for an execution to defer or remove if the job has changed: a
        resume may have planned the same instant again, under the same revision. If ``job`` is not the current version,
        it has a later revision, by which the writes tell them apart.
        """
        disposal, records = disposal_on_pause(job, one, self.clock()), self.misfire_records.of(job)
        if disposal is Disposal.DEFER:
            records.defer(one, DEFERRED_REASON, self.clock())
        remove = records.remove if is_current else None
        self.planned.dispose(job, one, disposal, PAUSED_REASON, remove)
        return disposal is not Disposal.KEEP

    def _plan(self, job: Job, after: datetime | None) -> None:
        """Store the next batch of executions after ``after``.

        The batch ends with the first execution beyond the planner's horizon, or at ``PLAN_BATCH_SIZE``. Another batch
        follows only if the leader existed already, has ended without an attempt, and is not due yet
        (``_continue_after``).
        """
        while after is not None:
            after = self._plan_batch(job, after)

    def _plan_batch(self, job: Job, after: datetime) -> datetime | None:
        """Store one batch. Return where planning has to continue at once, or ``None``: see ``_continue_after``."""
        instants, exhausted = self._next_instants(job, after)
        if not instants:
            if exhausted and job.schedule.kind != "queue":
                self.finisher.finish_if_complete(job.job_id)
            return None
        decision = self._decide_misfires(job, instants)
        planned = [self._execution(job, due, decision, instants[-1], exhausted=exhausted) for due in instants]
        # In order, the leader last: so no instant before a stored one is missing. The first one tells whether an
        # earlier call has stored the batch, or a part of it.
        existing = self.planned.store(planned[0], job)
        misfired = list(takewhile(lambda one: one.status in FINAL, planned[1:-1])) if existing is None else []
        self.misfire_records.of(job).add_all(misfired)  # many, after an outage
        for one in planned[1 + len(misfired) :]:
            if existing is not None and existing.is_leader and not _ended_unstarted(existing):
                return None  # an earlier call has stored this batch, and the existing leader plans its own successors
            existing = self.planned.store(one, job)
        return self._continue_after(existing, exhausted=exhausted)

    def _continue_after(self, last: Execution | None, *, exhausted: bool) -> datetime | None:
        """Return where planning has to continue if an existing leader ended without an attempt and is not due yet.

        The record of its end may have been processed while the job was paused, and a leader that is skipped after it
        was stored triggers nothing, so nothing else would plan its successors. Likewise, if the schedule is exhausted
        and the last execution has ended, no further record would finish the job.
        """
        if last is not None and exhausted and last.status in FINAL:
            self.finisher.finish_if_complete(last.job_id)
        if last is None or exhausted or not _ended_unstarted(last) or last.scheduled_at <= self.clock():
            return None
        return last.scheduled_at

    def _plan_edited(self, job: Job, before: Job | None) -> None:
        """Replace executions of an earlier revision without an attempt; skip or remove those not in the new schedule.

        Instants that came due before the edit and were not planned yet are planned, or recorded as skipped.
        """
        plan = self._replan(job, before)
        instants, exhausted = self._next_instants(job, old_rules_until(job))
        dues = [*plan.kept, *instants]
        decision = self._decide_misfires(job, [due for due in dues if due not in plan.in_time])
        if before is not None:
            self.planned.record_skipped(before, plan.dropped, CHANGED_REASON)
        existing = None
        for due in dues:
            existing = self.planned.store(self._execution(job, due, decision, dues[-1], exhausted=exhausted), job)
        for one in plan.obsolete(instants.__contains__):
            disposal = disposal_of_unstarted(one, due_by=old_rules_until(job), now=self.clock())
            self.planned.dispose(job, one, disposal, CHANGED_REASON)
        self._plan(job, after=self._continue_after(existing, exhausted=exhausted))

    def _decide_misfires(self, job: Job, instants: Sequence[datetime]) -> MisfireDecision:
        was_cancelled = partial(self.executions.was_cancelled, job.job_id)
        return job.misfire.decide(instants, job.schedule, self.clock(), job.resumed_at, was_cancelled=was_cancelled)

    def _replan(self, job: Job, before: Job | None) -> Replan:
        live = self.executions.live_of(job.job_id, since=job.waiting_since(self.clock()))
        return replan(job, before, live, self.executions.last_planned(before or job, up_to=planned_until_edit(job)))

    def _record_missed_before_removal(self, previous: Job, removed: Job) -> None:
        """Record as ``skipped`` the unplanned instants that came due before the job was cancelled or deleted.

        These are the latest of them, at most ``MAX_LISTED_INSTANTS``.
        """
        until = removed.updated_at - MILLISECOND
        last = self.executions.last_planned(previous, up_to=previous.planned_until(until))
        latest, _ = missed_at_removal(previous, last, until)
        self.planned.record_skipped(previous, latest, removal_reason(previous.state, removed.state))

    def _execution(
        self, job: Job, due: datetime, decision: MisfireDecision, last_due: datetime | None, *, exhausted: bool
    ) -> Execution:
        now = self.clock()
        is_last = due == last_due
        is_leader = is_last and job.schedule.recurring and not exhausted
        execution = execution_of(
            job, due, status=Status.SCHEDULED, now=now, is_leader=is_leader, is_last=is_last and exhausted
        )
        if ending := decision.ending_of(job.job_id, due):
            ended = replace(execution, status=ending.status, reason=ending.reason, covered_by=ending.covered_by)
            return replace(ended, ended_at=now, check_at=None)
        if start_trigger(execution, now) is StartTrigger.NOW:
            return replace(execution, status=Status.QUEUED, queued_at=now)
        return execution

    def _next_instants(self, job: Job, after: datetime) -> tuple[list[datetime], bool]:
        """Return the next batch of instants, and whether the schedule is exhausted after it.

        The batch ends with the first instant beyond the planner's horizon.
        """
        horizon = self.clock() + PLANNER_HORIZON
        dues: list[datetime] = []
        due = job.schedule.next_after(after)
        while due is not None and len(dues) < PLAN_BATCH_SIZE:
            dues.append(due)
            beyond = due > horizon
            due = job.schedule.next_after(due)
            if beyond:
                break
        return dues, due is None


def _ended_unstarted(execution: Execution) -> bool:
    """Whether an execution ended without an attempt."""
    return execution.status in FINAL and execution.attempt == 0
