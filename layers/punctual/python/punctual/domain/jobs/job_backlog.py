"""The backlog of a queue job: the messages that wait for their start, their rates, and whether they exceed its limits.

The monitor compares a reading with its previous measurement. Once a limit is exceeded, the job has recovered when the
backlog is at most ``RECOVERED_AT`` of every limit, so that a backlog around its limit is reported once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.jobs.backlog_rule import MAX_BACKLOG_MESSAGES, BacklogRule
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.jobs.overlap import Overlap
from punctual.domain.lane import Lane

MAX_COUNTED = MAX_BACKLOG_MESSAGES + 1
"""Waiting messages are counted up to this number: enough to compare them with any limit."""
MAX_QUEUE_JOBS = 3000
"""Further queue jobs, the youngest ones, are not measured: the measurement has to fit into one item."""
RECOVERED_AT = 0.8
MIN_INTERVAL = timedelta(seconds=30)
"""A measurement that follows sooner, for example of a repeated tick, keeps the rates."""


@dataclass(frozen=True)
class EndCount:
    """How many executions of a job have ended on a day, so far."""

    day: str = ""
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class BacklogReading:
    """What the tables say about a queue job now."""

    depth: int
    """Up to ``MAX_COUNTED``."""
    oldest_at: datetime | None
    """When the oldest waiting message was sent."""
    arrived: int
    """The messages that became executions, ever."""
    ended: EndCount
    ended_since: int
    """The executions that ended since the previous measurement."""


@dataclass(frozen=True, kw_only=True)
class JobBacklog:
    """A measurement of one queue job."""

    job_id: str
    job_name: str | None
    owner: str
    state: JobState
    limits: BacklogRule | None
    at: datetime
    depth: int
    oldest_at: datetime | None
    rated_at: datetime
    """When the next two were read: the next rates are those since then."""
    arrived: int
    ended: EndCount
    arrival_per_minute: float | None = None
    finished_per_minute: float | None = None
    is_exceeded: bool = False
    changed_at: datetime | None = None
    """When ``is_exceeded`` changed last."""
    is_unsent: bool = False
    """Whether it changed in this measurement: the next tick sends the notice again, in case this one could not."""
    remedy: str | None = None
    """What to do while it is exceeded."""

    @property
    def oldest_seconds(self) -> float:
        """The age of the oldest waiting message."""
        return max((self.at - self.oldest_at).total_seconds(), 0.0) if self.oldest_at else 0.0

    @property
    def exceeded_since(self) -> datetime | None:
        return self.changed_at if self.is_exceeded else None


@dataclass(frozen=True)
class JobBacklogs:
    """The latest measurement of each queue job."""

    version: int = 0
    """Incremented by each tick; 0 before the first one."""
    jobs: Mapping[str, JobBacklog] = field(default_factory=dict)


def measured(job: Job, reading: BacklogReading, earlier: JobBacklog | None, now: datetime) -> JobBacklog:
    """The measurement that follows ``earlier``."""
    return JobBacklog(
        job_id=job.job_id,
        job_name=job.name,
        owner=job.owner,
        state=job.state,
        limits=job.backlog,
        at=now,
        depth=reading.depth,
        oldest_at=reading.oldest_at,
        **_rates(reading, earlier, now),
        **_comparison(job, reading, earlier, now),
    )


def _rates(reading: BacklogReading, earlier: JobBacklog | None, now: datetime) -> dict[str, Any]:
    totals = {"rated_at": now, "arrived": reading.arrived, "ended": reading.ended}
    if earlier is None:
        return totals
    passed = now - earlier.rated_at
    if passed < MIN_INTERVAL:
        return {name: getattr(earlier, name) for name in (*totals, "arrival_per_minute", "finished_per_minute")}
    # a total below the earlier one was counted anew, after its record had expired
    arrived = reading.arrived - (earlier.arrived if earlier.arrived <= reading.arrived else 0)
    minutes = passed / timedelta(minutes=1)
    return {
        **totals,
        "arrival_per_minute": round(arrived / minutes, 2),
        "finished_per_minute": round(reading.ended_since / minutes, 2),
    }


def _comparison(job: Job, reading: BacklogReading, earlier: JobBacklog | None, now: datetime) -> dict[str, Any]:
    """Compare with the limits. A job without limits, or whose limits an edit has removed, exceeds none."""
    if job.backlog is None:
        return {}
    was_exceeded = earlier is not None and earlier.is_exceeded
    is_exceeded = _exceeds(job.backlog, reading, now, share=RECOVERED_AT if was_exceeded else 1)
    has_changed = is_exceeded != was_exceeded
    return {
        "is_exceeded": is_exceeded,
        "changed_at": now if has_changed else earlier and earlier.changed_at,
        "is_unsent": has_changed,
        "remedy": _remedy(job) if is_exceeded else None,
    }


def _exceeds(limits: BacklogRule, reading: BacklogReading, now: datetime, share: float) -> bool:
    waited = now - reading.oldest_at if reading.oldest_at else timedelta()
    has_too_many = limits.messages is not None and reading.depth > share * limits.messages
    return has_too_many or (limits.minutes is not None and waited > share * limits.minutes * timedelta(minutes=1))


def _remedy(job: Job) -> str:
    if job.state is JobState.PAUSED:
        return f"resume it with POST /jobs/{job.job_id}/resume: a paused job keeps its messages"
    if job.overlap is not Overlap.ALLOW:
        return f'its executions run one at a time, because overlap is "{job.overlap}": allow overlap, or send less'
    if job.concurrency is not None:
        return "raise the limit of its concurrency, or send fewer messages"
    if job.lane is Lane.LONG:
        return "raise the capacity of the long lane, or send fewer messages"
    concurrency = f"concurrency.{job.priority}"
    return f"give it a higher priority, raise {concurrency} in the settings of the stage, or send fewer messages"
