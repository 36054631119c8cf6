"""Dry runs: which executions a change would add, remove or repeat, without making it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from punctual.domain.executions.execution import LiveExecution
from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.jobs.misfire import WasCancelled
from punctual.domain.planning.disposal import CHANGED_REASON
from punctual.domain.planning.missed_instants import MAX_LISTED_INSTANTS, missed_at_removal, missed_instants
from punctual.domain.planning.replan import Replan

MAX_UPCOMING_SHOWN = 10
"""How many upcoming executions are shown."""
MAX_SHOWN_EXECUTIONS = MAX_LISTED_INSTANTS + MAX_UPCOMING_SHOWN


@dataclass(frozen=True)
class ForeseenExecution:
    """An execution as a dry run predicts it."""

    execution_id: str
    scheduled_at: datetime
    note: str | None = None
    """Its predicted outcome; ``None`` if it would simply run."""


@dataclass(frozen=True, kw_only=True)
class DryRunChanges:
    """The predicted effect of a change."""

    appear: tuple[ForeseenExecution, ...] = ()
    """Executions that would be added; of upcoming ones only the next few."""
    vanish: tuple[ForeseenExecution, ...] = ()
    """Executions that would be removed."""
    repeat: tuple[ForeseenExecution, ...] = ()
    """Existing executions that would be replaced or run again."""
    left_out: int = 0
    """How many further executions are not shown."""

    def shortened(self) -> DryRunChanges:
        """Cut each list to its maximum length, and count the rest in ``left_out``."""
        shown = replace(
            self,
            appear=self.appear[:MAX_SHOWN_EXECUTIONS],
            vanish=self.vanish[:MAX_SHOWN_EXECUTIONS],
            repeat=self.repeat[:MAX_SHOWN_EXECUTIONS],
        )
        return replace(shown, left_out=self.left_out + self._size - shown._size)

    @property
    def _size(self) -> int:
        return len(self.appear) + len(self.vanish) + len(self.repeat)


def upcoming_executions(job: Job, after: datetime, now: datetime) -> list[ForeseenExecution]:
    """Return the next few executions that planning from ``after``, just before ``now``, would add."""
    return [_foreseen(job, due) for due in _upcoming_instants(job, after, now)]


def changes_on_resume(job: Job, after: datetime, now: datetime, was_cancelled: WasCancelled) -> DryRunChanges:
    """Predict the resume of a job that was planned up to ``after``: its latest missed instants and the next few."""
    latest, earlier = missed_instants(job.schedule, after, now)
    instants = [*latest, *_upcoming_instants(job, max(after, now), now)]
    return DryRunChanges(appear=tuple(_with_misfires(job, instants, now, was_cancelled)), left_out=earlier)


def changes_on_removal(job: Job, last_planned: datetime | None, now: datetime, note: str) -> DryRunChanges:
    """Predict the missed instants that are recorded when a job is cancelled or deleted."""
    latest, earlier = missed_at_removal(job, last_planned, now)
    return DryRunChanges(appear=tuple(_foreseen(job, due, note) for due in latest), left_out=earlier)


def overdue_at_edit(job: Job, plan: Replan, now: datetime, was_cancelled: WasCancelled) -> list[ForeseenExecution]:
    """Return the missed instants from before an edit, in order: those dropped, and those kept under the new rules."""
    late = [due for due in plan.kept if due not in plan.in_time]
    dropped = [_foreseen(job, due, f"skipped: {CHANGED_REASON}") for due in plan.dropped]
    return sorted([*dropped, *_with_misfires(job, late, now, was_cancelled)], key=lambda one: one.scheduled_at)


def foreseen_from(live: Iterable[LiveExecution], note: str | None = None) -> tuple[ForeseenExecution, ...]:
    """Convert live executions, sorted by id. The note defaults to their status."""
    found = (ForeseenExecution(one.execution_id, one.scheduled_at, note or str(one.status)) for one in live)
    return tuple(sorted(found, key=lambda one: one.execution_id))


def _with_misfires(
    job: Job, instants: Sequence[datetime], now: datetime, was_cancelled: WasCancelled
) -> list[ForeseenExecution]:
    """Annotate each instant with what the job's misfire policy would do with it."""
    decision = job.misfire.decide(instants, job.schedule, now, job.resumed_at, was_cancelled=was_cancelled)
    endings = ((due, decision.ending_of(job.job_id, due)) for due in instants)
    return [_foreseen(job, due, f"{ending.status}: {ending.reason}" if ending else None) for due, ending in endings]


def _foreseen(job: Job, due: datetime, note: str | None = None) -> ForeseenExecution:
    return ForeseenExecution(execution_id(job.job_id, due), due, note)


def _upcoming_instants(job: Job, after: datetime, now: datetime) -> list[datetime]:
    instants: list[datetime] = []
    upcoming = 0
    due = job.schedule.next_after(after) if job.state is JobState.ACTIVE else None
    while due is not None and upcoming < MAX_UPCOMING_SHOWN and len(instants) < MAX_SHOWN_EXECUTIONS:
        instants.append(due)
        upcoming += due > now
        due = job.schedule.next_after(due)
    return instants
