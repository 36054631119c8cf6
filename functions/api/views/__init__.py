"""Convert domain objects to the response models of the API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

import answers
import bodies

from punctual.domain.executions.deadline_outlook import Outlook
from punctual.domain.executions.execution import Attempt, Execution, Failure, Result
from punctual.domain.executions.progress import Progress, completed
from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND, from_epoch_ms, to_text
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.jobs.notify_rule import DEFAULT_RULE
from punctual.domain.long_lane.part import Part
from punctual.domain.planning.upstreams import Upstream
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution
from punctual.domain.schedules.cron import Occurrence
from punctual.domain.schedules.data_window import DataWindow
from punctual.domain.statistics.job_record import JobRecord
from punctual.domain.status import FINAL, Status
from punctual.stages.api.execution_details import Details
from punctual.stages.api.explain import WaitingFor
from punctual.stages.api.read_logs import LogPage
from punctual.stages.api.read_statistics import JobPulse
from punctual.stages.api.rerun import ManualExecution
from punctual.stages.api.submit import Submitted
from views.execution_details import cost_view, dependant_views, event_views, median_and_p95, part_forecast
from views.instants import text_of as _text
from views.statistics import pulse_fields


def submitted_view(submitted: Submitted, now: datetime) -> answers.Job:
    """A new job as of its submission, so that the first due instant is shown even if it is the submission itself."""
    job = submitted.job
    if not submitted.created:
        return job_view(job, now)
    return job_view(job, job.created_at - MILLISECOND, JobPulse(JobRecord(job_id=job.job_id), 0, None))


def job_view(job: Job, now: datetime, pulse: JobPulse | None = None) -> answers.Job:
    """A job, with what it has done lately if that has been read."""
    batch, next_due_at = job.batch, job.next_due_at(now)
    return answers.Job(
        job_id=job.job_id,
        name=job.name,
        owner=job.owner,
        created_by=job.created_by,
        state=job.state,
        revision=job.revision,
        task=job.task,
        parameters=job.parameters,
        tags=dict(job.tags),
        schedule=job.schedule.to_spec(),
        lane=job.lane,
        priority=job.priority,
        timeout_seconds=job.timeout_seconds,
        retry=bodies.RetryRule(**asdict(job.retry)),
        deadline=job.deadline.to_spec() if job.deadline else None,
        window=job.window,
        resources=batch.resources.to_spec() if batch else None,
        container={"image": batch.image, "command": list(batch.command)} if batch and batch.image else None,
        partitions=batch.partitions.to_spec() if batch and batch.partitions else None,
        preemptible=batch.preemptible if batch else False,
        expected_seconds=job.expected_seconds,
        overlap=job.overlap,
        misfire=bodies.MisfireRule(**job.misfire.to_spec()),
        concurrency=job.concurrency.to_spec() if job.concurrency else None,
        backlog=bodies.BacklogRule(**job.backlog.to_spec()) if job.backlog else None,
        paused_at=_text(job.paused_at) if job.state is JobState.PAUSED else None,
        notify=(job.notify or DEFAULT_RULE).to_spec(),
        dedupe_key=job.dedupe_key,
        depends_on=[one.to_spec() for one in job.depends_on],
        created_at=to_text(job.created_at),
        updated_at=to_text(job.updated_at),
        next_due_at=_text(next_due_at),
        execution_id=execution_id(job.job_id, next_due_at) if next_due_at else None,
        **(pulse_fields(pulse) if pulse else {}),
    )


def execution_view(
    execution: Execution,
    parts: Iterable[Part] | None = None,
    outlook: Outlook | None = None,
    waiting_for: WaitingFor | None = None,
    upstreams: Iterable[Upstream] = (),
    details: Details | None = None,
) -> answers.Execution:
    return answers.Execution(
        execution_id=execution.execution_id,
        job_id=execution.job_id,
        job_name=execution.job_name,
        tags=dict(execution.tags),
        owner=execution.owner,
        task=execution.task,
        parameters=execution.parameters,
        status=execution.status,
        reason=execution.reason,
        lane=execution.lane,
        priority=execution.priority,
        origin=execution.origin,
        scheduled_at=to_text(execution.scheduled_at),
        timezone=execution.timezone,
        queued_at=_text(execution.queued_at),
        started_at=_text(execution.started_at),
        ended_at=_text(execution.ended_at),
        retry_at=_text(execution.retry_at),
        attempt=execution.attempt,
        worker_id=execution.worker_id,
        lease_until=_text(execution.lease_until) if execution.status is Status.RUNNING else None,
        window=_window_view(execution.window),
        progress=progress_view(execution.progress, execution.status),
        deadline=deadline_view(execution, outlook or execution.outlook),
        result=_result_view(execution.result),
        error=_failure_view(execution.error),
        attempts=[_attempt_view(attempt) for attempt in execution.attempts],
        covered_by=execution.covered_by,
        retry_of=execution.retry_of,
        cancel_at=_text(execution.cancel_at),
        waiting_for=_waiting_view(waiting_for) if waiting_for else None,
        events=event_views(details.events) if details else None,
        cost=cost_view(details.cost) if details else None,
        **median_and_p95(details.expected_end if details else None),
        usual_percent=details.usual_progress if details else None,
        dependants=dependant_views(details.dependants) if details else None,
        depends_on=[one.to_spec() for one in execution.depends_on],
        upstreams=[_upstream_view(one) for one in upstreams] or None,
        parts=None if parts is None else [_part_view(part, details) for part in parts],
    )


def progress_view(progress: Progress | None, status: Status) -> answers.Progress | None:
    shown = completed(progress) if status is Status.SUCCEEDED else progress
    return answers.Progress(**asdict(shown)) if shown else None


def logs_view(page: LogPage) -> answers.Logs:
    items = [
        answers.LogLine(
            at=to_text(from_epoch_ms(one.line.at_ms)),
            level=one.line.level,
            attempt=one.attempt,
            part=one.part or None,
            message=one.line.message,
            fields=dict(one.line.fields),
        )
        for one in page.lines
    ]
    return answers.Logs(items=items, before=page.before, after=page.after, total=page.total, complete=page.is_complete)


def _waiting_view(waiting_for: WaitingFor) -> answers.WaitingFor:
    return answers.WaitingFor(
        **{**asdict(waiting_for), "until": _text(waiting_for.until), "as_of": _text(waiting_for.as_of)}
    )


def _upstream_view(upstream: Upstream) -> answers.Upstream:
    return answers.Upstream(
        job_id=upstream.dependency.job,
        job_name=upstream.name,
        condition=upstream.dependency.condition,
        execution_id=upstream.execution_id,
        status=upstream.execution.status if upstream.execution else None,
    )


def deadline_view(execution: Execution, outlook: Outlook | None) -> answers.ExecutionDeadline | None:
    state = execution.deadline_state
    if execution.deadline_at is None or state is None:
        return None
    if execution.status in FINAL:
        return answers.ExecutionDeadline(at=to_text(execution.deadline_at), state=state)
    return answers.ExecutionDeadline(
        at=to_text(execution.deadline_at),
        state=outlook.state if outlook else state,
        probability=outlook.probability if outlook else None,
        median_end=to_text(outlook.median_end) if outlook else None,
        p95_end=to_text(outlook.p95_end) if outlook else None,
        latest_safe_start=_text(outlook.latest_safe_start) if outlook else None,
        cause=outlook.cause if outlook else None,
        remedy=outlook.remedy if outlook else None,
        cause_code=outlook.cause_code if outlook else None,
        remedies=[answers.Remedy(**one._asdict()) for one in outlook.remedies] if outlook else [],
        since=_text(outlook.since) if outlook else None,
        runs_used=outlook.runs_used if outlook else None,
        checked_at=to_text(outlook.checked_at) if outlook else None,
    )


def backfill_view(execution: Execution) -> answers.BackfillEntry:
    return answers.BackfillEntry(
        execution_id=execution.execution_id,
        scheduled_at=to_text(execution.scheduled_at),
        window=_window_view(execution.window),
    )


def run_view(manual: ManualExecution) -> answers.RunResponse:
    return answers.RunResponse(execution=execution_view(manual.execution), outcome=manual.outcome)


def changes_view(changes: DryRunChanges) -> answers.Changes:
    def views(foreseen: Iterable[ForeseenExecution]) -> list[answers.ForeseenExecution]:
        return [
            answers.ForeseenExecution(
                execution_id=one.execution_id, scheduled_at=to_text(one.scheduled_at), note=one.note
            )
            for one in foreseen
        ]

    return answers.Changes(
        appear=views(changes.appear),
        vanish=views(changes.vanish),
        repeat=views(changes.repeat),
        left_out=changes.left_out,
    )


def _part_view(part: Part, details: Details | None) -> answers.Part:
    return answers.Part(
        part=part.name,
        status=part.status,
        reason=part.reason,
        kept_from=part.kept_from,
        attempt=part.attempt,
        worker_id=part.worker_id,
        lease_until=_text(part.lease_until) if part.status is Status.RUNNING else None,
        value=part.value,
        window=_window_view(part.window),
        latest_start=to_text(part.latest_start),
        requested_at=_text(part.requested_at),
        started_at=_text(part.started_at),
        ended_at=_text(part.ended_at),
        retry_at=_text(part.retry_at),
        stopping=part.stopping,
        progress=progress_view(part.progress, part.status),
        usual_percent=details.usual_progress_of_parts.get(part.name) if details else None,
        **part_forecast(details.parts.get(part.name) if details else None),
        result=_result_view(part.result),
        error=_failure_view(part.error),
        attempts=[_attempt_view(attempt) for attempt in part.attempts],
    )


def occurrence_view(occurrence: Occurrence) -> answers.Instant:
    return answers.Instant(at=_text(occurrence.at), local=occurrence.local.isoformat(), flag=occurrence.flag)


def _attempt_view(attempt: Attempt) -> answers.Attempt:
    return answers.Attempt(
        number=attempt.number,
        outcome=attempt.outcome,
        started_at=_text(attempt.started_at),
        ended_at=to_text(attempt.ended_at),
        worker_id=attempt.worker_id,
        error=_failure_view(attempt.error),
    )


def _window_view(window: DataWindow | None) -> answers.DataWindow | None:
    return answers.DataWindow(start=to_text(window.start), end=to_text(window.end)) if window else None


def _result_view(result: Result | None) -> answers.Result:
    return answers.Result(**asdict(result)) if result else answers.Result()


def _failure_view(failure: Failure | None) -> answers.Failure | None:
    return answers.Failure(**asdict(failure)) if failure else None
