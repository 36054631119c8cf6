"""Instants that nobody had come to when their time was over: in an outage, or in a pause."""

from __future__ import annotations

from datetime import datetime

from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import JobState
from punctual.domain.schedules.schedule import Schedule

LATEST = 990
"""As many of them are looked at one by one."""
MOST_COUNTED = 100_000
"""Those before are counted up to this."""


def went_by(schedule: Schedule, after: datetime, until: datetime) -> tuple[list[datetime], int]:
    """The latest instants later than ``after`` up to ``until``, in order, and how many there are before those."""
    previous_before = getattr(schedule, "previous_before", None)
    if previous_before is None:
        due = schedule.next_after(after)
        return [due] if due is not None and due <= until else [], 0
    latest: list[datetime] = []
    due = previous_before(until + MILLISECOND)
    while due is not None and due > after and len(latest) < LATEST:
        latest.append(due)
        due = previous_before(due)
    if due is None or due <= after:
        return latest[::-1], 0
    return latest[::-1], _count(schedule, after, due)


def why(was: JobState, gone: JobState) -> str:
    """Why it did not run that went by before its job was cancelled or deleted."""
    return "paused" if was is JobState.PAUSED else f"job {gone}"


def _count(schedule: Schedule, after: datetime, until: datetime) -> int:
    """The instants later than ``after`` up to ``until``, of which there is one at least."""
    number, due = 0, schedule.next_after(after)
    while due is not None and due <= until and number < MOST_COUNTED:
        number, due = number + 1, schedule.next_after(due)
    return number
