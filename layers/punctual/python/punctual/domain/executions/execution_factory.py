"""Builds the execution of one due instant of a job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from punctual.domain import identity
from punctual.domain.executions.deadline_outlook import first_check
from punctual.domain.executions.execution import RETROACTIVE_ORIGINS, UPSTREAM_BOUND_ORIGINS, Execution, Origin
from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.gate import Gate
from punctual.domain.jobs.job import Job
from punctual.domain.schedules.due_window import window_of, zone_of
from punctual.domain.schedules.jitter import delay
from punctual.domain.status import Status


def execution_of(
    job: Job,
    due: datetime,
    *,
    status: Status,
    now: datetime,
    is_leader: bool = False,
    source: str | None = None,
    parameters: dict[str, Any] | None = None,
    origin: Origin = Origin.SCHEDULE,
    backfill_gate: Gate | None = None,
    is_last: bool = False,
) -> Execution:
    """Build the execution of ``job`` due at ``due``, under the job's current rules.

    The deadline counts from ``due``, or from ``now`` for backfills and manual retries.
    """
    earliest_start = now if origin in RETROACTIVE_ORIGINS else due
    parameters = job.parameters if parameters is None else parameters
    deadline_at = job.deadline.of(earliest_start) if job.deadline else None
    return Execution(
        job_id=job.job_id,
        execution_id=identity.execution_id(job.job_id, due, source),
        owner=job.owner,
        task=job.task,
        scheduled_at=due,
        status=status,
        parameters=parameters,
        job_name=job.name,
        tags=job.tags,
        timezone=zone_of(job.schedule),
        lane=job.lane,
        priority=job.priority,
        timeout_seconds=job.timeout_seconds,
        retry=job.retry,
        revision=job.revision,
        origin=origin,
        is_last_of_job=is_last or (not job.schedule.recurring and job.schedule.kind != "queue"),
        is_leader=is_leader,
        delay_seconds=_jitter(job, due) if origin is Origin.SCHEDULE else 0,
        gates=_gates(job, parameters, origin, backfill_gate),
        depends_on=job.depends_on if origin in UPSTREAM_BOUND_ORIGINS else (),
        is_upstream=job.is_upstream,
        window=window_of(job.schedule, due, job.window),
        batch=job.batch,
        notify=job.notify is not None and job.notify.covers_ends_without_failure,
        deadline_at=deadline_at,
        check_at=in_milliseconds(first_check(earliest_start, deadline_at, now)) if deadline_at else None,
        queued_at=now if status is Status.QUEUED else None,
    )


def _jitter(job: Job, due: datetime) -> float:
    max_seconds = job.schedule.jitter_seconds
    return delay(job.job_id, due, max_seconds).total_seconds() if max_seconds else 0


def _gates(job: Job, parameters: Mapping[str, Any], origin: Origin, backfill_gate: Gate | None) -> tuple[Gate, ...]:
    """Return the gates to acquire. The order is fixed, so two executions cannot deadlock."""
    own = backfill_gate if origin is Origin.BACKFILL else job.overlap.gate(job.job_id)
    shared = job.concurrency.gate(job.owner, parameters) if job.concurrency else None
    return tuple(gate for gate in (own, shared) if gate is not None)
