"""Plan: turn jobs into executions, and executions that are near into work orders.

Driven by streams alone, so each step may come twice, late, or after a crash between any two lines:

* a job appeared → its first execution is stored; it was cancelled or deleted → what lives of it is stopped;
* a job was edited → what has not started is replaced, or forgotten where its instant is gone;
* a job was paused → what has not started is skipped, or forgotten where its time has not come; it was resumed → what
  went by is sorted out by its misfire rule, and planning goes on;
* an execution became ``queued`` → its order is sent, or in the long lane its state machine started, so is the first
  look at its deadline if it has one, and if it leads, its successors are stored;
* an execution became ``retrying`` → the order for its next attempt is sent, or a timer set for it;
* a running one was asked to stop → the order that will revoke its lease is sent;
* a timer was removed by TTL → what it should have set in motion is checked (the dead man's switch).

An execution is stored before its timer, or its one-time schedule in the long lane, and the one that leads after all
others: whatever is missing after a crash is made up when the record comes again. Ids are derived, so what is there
already stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.check import Check
from punctual.domain.execution import Execution, Origin, Planned
from punctual.domain.execution_of import execution_of
from punctual.domain.horizon import CANCEL_GRACE, LONGEST_DELAY, REACH, SWEEP
from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.job import GONE, OLD, Job, JobState
from punctual.domain.lane import Lane
from punctual.domain.misfire import SortedOut
from punctual.domain.order import Order, order_for
from punctual.domain.outlook import IN_DANGER
from punctual.domain.replan import Replan, edited_until, planned_until, replan
from punctual.domain.status import FINAL, Status
from punctual.domain.timer import Timer, TimerReason

if TYPE_CHECKING:
    from punctual.ports import (
        Checks,
        Clock,
        Doors,
        Executions,
        Finish,
        Jobs,
        Lanes,
        StateMachines,
        Timers,
        Upstreams,
    )

MOST_AT_ONCE = 300
"""How many instants of one job are planned in one go; the last of them leads on to the rest."""

PAUSED = "paused"
CHANGED = "job changed"


@dataclass(frozen=True)
class Planner:
    jobs: Jobs
    executions: Executions
    timers: Timers
    lanes: Lanes
    machines: StateMachines
    checks: Checks
    doors: Doors
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
                    self._hold_back(job, one)
        elif job.state in GONE:
            for one in self.executions.live_of(job.job_id, since=job.waiting_since(self.clock())):
                self._stop(job.job_id, one.execution_id, f"job {job.state}")

    def executions_ready(
        self,
        *,
        planned: Iterable[Execution] = (),
        came_due: Iterable[Execution] = (),
        again: Iterable[Execution] = (),
    ) -> None:
        """Executions became ``queued`` or ``retrying``: send them on their way, and plan what follows them.

        ``planned`` were stored, or replaced by an edit, as that; ``came_due`` were ``scheduled`` before, and may have
        been left out or cancelled, too: then they only lead on. Nothing follows those that are queued ``again``.
        """
        planned, came_due, again = list(planned), list(came_due), list(again)
        jobs = self.jobs.get_many({one.job_id for one in [*planned, *came_due, *again]})
        ready = [one for one in [*planned, *again] if self._still_wanted(one, jobs.get(one.job_id))]
        for one in came_due:
            if self._still_wanted(one, jobs.get(one.job_id)) and not self._left_out(one, jobs[one.job_id]):
                ready.append(one)
        self._note_old(ready)
        self._send([one for one in ready if one.status not in FINAL])
        for leader in [*planned, *came_due]:
            job = jobs.get(leader.job_id)
            if leader.leads and leader.attempt == 0 and job is not None and job.state is JobState.ACTIVE:
                self._lead_on(job, leader)

    def asked_to_stop(self, executions: Iterable[Execution]) -> None:
        """Whoever gets this order revokes the lease of what has not stopped by then. A long one is the settler's."""
        orders = [order_for(one, one.cancel_at) for one in executions if one.cancel_at and one.lane is Lane.SHORT]
        self.lanes.send(orders, self.clock())

    def timer_expired(self, timer: Timer) -> None:
        """TTL removed a timer long after its instant. Whatever should have happened by then and did not, happens now.

        Every recurring job has a timer for the execution that leads, so this also finds a chain that broke.
        """
        if self.executions.queue(timer, self.clock()):
            return
        execution = self.executions.get(timer.job_id, timer.execution_id)
        if execution is not None and execution.status is Status.QUEUED:
            self.executions_ready(came_due=[execution])
        elif execution is not None and execution.leads:
            self._mend_chain(execution)

    def _mend_chain(self, leader: Execution) -> None:
        job = self.jobs.get(leader.job_id)
        if job is None or job.state is not JobState.ACTIVE:
            return
        following = job.schedule.next_after(leader.scheduled_at)
        if following and self.executions.get(job.job_id, execution_id(job.job_id, following)) is None:
            self._lead_on(job, leader)

    def _lead_on(self, job: Job, leader: Execution) -> None:
        """Plan what follows, and look at the job once more.

        Whoever heard meanwhile that it was changed, paused or deleted may have come before what was just stored.
        """
        self._plan(job, after=leader.scheduled_at)
        now = self.jobs.get(job.job_id)
        if now is not None and (now.state, now.revision) != (job.state, job.revision):
            self.job_changed(now)

    def _note_old(self, ready: Iterable[Execution]) -> None:
        """What rests for long is found by that, should its job be paused or deleted meanwhile."""
        for one in ready:
            if one.retry_at is not None and one.retry_at - one.scheduled_at > OLD:
                self.jobs.note_old(one.job_id, one.scheduled_at)

    def _send(self, ready: list[Execution]) -> None:
        free = [execution for execution in ready if not execution.held or self.upstreams.let_through(execution)]
        free = [execution for execution in free if self.doors.is_its_turn(execution)]
        short = [execution for execution in free if execution.lane is Lane.SHORT]
        self.lanes.send(filter(None, map(self._order, short)), self.clock())
        self.checks.send(filter(None, map(self._first_look, ready)), self.clock())
        for execution in free:
            if execution.lane is Lane.LONG and execution.status is Status.QUEUED and execution.conductor is None:
                self.machines.start(execution)

    def _still_wanted(self, execution: Execution, job: Job | None) -> bool:
        """Withdraws what was planned for a job that has since been paused, cancelled or deleted."""
        if job is None or job.state in GONE:
            self._stop(execution.job_id, execution.execution_id, f"job {job.state if job else 'deleted'}")
            return False
        return job.state is not JobState.PAUSED or not self._hold_back(job, _as_planned(execution))

    def _stop(self, job_id: str, an_execution_id: str, reason: str) -> None:
        execution = self.executions.get(job_id, an_execution_id)
        if execution is not None:
            self.doors.stop(execution, reason, CANCEL_GRACE)

    def _hold_back(self, job: Job, one: Planned) -> bool:
        """Whether a pause keeps it from running: what has started goes on, and what was asked for since runs."""
        assert job.paused_at is not None
        if not one.has_not_started:
            return False
        if one.origin is not Origin.SCHEDULE and one.queued_at is not None and one.queued_at > job.paused_at:
            return False
        self._leave(job, one, PAUSED)
        return True

    def _leave(self, job: Job, one: Planned, reason: str) -> None:
        """Skip what is due, and forget what is not: its time may come yet, under other rules."""
        if one.scheduled_at <= self.clock():
            self.executions.skip(job.job_id, one.execution_id, reason, self.clock())
        elif self.executions.unplan(job.job_id, one.execution_id, one.revision):
            if job.lane is Lane.LONG:
                self.machines.disarm(one.execution_id)
            if job.feeds:
                self.upstreams.forgotten(one.execution_id)

    def _left_out(self, execution: Execution, job: Job) -> bool:
        """Whether one that comes too late is not to run: its job's misfire rule decides."""
        planned = execution.origin is Origin.SCHEDULE and execution.status is Status.QUEUED and execution.attempt == 0
        if not planned or execution.conductor is not None:
            return False
        now = execution.queued_at or self.clock()
        sorted_out = job.misfire.sort_out([execution.scheduled_at], job.schedule, now, job.resumed_at)
        if sorted_out.covered and sorted_out.covered_by:
            cover = execution_id(job.job_id, sorted_out.covered_by)
            return self.executions.skip(job.job_id, execution.execution_id, _covered(cover), self.clock(), cover)
        return bool(sorted_out.missed) and self.executions.miss(
            job.job_id, execution.execution_id, _missed(job), self.clock()
        )

    def _first_look(self, execution: Execution) -> Check | None:
        """The first look at its deadline, if that is near: the monitor sends what is due later, and what gets lost."""
        if execution.check_at is None or execution.check_at > self.clock() + LONGEST_DELAY:
            return None
        return Check(job_id=execution.job_id, execution_id=execution.execution_id, at=execution.check_at)

    def _order(self, execution: Execution) -> Order | None:
        """The order for the next attempt, or ``None`` after a timer was set for it."""
        not_before = execution.retry_at or execution.released_at
        if not_before <= self.clock() + LONGEST_DELAY:
            return order_for(execution, not_before, self.clock())
        self._set_timer(execution, not_before, TimerReason.RETRY)
        return None

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
        sorted_out = job.misfire.sort_out(instants, job.schedule, self.clock(), job.resumed_at)
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
        sorted_out = job.misfire.sort_out(late, job.schedule, self.clock(), job.resumed_at)
        self._drop(was, plan.dropped)
        standing = None
        for due in dues:
            standing = self._store(self._execution(job, due, sorted_out, last=due == dues[-1], ends=ends))
        for one in plan.gone(instants):
            self._leave(job, one, CHANGED)
        self._plan(job, after=self._beyond(standing, ends), until=until)

    def _replan(self, job: Job, was: Job | None) -> Replan:
        live = self.executions.live_of(job.job_id, since=job.waiting_since(self.clock()))
        return replan(job, was, live, self.executions.last_planned(job.job_id, before=planned_until(job)))

    def _drop(self, job: Job | None, instants: Iterable[datetime]) -> None:
        """What came due under rules that are gone, and nobody had come to, is on record."""
        self.executions.add_all(self._dropped(job, due) for due in instants if job)

    def _dropped(self, job: Job, due: datetime) -> Execution:
        now = self.clock()
        execution = execution_of(job, due, status=Status.SKIPPED, now=now)
        return replace(execution, reason=CHANGED, ended_at=now, check_at=None)

    def _execution(self, job: Job, due: datetime, sorted_out: SortedOut, *, last: bool, ends: bool) -> Execution:
        now = self.clock()
        leads = last and job.schedule.recurring and not ends
        execution = execution_of(job, due, status=Status.SCHEDULED, now=now, leads=leads, last=last and ends)
        if due in sorted_out.missed:
            return replace(execution, status=Status.MISSED, reason=_missed(job), ended_at=now, check_at=None)
        if due in sorted_out.covered and sorted_out.covered_by:
            cover = execution_id(job.job_id, sorted_out.covered_by)
            out = replace(execution, status=Status.SKIPPED, reason=_covered(cover), covered_by=cover)
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
        if standing is not None and standing.status is not Status.SCHEDULED:
            return standing
        # what is held comes by here first, by a timer: a schedule would start its state machine
        if execution.status is Status.SCHEDULED and execution.lane is Lane.LONG and not execution.held:
            self.machines.arm(execution)
        elif execution.status is Status.SCHEDULED:
            self._set_timer(execution, execution.released_at, TimerReason.DUE)
        elif standing is not None:
            self.executions.queue(_timer(execution, execution.released_at, TimerReason.DUE), self.clock())
        return standing

    def _set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Set a timer; if that took so long that the sweep may have passed it, queue the execution instead."""
        timer = _timer(execution, at, reason)
        self.timers.set(timer)
        if at <= self.clock() + (SWEEP + REACH) / 2:
            self.executions.queue(timer, self.clock())


def _covered(cover: str) -> str:
    return f"its time went by; {cover} covers it"


def _missed(job: Job) -> str:
    return f"its time went by: misfire policy {job.misfire.policy}"


def _never_began(execution: Execution) -> bool:
    """Whether it was cancelled, skipped or missed without an attempt."""
    return execution.status in FINAL and execution.attempt == 0


def _as_planned(execution: Execution) -> Planned:
    return Planned(
        execution.execution_id,
        execution.scheduled_at,
        execution.revision,
        execution.status,
        execution.attempt,
        execution.origin,
        execution.queued_at,
    )


def _with_its_danger(execution: Execution, replaced: Execution) -> Execution:
    """In place of one that was told to be in danger: so that its recovery is told, and the same danger not again."""
    in_danger = replaced.outlook is not None and replaced.outlook.state in IN_DANGER
    return replace(execution, outlook=replaced.outlook) if in_danger and execution.deadline_at else execution


def _timer(execution: Execution, at: datetime, reason: TimerReason) -> Timer:
    return Timer(at=at, job_id=execution.job_id, execution_id=execution.execution_id, reason=reason)
