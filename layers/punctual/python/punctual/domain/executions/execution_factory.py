"""What a job brings forth: the execution of one of its due instants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from punctual.domain import identity
from punctual.domain.executions.deadline_outlook import first_check
from punctual.domain.executions.execution import ASKED_FOR, DEPENDENT, Execution, Origin
from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.gate import Gate
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import OUTCOMES
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.jitter import delay
from punctual.domain.status import Status


def execution_of(
    job: Job,
    due: datetime,
    *,
    status: Status,
    now: datetime,
    leads: bool = False,
    source: str | None = None,
    parameters: dict[str, Any] | None = None,
    origin: Origin = Origin.SCHEDULE,
    at_once: Gate | None = None,
    last: bool = False,
) -> Execution:
    """The execution of ``job`` that is due at ``due``, under the rules that the job has now.

    The deadline of one that is asked for later counts from then. ``at_once`` is the gate of a backfill.
    """
    released_at = now if origin in ASKED_FOR else due
    parameters = job.parameters if parameters is None else parameters
    deadline_at = job.deadline.of(released_at) if job.deadline else None
    return Execution(
        job_id=job.job_id,
        execution_id=identity.execution_id(job.job_id, due, source),
        owner=job.owner,
        task=job.task,
        scheduled_at=due,
        status=status,
        parameters=parameters,
        lane=job.lane,
        priority=job.priority,
        timeout_seconds=job.timeout_seconds,
        retry=job.retry,
        revision=job.revision,
        origin=origin,
        once=last or (not job.schedule.recurring and job.schedule.kind != "queue"),
        leads=leads,
        delay_seconds=_jitter(job, due) if origin is Origin.SCHEDULE else 0,
        gates=_gates(job, parameters, origin, at_once),
        depends_on=job.depends_on if origin in DEPENDENT else (),
        feeds=job.feeds,
        window=window_of(job.schedule, due, job.window),
        batch=job.batch,
        notify=bool(job.notify and job.notify.on & OUTCOMES),
        deadline_at=deadline_at,
        check_at=in_milliseconds(first_check(released_at, deadline_at, now)) if deadline_at else None,
        queued_at=now if status is Status.QUEUED else None,
    )


def _jitter(job: Job, due: datetime) -> float:
    most = job.schedule.jitter_seconds
    return delay(job.job_id, due, most).total_seconds() if most else 0


def _gates(job: Job, parameters: Mapping[str, Any], origin: Origin, at_once: Gate | None) -> tuple[Gate, ...]:
    """Always in the same order: so nobody waits for one who waits for them."""
    apart = at_once if origin is Origin.BACKFILL else job.overlap.gate(job.job_id)
    shared = job.concurrency.gate(job.owner, parameters) if job.concurrency else None
    return tuple(gate for gate in (apart, shared) if gate is not None)
