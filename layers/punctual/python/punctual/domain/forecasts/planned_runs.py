"""The executions of the long lane that will request slots: planned ones, and those that the schedules will add."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.slot_use import HOUR
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.status import Status

HORIZON = 7 * 24 * HOUR


def later_runs(planned: Sequence[Execution], jobs: Mapping[str, Job], now: datetime) -> Iterator[Execution]:
    """The executions that the schedules of the jobs will add within the horizon, by due instant."""
    planned_until: dict[str, datetime] = {}
    for execution in planned:
        known = planned_until.get(execution.job_id, now)
        planned_until[execution.job_id] = max(known, execution.scheduled_at)
    active = (job for job in jobs.values() if job.state is JobState.ACTIVE and job.schedule.recurring)
    runs = (_runs_of(job, planned_until.get(job.job_id, now), now + HORIZON, now) for job in active)
    yield from heapq.merge(*runs, key=lambda execution: execution.scheduled_at)


def has_no_parts(execution: Execution) -> bool:
    """Whether a live execution of the long lane has requested no slot."""
    if execution.status is Status.WAITING:
        return execution.waits_at is not None or execution.has_pending_upstreams
    return execution.status in (Status.SCHEDULED, Status.QUEUED)


def _runs_of(job: Job, after: datetime, until: datetime, now: datetime) -> Iterator[Execution]:
    due = job.schedule.next_after(after)
    while due is not None and due < until:
        yield execution_of(job, due, status=Status.SCHEDULED, now=now)
        due = job.schedule.next_after(due)
