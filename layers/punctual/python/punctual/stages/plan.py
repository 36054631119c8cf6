"""Plan: turn jobs into executions, and executions that are near into work orders.

Driven by streams alone, so each step may come twice, late, or after a crash between any two lines:

* a job appeared → its first execution is stored; a job was deleted → what has not started is withdrawn;
* a job was edited → what has not started is replaced, or withdrawn where its instant is gone;
* an execution became ``queued`` → its order is sent, or in the long lane its state machine started, so is the first
  look at its deadline if it has one, and if it leads, its successors are stored;
* an execution became ``retrying`` → the order for its next attempt is sent, or a timer set for it;
* a timer was removed by TTL → what it should have set in motion is checked (the dead man's switch).

An execution is stored before its timer, or its one-time schedule in the long lane, and the one that leads after all
others: whatever is missing after a crash is made up when the record comes again. Ids are derived, so what is there
already stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.check import Check
from punctual.domain.execution import Execution, Origin, execution_of
from punctual.domain.horizon import LONGEST_DELAY, REACH, SWEEP
from punctual.domain.identity import execution_id
from punctual.domain.job import Job, JobState, Lane
from punctual.domain.order import Order, order_for
from punctual.domain.outlook import IN_DANGER
from punctual.domain.status import Status
from punctual.domain.timer import Timer, TimerReason

if TYPE_CHECKING:
    from punctual.ports import Checks, Clock, Executions, Jobs, Lanes, StateMachines, Timers, Upstreams

MOST_AT_ONCE = 300
"""How many instants of one job are planned in one go; the last of them leads on to the rest."""

WITHDRAW_SINCE = timedelta(days=4)
"""A queue keeps an order for no longer than this. What rests for longer is checked when it is queued again."""


@dataclass(frozen=True)
class Planner:
    jobs: Jobs
    executions: Executions
    timers: Timers
    lanes: Lanes
    machines: StateMachines
    checks: Checks
    upstreams: Upstreams
    clock: Clock

    def job_changed(self, job: Job) -> None:
        """A job was stored, edited or deleted."""
        if job.state is JobState.ACTIVE:
            self.jobs.note_owner(job.owner)
            if job.revision == 1:
                self._plan(job, after=job.created_at - timedelta(milliseconds=1))
            else:
                self._plan_anew(job)
        elif job.state is JobState.DELETED:
            for one in self.executions.not_started(job.job_id, since=self._waiting_since(job)):
                self.executions.withdraw(job.job_id, one.execution_id, "job deleted", self.clock())

    def executions_ready(self, ready: Iterable[Execution]) -> None:
        """Executions became ``queued`` or ``retrying``: send them on their way and plan what follows them."""
        ready = list(ready)
        jobs = self.jobs.get_many({execution.job_id for execution in ready})
        current = [execution for execution in ready if self._still_wanted(execution, jobs.get(execution.job_id))]
        free = [execution for execution in current if not execution.held or self.upstreams.let_through(execution)]
        short = [execution for execution in free if execution.lane is Lane.SHORT]
        self.lanes.send(filter(None, map(self._order, short)), self.clock())
        self.checks.send(filter(None, map(self._first_look, current)), self.clock())
        for execution in free:
            if execution.lane is Lane.LONG and execution.status is Status.QUEUED and execution.conductor is None:
                self.machines.start(execution)
        for execution in current:  # also what is held back leads on
            if execution.leads and execution.status is Status.QUEUED and execution.attempt == 0:
                self._plan(jobs[execution.job_id], after=execution.scheduled_at)

    def timer_expired(self, timer: Timer) -> None:
        """TTL removed a timer long after its instant. Whatever should have happened by then and did not, happens now.

        Every recurring job has a timer for the execution that leads, so this also finds a chain that broke.
        """
        if self.executions.queue(timer, self.clock()):
            return
        execution = self.executions.get(timer.job_id, timer.execution_id)
        if execution is not None and execution.status is Status.QUEUED:
            self.executions_ready([execution])
        elif execution is not None and execution.leads:
            self._mend_chain(execution)

    def _mend_chain(self, leader: Execution) -> None:
        job = self.jobs.get(leader.job_id)
        if job is None or job.state is not JobState.ACTIVE:
            return
        following = job.schedule.next_after(leader.scheduled_at)
        if following and self.executions.get(job.job_id, execution_id(job.job_id, following)) is None:
            self._plan(job, after=leader.scheduled_at)

    def _still_wanted(self, execution: Execution, job: Job | None) -> bool:
        """Withdraws what was planned for a job that has since been deleted."""
        if job is not None and job.state is not JobState.DELETED:
            return True
        self.executions.withdraw(execution.job_id, execution.execution_id, "job deleted", self.clock())
        return False

    def _first_look(self, execution: Execution) -> Check | None:
        """The first look at its deadline, if that is near: the monitor sends what is due later, and what gets lost."""
        if execution.check_at is None or execution.check_at > self.clock() + LONGEST_DELAY:
            return None
        return Check(job_id=execution.job_id, execution_id=execution.execution_id, at=execution.check_at)

    def _order(self, execution: Execution) -> Order | None:
        """The order for the next attempt, or ``None`` after a timer was set for it."""
        not_before = execution.retry_at or execution.released_at
        if not_before <= self.clock() + LONGEST_DELAY:
            return order_for(execution, not_before)
        self._set_timer(execution, not_before, TimerReason.RETRY)
        return None

    def _plan(self, job: Job, after: datetime) -> None:
        """Store the executions of ``job`` that come after ``after``, up to the first beyond reach, which leads."""
        instants = self._instants(job, after)
        planned = [self._execution(job, due, leads=due == instants[-1]) for due in instants]
        if not planned:
            return
        if self._store(planned[0]) is None:  # a plan that is new, as almost always: all at once, the leader last
            self.executions.add_all(planned[1:-1])
            if len(planned) > 1:
                self._store(planned[-1])
        else:
            self._make_up(planned[1:])

    def _plan_anew(self, job: Job) -> None:
        """Replace what was planned under an earlier revision and has not started, and withdraw the rest of it.

        What a person asked for stays as they asked for it.
        """
        outdated = [
            one
            for one in self.executions.not_started(job.job_id, since=self._waiting_since(job))
            if one.revision < job.revision and one.origin is Origin.SCHEDULE
        ]
        before = job.updated_at - timedelta(milliseconds=1)
        overdue = [
            one.scheduled_at for one in outdated if one.scheduled_at <= before and _is_due(job, one.scheduled_at)
        ]
        instants = self._instants(job, before)
        for due in [*sorted(overdue), *instants]:
            self._store(self._execution(job, due, leads=due == next(iter(instants[-1:]), None)))
        kept = {execution_id(job.job_id, due) for due in [*overdue, *instants]}
        for one in outdated:
            if one.execution_id not in kept:
                self.executions.withdraw(job.job_id, one.execution_id, "job changed", self.clock())

    def _waiting_since(self, job: Job) -> datetime:
        """From when on something may still wait: for a slot, as long as the job exists."""
        since = job.created_at if job.lane is Lane.LONG else self.clock() - WITHDRAW_SINCE
        return min(since, job.backfilled_from or since)

    def _make_up(self, planned: list[Execution]) -> None:
        """Store what is missing of a plan that was made before, and may have broken off.

        One that is there already and leads was the last to be stored then: it leads on itself.
        """
        for execution in planned:
            standing = self._store(execution)
            if standing is not None and standing.leads:
                return

    def _execution(self, job: Job, due: datetime, *, leads: bool) -> Execution:
        status = Status.QUEUED if due <= self.clock() + REACH else Status.SCHEDULED
        return execution_of(job, due, status=status, now=self.clock(), leads=leads and job.schedule.recurring)

    def _instants(self, job: Job, after: datetime) -> list[datetime]:
        horizon = self.clock() + REACH
        dues: list[datetime] = []
        due = job.schedule.next_after(after)
        while due is not None and len(dues) < MOST_AT_ONCE:
            dues.append(due)
            due = job.schedule.next_after(due) if due <= horizon else None
        return dues

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
            self._set_timer(execution, execution.scheduled_at, TimerReason.DUE)
        elif standing is not None:
            self.executions.queue(_timer(execution, execution.scheduled_at, TimerReason.DUE), self.clock())
        return standing

    def _set_timer(self, execution: Execution, at: datetime, reason: TimerReason) -> None:
        """Set a timer; if that took so long that the sweep may have passed it, queue the execution instead."""
        timer = _timer(execution, at, reason)
        self.timers.set(timer)
        if at <= self.clock() + (SWEEP + REACH) / 2:
            self.executions.queue(timer, self.clock())


def _with_its_danger(execution: Execution, replaced: Execution) -> Execution:
    """In place of one that was told to be in danger: so that its recovery is told, and the same danger not again."""
    in_danger = replaced.outlook is not None and replaced.outlook.state in IN_DANGER
    return replace(execution, outlook=replaced.outlook) if in_danger and execution.deadline_at else execution


def _is_due(job: Job, instant: datetime) -> bool:
    return job.schedule.next_after(instant - timedelta(milliseconds=1)) == instant


def _timer(execution: Execution, at: datetime, reason: TimerReason) -> Timer:
    return Timer(at=at, job_id=execution.job_id, execution_id=execution.execution_id, reason=reason)
