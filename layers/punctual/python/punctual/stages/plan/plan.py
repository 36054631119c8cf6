"""Plan: turn jobs into executions. ``forward`` sends those on their way.

Driven by streams alone, so each step may come twice, late, or after a crash between any two lines:

* a job appeared → its first execution is stored; it was cancelled or deleted → what lives of it is stopped;
* a job was edited → what has not started is replaced, or forgotten where its instant is gone;
* a job was paused → what has not started is skipped, or forgotten where its time has not come; it was resumed → what
  went by is sorted out by its misfire rule, and planning goes on;
* an execution that leads became ``queued`` → its successors are stored.

An execution is stored before its timer, or its one-time schedule in the long lane, and the one that leads after all
others: whatever is missing after a crash is made up when the record comes again. Ids are derived, so what is there
already stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import IN_DANGER
from punctual.domain.executions.execution import Execution, Origin, Planned
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.executions.horizon import CANCEL_GRACE, REACH, SWEEP
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import GONE, LIVE, Job, JobState
from punctual.domain.jobs.misfire import SortedOut, covered_words, missed_words
from punctual.domain.lane import Lane
from punctual.domain.planning.missed_instants import went_by, why
from punctual.domain.planning.replan import Replan, edited_until, planned_until, replan
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.dependencies import Upstreams
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.jobs import Finish, Jobs
    from punctual.ports.long_lane import StateMachines
    from punctual.ports.planning import Timers

MOST_AT_ONCE = 300
"""How many instants of one job are planned in one go; the last of them leads on to the rest."""

PAUSED = "paused"
CHANGED = "job changed"


@dataclass(frozen=True)
class Planner:
    jobs: Jobs
    executions: Executions
    timers: Timers
    machines: StateMachines
    gatekeeper: Gatekeeper
    upstreams: Upstreams
    finish: Finish
    clock: Clock

    def job_changed(self, job: Job, before: Job | None = None) -> None:
        """A job was stored, edited, paused, resumed, cancelled or deleted. ``before`` is what it was, if it was.

        It may have changed again since, and all that have been done for: then it is not brought back to what it was.
        """
        now = self.jobs.get(job.job_id) or job
        until = now.revised_at if now.revision > job.revision else None
        if job.state is JobState.ACTIVE:
            self.jobs.note_owner(job.owner)
            if before is not None and before.state is JobState.PAUSED:
                assert job.paused_at is not None
                last = self.executions.last_planned(job.job_id, before=job.paused_at)
                self._plan(job, after=job.goes_on_after(last), until=until)
            elif job.revision == 1:
                self._plan(job, after=job.created_at - MILLISECOND, until=until)
            else:
                self._plan_anew(job, before, until)
        elif job.state is JobState.PAUSED:
            if before is not None and before.revision < job.revision:
                self._drop(before, self._replan(job, before).dropped)
            for one in self.executions.live_of(job.job_id, since=job.waiting_since(self.clock())):
                if now.state is JobState.PAUSED or one.revision < now.revision:
                    self.hold_back(job, one)
        elif job.state in GONE:
            if before is not None and before.state in LIVE:
                self._note_what_went_by(before, job)
            for one in self.executions.live_of(job.job_id, since=job.waiting_since(self.clock())):
                self.stop(job.job_id, one.execution_id, f"job {job.state}")

    def mend_chain(self, leader: Execution) -> None:
        """Should nothing be planned after it, that is made up for."""
        job = self.jobs.get(leader.job_id)
        if job is None or job.state is not JobState.ACTIVE:
            return
        following = job.schedule.next_after(leader.scheduled_at)
        if following and self.executions.get(job.job_id, execution_id(job.job_id, following)) is None:
            self.lead_on(job, leader)

    def lead_on(self, job: Job, leader: Execution) -> None:
        """Plan what follows, and look at the job once more.

        Whoever heard meanwhile that it was changed, paused or deleted may have come before what was just stored.
        """
        self._plan(job, after=leader.scheduled_at)
        now = self.jobs.get(job.job_id)
        if now is not None and (now.state, now.revision) != (job.state, job.revision):
            self.job_changed(now)

    def stop(self, job_id: str, an_execution_id: str, reason: str) -> None:
        execution = self.executions.get(job_id, an_execution_id)
        if execution is not None:
            self.gatekeeper.stop(execution, reason, CANCEL_GRACE)

    def hold_back(self, job: Job, one: Planned) -> bool:
        """Whether a pause keeps it from running: what has started goes on, and what was asked for since runs."""
        assert job.paused_at is not None
        if not one.has_not_started:
            return False
        if one.origin is not Origin.SCHEDULE and one.queued_at is not None and one.queued_at > job.paused_at:
            return False
        self._leave(job, one, PAUSED, job.paused_at)
        return True

    def _leave(self, job: Job, one: Planned, reason: str, by: datetime) -> None:
        """Skip what was due by then, and forget what was not: its time comes yet, or has come, under other rules.

        In the long lane one that is due by now may have asked for slots: what is skipped gives them back.
        """
        if one.lane is Lane.LONG:
            by = max(by, self.clock())
        if one.scheduled_at <= by or not one.is_of_an_instant:
            self.executions.skip(job.job_id, one.execution_id, reason, self.clock())
        elif self.executions.unplan(job.job_id, one.execution_id, one.revision):
            if one.lane is Lane.LONG:  # if its state machine runs already, that finds it gone when it is due
                self.machines.disarm(one.execution_id)
            if job.feeds:
                self.upstreams.forgotten(one.execution_id)

    def _plan(self, job: Job, after: datetime | None, until: datetime | None = None) -> None:
        """Store the executions of ``job`` that come after ``after``, up to the first beyond reach, which leads.

        ``until`` is when it got other rules, if it did: from then on those count.
        """
        while after is not None:
            after = self._plan_some(job, after, until)

    def _plan_some(self, job: Job, after: datetime, until: datetime | None) -> datetime | None:
        """From where to go on, should the last one have ended before its time: nobody hears of that again."""
        instants, ends = self._instants(job, after, until)
        if not instants:
            if ends and job.schedule.kind != "queue":
                self.finish.if_over(job.job_id)
            return None
        sorted_out = self._sorted_out(job, instants)
        planned = [self._execution(job, due, sorted_out, last=due == instants[-1], ends=ends) for due in instants]
        standing = self._store(planned[0])
        if standing is None:  # a plan that is new, as almost always: all at once, the leader last
            self.executions.add_all(one for one in planned[1:-1] if one.status is not Status.SCHEDULED)
            for one in planned[1:]:
                if one is planned[-1] or one.status is Status.SCHEDULED:
                    standing = self._store(one)
        else:  # it was made before, and may have broken off
            for one in planned[1:]:
                if standing is not None and standing.leads and not _never_began(standing):
                    return None  # it was the last to be stored then, and leads on itself
                standing = self._store(one)
        return self._beyond(standing, ends)

    def _beyond(self, last: Execution | None, ends: bool) -> datetime | None:
        """From where to plan on, should what stood there already as the last of a plan be over before its time.

        If nothing comes after it, nobody would hear any more that the job has come to its end.
        """
        if last is not None and ends and last.status in FINAL:
            self.finish.if_over(last.job_id)
        if last is None or ends or not _never_began(last) or last.scheduled_at <= self.clock():
            return None
        return last.scheduled_at

    def _plan_anew(self, job: Job, was: Job | None, until: datetime | None) -> None:
        """Replace what was planned under an earlier revision and has not started, and leave out the rest of it.

        So too what had come due before the edit and was not planned yet.
        """
        plan = self._replan(job, was)
        instants, ends = self._instants(job, edited_until(job), until)
        dues = [*plan.kept, *instants]
        late = [due for due in dues if due not in plan.in_time]
        sorted_out = self._sorted_out(job, late)
        self._drop(was, plan.dropped)
        standing = None
        for due in dues:
            standing = self._store(self._execution(job, due, sorted_out, last=due == dues[-1], ends=ends))
        for one in plan.gone(instants):
            self._leave(job, one, CHANGED, edited_until(job))
        self._plan(job, after=self._beyond(standing, ends), until=until)

    def _sorted_out(self, job: Job, instants: Sequence[datetime]) -> SortedOut:
        withdrawn = partial(self.executions.withdrawn, job.job_id)
        return job.misfire.sort_out(instants, job.schedule, self.clock(), job.resumed_at, withdrawn=withdrawn)

    def _replan(self, job: Job, was: Job | None) -> Replan:
        live = self.executions.live_of(job.job_id, since=job.waiting_since(self.clock()))
        return replan(job, was, live, self.executions.last_planned(job.job_id, before=planned_until(job)))

    def _note_what_went_by(self, job: Job, gone: Job) -> None:
        """What came due before a job went, and nobody had come to, is on record: the latest of it."""
        until = gone.updated_at - MILLISECOND
        last = self.executions.last_planned(job.job_id, before=job.planned_until(until))
        latest, _ = went_by(job.schedule, job.goes_on_after(last), until)
        self._drop(job, latest, why(job.state, gone.state))

    def _drop(self, job: Job | None, instants: Iterable[datetime], reason: str = CHANGED) -> None:
        """What came due under rules that are gone, and nobody had come to, is on record."""
        self.executions.add_all(self._dropped(job, due, reason) for due in instants if job)

    def _dropped(self, job: Job, due: datetime, reason: str) -> Execution:
        now = self.clock()
        execution = execution_of(job, due, status=Status.SKIPPED, now=now)
        return replace(execution, reason=reason, ended_at=now, check_at=None)

    def _execution(self, job: Job, due: datetime, sorted_out: SortedOut, *, last: bool, ends: bool) -> Execution:
        now = self.clock()
        leads = last and job.schedule.recurring and not ends
        execution = execution_of(job, due, status=Status.SCHEDULED, now=now, leads=leads, last=last and ends)
        if due in sorted_out.missed:
            return replace(
                execution, status=Status.MISSED, reason=missed_words(job.misfire), ended_at=now, check_at=None
            )
        if due in sorted_out.covered and sorted_out.covered_by:
            cover = execution_id(job.job_id, sorted_out.covered_by)
            out = replace(execution, status=Status.SKIPPED, reason=covered_words(cover), covered_by=cover)
            return replace(out, ended_at=now, check_at=None)
        if execution.released_at <= now + REACH:
            return replace(execution, status=Status.QUEUED, queued_at=now)
        return execution

    def _instants(self, job: Job, after: datetime, until: datetime | None) -> tuple[list[datetime], bool]:
        """Those before ``until`` up to the first beyond reach, and whether none will follow them."""
        horizon = self.clock() + REACH
        dues: list[datetime] = []
        due = job.schedule.next_after(after)
        while due is not None and len(dues) < MOST_AT_ONCE and (until is None or due < until):
            dues.append(due)
            beyond = due > horizon
            due = job.schedule.next_after(due)
            if beyond:
                break
        return dues, due is None

    def _store(self, execution: Execution) -> Execution | None:
        """Store one, with its timer if it is far; what stands there already is set on its way and returned."""
        standing = self.executions.add(execution)
        if standing is not None and standing.revision < execution.revision:
            execution = _with_its_danger(execution, standing)
        if standing is not None and standing.revision < execution.revision and self.executions.replace(execution):
            if standing.lane is Lane.LONG and (execution.lane is not Lane.LONG or execution.held):
                self.machines.disarm(execution.execution_id)
            standing = None
        planned = standing or execution  # what stands there may be by later rules
        if planned.status is not Status.SCHEDULED:
            return standing
        if standing is not None and standing.released_at <= self.clock() + REACH:
            self.executions.queue(_timer(standing, standing.released_at, TimerReason.DUE), self.clock())
        elif planned.lane is Lane.LONG and not planned.held:
            self.machines.arm(planned)
        else:  # what is held comes by here first: a schedule would start its state machine
            self.set_timer(planned, planned.released_at, TimerReason.DUE)
        return standing

    def set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Set a timer; if that took so long that the sweep may have passed it, queue the execution instead."""
        timer = _timer(execution, at, reason)
        self.timers.set(timer)
        if at <= self.clock() + (SWEEP + REACH) / 2:
            self.executions.queue(timer, self.clock())


def _never_began(execution: Execution) -> bool:
    """Whether it was cancelled, skipped or missed without an attempt."""
    return execution.status in FINAL and execution.attempt == 0


def _with_its_danger(execution: Execution, replaced: Execution) -> Execution:
    """In place of one that was told to be in danger: so that its recovery is told, and the same danger not again."""
    in_danger = replaced.outlook is not None and replaced.outlook.state in IN_DANGER
    return replace(execution, outlook=replaced.outlook) if in_danger and execution.deadline_at else execution


def _timer(execution: Execution, at: datetime, reason: TimerReason) -> Timer:
    return Timer(at=at, job_id=execution.job_id, execution_id=execution.execution_id, reason=reason)
