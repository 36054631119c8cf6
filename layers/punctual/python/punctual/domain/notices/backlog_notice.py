"""The notice of a queue job whose backlog exceeds its limits, or is within them again."""

from __future__ import annotations

from datetime import timedelta

from punctual.domain.instant import to_text
from punctual.domain.jobs.backlog_rule import MAX_BACKLOG_MESSAGES
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.job_backlog import JobBacklog
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event
from punctual.domain.notices.notice import Notice, format_duration


def backlog_notice(backlog: JobBacklog, job: Job) -> Notice:
    """The notice of the last change. Its id is derived from the job and the instant of the change."""
    assert backlog.changed_at is not None
    event = Event.BACKLOG if backlog.is_exceeded else Event.BACKLOG_RECOVERED
    title = f"{job.display_name} " + (
        "exceeds its backlog limits" if backlog.is_exceeded else "is within its backlog limits again"
    )
    cause = backlog_cause(backlog)
    lines = {
        "Cause": cause,
        "Remedy": backlog.remedy,
        "Job": f"{job.display_name} ({job.job_id})",
        "Task": job.task,
        "Tags": ", ".join(f"{key}: {value}" for key, value in job.tags.items()),
        "Owner": job.owner,
    }
    return Notice(
        id=f"{job.job_id}#{event}#{to_text(backlog.changed_at)}",
        event=event,
        at=backlog.changed_at,
        job_id=job.job_id,
        job_name=job.display_name,
        owner=job.owner,
        execution_id=None,
        to=(job.notify or DEFAULT_RULE).to[0].key,
        title=title,
        text=f"{title}\n\n" + "\n".join(f"{name}: {text}" for name, text in lines.items() if text),
        facts={
            "cause": cause,
            "remedy": backlog.remedy,
            "depth": backlog.depth,
            "oldest_seconds": backlog.oldest_seconds,
            "backlog": backlog.limits.to_spec() if backlog.limits else None,
        },
        tags=job.tags,
    )


def backlog_cause(backlog: JobBacklog) -> str:
    """How many messages wait, for how long, and what the limits are: ``512 messages wait, the oldest for …``."""
    count = f"more than {MAX_BACKLOG_MESSAGES:,}" if backlog.depth > MAX_BACKLOG_MESSAGES else f"{backlog.depth:,}"
    waiting = f"{count} " + ("message waits" if backlog.depth == 1 else "messages wait")
    oldest = f", the oldest for {format_duration(timedelta(seconds=backlog.oldest_seconds))}" if backlog.depth else ""
    limits = backlog.limits
    messages = f"{limits.messages:,} messages" if limits and limits.messages else ""
    minutes = format_duration(timedelta(minutes=limits.minutes)) if limits and limits.minutes else ""
    return f"{waiting}{oldest}; the limit is {' or '.join(filter(None, (messages, minutes)))}"
