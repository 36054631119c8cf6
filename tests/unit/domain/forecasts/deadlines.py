"""Executions with a deadline, their jobs, and the load of the system."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from punctual.domain.executions.execution import Attempt, Execution, Outcome
from punctual.domain.executions.progress import Progress
from punctual.domain.forecasts.queue_backlog import Backlog
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.schedules.schedule import Now
from punctual.domain.status import Status

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
EIGHT_HOUR_RUNS = tuple(28_800 + 600 * (n % 5 - 2) for n in range(50))
IDLE = SystemLoad(limits=LaneLimits(tasks=4, cpu=4096, starts_per_second=1), concurrency={"normal": 10})


def job(**more: Any) -> Job:
    usual: dict[str, Any] = {
        "job_id": "j",
        "name": "job",
        "owner": "team",
        "created_by": "me",
        "task": "echo",
        "schedule": Now(NOW),
        "created_at": NOW,
        "updated_at": NOW,
        "timeout_seconds": 43_200,
    }
    return Job(**usual | more)


def execution(status: Status = Status.QUEUED, due: timedelta = timedelta(), **more: Any) -> Execution:
    usual: dict[str, Any] = {
        "job_id": "j",
        "execution_id": "e",
        "owner": "team",
        "task": "echo",
        "scheduled_at": NOW - due,
        "status": status,
        "deadline_at": NOW + 10 * HOUR,
        "timeout_seconds": 43_200,
    }
    return Execution(**usual | more)


def attempt(outcome: Outcome, hours: float = 1) -> Attempt:
    return Attempt(number=1, outcome=outcome, started_at=NOW - hours * HOUR, ended_at=NOW)


def running(percent: float | None, elapsed: timedelta, left: timedelta, **more: Any) -> Execution:
    progress = None if percent is None else Progress(percent=percent)
    return execution(
        Status.RUNNING,
        elapsed,
        **{"started_at": NOW - elapsed, "attempt": 1, "progress": progress, "deadline_at": NOW + left} | more,
    )


def backlog(depth: int, capacity: float | None, arrival: float = 0.0) -> Backlog:
    return Backlog(
        depth=depth,
        in_flight=0,
        delayed=0,
        arrival_per_minute=arrival,
        finished_per_minute=capacity,
        capacity_per_minute=capacity,
        drain_minutes=None,
        drains=None,
        oldest_seconds=None,
        minutes_until_breach=None,
        limit_minutes=30,
        limit_messages=1000,
    )


def regular_job(**more: Any) -> Job:
    """A job whose runs take about eight hours."""
    return job(run_times={"execution": EIGHT_HOUR_RUNS}, **more)
