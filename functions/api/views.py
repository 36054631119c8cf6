"""Jobs and executions as the API shows them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import models

from punctual.domain.cron import Occurrence
from punctual.domain.execution import Attempt, Execution
from punctual.domain.instant import to_text
from punctual.domain.job import Job


def job_view(job: Job, now: datetime) -> models.Job:
    return models.Job(
        job_id=job.job_id,
        name=job.name,
        owner=job.owner,
        created_by=job.created_by,
        state=job.state,
        revision=job.revision,
        task=job.task,
        parameters=job.parameters,
        schedule=job.schedule.to_spec(),
        lane=job.lane,
        priority=job.priority,
        timeout_seconds=job.timeout_seconds,
        retry=models.Retry(**asdict(job.retry)),
        deadline=job.deadline.to_spec() if job.deadline else None,
        created_at=to_text(job.created_at),
        updated_at=to_text(job.updated_at),
        next_due_at=_text(job.next_due_at(now)),
    )


def execution_view(execution: Execution) -> models.Execution:
    window, progress, result, error = execution.window, execution.progress, execution.result, execution.error
    return models.Execution(
        execution_id=execution.execution_id,
        job_id=execution.job_id,
        owner=execution.owner,
        task=execution.task,
        parameters=execution.parameters,
        status=execution.status,
        reason=execution.reason,
        lane=execution.lane,
        priority=execution.priority,
        scheduled_at=to_text(execution.scheduled_at),
        queued_at=_text(execution.queued_at),
        started_at=_text(execution.started_at),
        ended_at=_text(execution.ended_at),
        retry_at=_text(execution.retry_at),
        attempt=execution.attempt,
        worker_id=execution.worker_id,
        window=models.Window(start=to_text(window.start), end=to_text(window.end)) if window else None,
        progress=models.Progress(**asdict(progress)) if progress else None,
        deadline=models.ExecutionDeadline(at=to_text(execution.deadline_at)) if execution.deadline_at else None,
        result=models.Result(**asdict(result)) if result else models.Result(),
        error=models.Failure(**asdict(error)) if error else None,
        attempts=[_attempt_view(attempt) for attempt in execution.attempts],
    )


def occurrence_view(occurrence: Occurrence) -> models.Instant:
    return models.Instant(at=_text(occurrence.at), local=occurrence.local.isoformat(), flag=occurrence.oddity)


def _attempt_view(attempt: Attempt) -> models.Attempt:
    return models.Attempt(
        number=attempt.number,
        outcome=attempt.outcome,
        started_at=_text(attempt.started_at),
        ended_at=to_text(attempt.ended_at),
        worker_id=attempt.worker_id,
        error=models.Failure(**asdict(attempt.error)) if attempt.error else None,
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)
