"""Replanning after an edit: which due instants and planned executions stay, and which are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.executions.execution import LiveExecution
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.jitter import delay
from punctual.domain.status import Status


@dataclass(frozen=True, kw_only=True)
class Replan:
    """The decision on each instant up to the edit. After it, the new rules decide which instants are due."""

    outdated: tuple[LiveExecution, ...]
    """Executions planned under the old rules that have not started."""
    kept: tuple[datetime, ...] = ()
    """Instants due before the edit that the new rules include as well, in order."""
    in_time: frozenset[datetime] = frozenset()
    """Instants in ``kept`` that were already queued or waiting, or still delayed by jitter: not misfires."""
    dropped: tuple[datetime, ...] = ()
    """Instants due before the edit, never planned, and not included in the new rules."""

    def obsolete(self, has_instant: Callable[[datetime], bool]) -> list[LiveExecution]:
        """Return the outdated executions whose instant is not in ``kept`` and not among the new instants."""
        return [one for one in self.outdated if one.scheduled_at not in self.kept and not has_instant(one.scheduled_at)]


def replan(job: Job, previous: Job | None, live: Iterable[LiveExecution], last_planned: datetime | None) -> Replan:
    """Decide what an edit changes.

    ``previous`` is the job before the edit, if known. ``live`` are the live executions of ``job``, and ``last_planned``
    is its last stored due instant up to ``planned_until_edit``.

    Manual runs, manual retries, backfills and executions of queue messages are never replaced. If the job is paused and
    its schedule has not changed, instants that came due during the pause are left for the resume.
    """
    outdated = tuple(
        execution
        for execution in live
        if execution.revision < job.revision and execution.is_from_schedule and execution.has_not_started
    )
    until, paused = old_rules_until(job), job.state is JobState.PAUSED
    left_for_resume = paused and previous is not None and previous.schedule == job.schedule
    unplanned = unplanned_instants(previous, last_planned, until) if previous and not left_for_resume else []
    overdue = {*unplanned, *(execution.scheduled_at for execution in outdated if execution.scheduled_at <= until)}
    kept = {due for due in overdue if job.has_instant(due) and not paused}
    return Replan(
        outdated=outdated,
        kept=tuple(sorted(kept)),
        in_time=frozenset(one.scheduled_at for one in outdated if _is_in_time(one, previous, until)) & kept,
        dropped=tuple(due for due in unplanned if due not in kept),
    )


def _is_in_time(execution: LiveExecution, previous: Job | None, until: datetime) -> bool:
    """Whether the execution was queued or waiting at ``until``, or not released yet because of its jitter."""
    if execution.status is not Status.SCHEDULED:
        return True
    if previous is None:
        return False
    due = execution.scheduled_at
    return due + delay(previous.job_id, due, previous.schedule.jitter_seconds) > until


def old_rules_until(job: Job) -> datetime:
    """Return the last millisecond in which the rules from before the edit applied."""
    return (job.revised_at or job.updated_at) - MILLISECOND


def planned_until_edit(job: Job) -> datetime:
    """Return until when instants were planned under the rules from before the edit: at most until a pause."""
    return job.planned_until(old_rules_until(job))


def unplanned_instants(job: Job, last_planned: datetime | None, until: datetime) -> list[datetime]:
    """Return the instants due up to ``until`` that were never planned, because of an outage or a pause."""
    found: list[datetime] = []
    due = job.schedule.next_after(job.planning_resumes_after(last_planned))
    while due is not None and due <= until:
        found.append(due)
        due = job.schedule.next_after(due)
    return found
