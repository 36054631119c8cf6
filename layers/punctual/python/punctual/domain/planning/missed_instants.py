"""Missed instants: due instants that were never planned, because of an outage or a pause."""

from __future__ import annotations

from datetime import datetime

from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.planning.disposal import PAUSED_REASON
from punctual.domain.schedules.schedule import Schedule

MAX_LISTED_INSTANTS = 990
"""How many of the latest missed instants are returned individually."""
MAX_COUNTED_INSTANTS = 100_000
"""Earlier missed instants are counted up to this limit."""


def missed_instants(schedule: Schedule, after: datetime, until: datetime) -> tuple[list[datetime], int]:
    """Return the latest instants in (``after``, ``until``], in order, and the number of earlier ones."""
    previous_before = getattr(schedule, "previous_before", None)
    if previous_before is None:
        due = schedule.next_after(after)
        return [due] if due is not None and due <= until else [], 0
    latest: list[datetime] = []
    due = previous_before(until + MILLISECOND)
    while due is not None and due > after and len(latest) < MAX_LISTED_INSTANTS:
        latest.append(due)
        due = previous_before(due)
    if due is None or due <= after:
        return latest[::-1], 0
    return latest[::-1], _count(schedule, after, due)


def missed_at_removal(job: Job, last_planned: datetime | None, until: datetime) -> tuple[list[datetime], int]:
    """Return ``missed_instants`` of a job that is cancelled or deleted right after ``until``."""
    return missed_instants(job.schedule, job.planning_resumes_after(last_planned), until)


def removal_reason(previous: JobState, final: JobState) -> str:
    """Return why the missed instants of a job that was cancelled or deleted are skipped."""
    return PAUSED_REASON if previous is JobState.PAUSED else f"job {final}"


def _count(schedule: Schedule, after: datetime, until: datetime) -> int:
    """Count the instants in (``after``, ``until``], up to ``MAX_COUNTED_INSTANTS``."""
    number, due = 0, schedule.next_after(after)
    while due is not None and due <= until and number < MAX_COUNTED_INSTANTS:
        number, due = number + 1, schedule.next_after(due)
    return number
