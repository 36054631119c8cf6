"""A failed execution, and its notice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.executions.execution import Execution, Failure
from punctual.domain.jobs.destination import Topic
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import Event, Notify
from punctual.domain.notices.notice import Notice
from punctual.domain.notices.outcome_notice import outcome_notice
from punctual.domain.schedules.cron import Cron
from punctual.domain.status import Status

DUE = datetime(2026, 11, 15, 7, tzinfo=UTC)
FAILED = Execution(
    job_id="job",
    execution_id="20261115T070000000Z-job",
    owner="team-a",
    task="quality.weekly",
    scheduled_at=DUE,
    status=Status.FAILED,
    reason="attempt 3 of 3 failed",
    attempt=3,
    started_at=DUE + timedelta(seconds=1),
    ended_at=DUE + timedelta(hours=3, seconds=1),
    deadline_at=DUE + timedelta(hours=2),
    error=Failure(type="EmptySource", message="no rows for Sunday", trace="Traceback: secret/path.py"),
)
ALL = Notify(frozenset(Event), (Topic.PAGE,))


JOB = Job(
    job_id="job",
    name="weekly-quality",
    owner="team-a",
    created_by="someone",
    task="quality.weekly",
    schedule=Cron.parse("0 8 * * SUN", "Europe/Berlin"),
    created_at=DUE,
    updated_at=DUE,
    notify=ALL,
)


def notice_of(execution: Execution, job: Job = JOB) -> Notice:
    notice = outcome_notice(execution, job)
    assert notice is not None
    return notice


NOTICE = notice_of(FAILED)
