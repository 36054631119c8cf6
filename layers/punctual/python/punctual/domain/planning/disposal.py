"""Disposal: what happens to an execution without an attempt when its job is paused, or edited without its instant.

The planner applies these decisions, and dry runs show them.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from punctual.domain.executions.execution import LiveExecution, Origin
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.misfire import MisfirePolicy
from punctual.domain.lane import Lane

PAUSED_REASON = "paused"
DEFERRED_REASON = "its job is paused: it runs when the job is resumed"
CHANGED_REASON = "job changed"


class Disposal(StrEnum):
    KEEP = "keep"
    SKIP = "skip"
    """Recorded as ``skipped``: it was due."""
    DEFER = "defer"
    """Kept until the job is resumed: it is the execution of a message."""
    REMOVE = "remove"
    """Deleted: it is planned again if the schedule still has its instant."""


def disposal_on_pause(job: Job, one: LiveExecution, now: datetime) -> Disposal:
    """Decide on a live execution of a paused job.

    A started execution continues. So does a backfill, manual run or manual retry requested after the pause began. A
    message is deferred, unless the job's misfire policy would skip it anyway.
    """
    assert job.paused_at is not None
    if not one.has_not_started:
        return Disposal.KEEP
    if one.origin is not Origin.SCHEDULE and one.queued_at is not None and one.queued_at > job.paused_at:
        return Disposal.KEEP
    if one.is_of_message and job.schedule.kind == "queue" and job.misfire.policy is not MisfirePolicy.SKIP:
        return Disposal.DEFER
    return disposal_of_unstarted(one, due_by=job.paused_at, now=now)


def disposal_of_unstarted(one: LiveExecution, *, due_by: datetime, now: datetime) -> Disposal:
    """Skip an execution that was due by ``due_by``, or that the schedule did not plan; remove a later one.

    In the long lane, every execution that is due now is skipped: it may have requested slots, and the end of a skipped
    execution releases them.
    """
    if one.lane is Lane.LONG:
        due_by = max(due_by, now)
    return Disposal.SKIP if one.scheduled_at <= due_by or not one.is_from_schedule else Disposal.REMOVE
