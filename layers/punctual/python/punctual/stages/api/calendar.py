"""Calendar: the outcomes, the due instants and the skipped dates of jobs within a range of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.job_calendar import JobCalendar, UsualDuration, calendar_of
from punctual.domain.forecasts.run_time import RunTimeSource, run_time_source
from punctual.domain.identity import due_key
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.part import EXECUTION, PARTITION
from punctual.domain.requests.job_filter import JobFilter
from punctual.domain.schedules.clock_changes import ClockChange, clock_changes
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex
    from punctual.stages.api.browse import Browse
    from punctual.stages.watch.check_deadlines import Forecaster

MAX_CALENDAR_DAYS = 42
"""The longest range: six weeks, as a month is drawn."""
MAX_EXECUTIONS = 100
"""Stored executions that are shown of one job: the latest."""


@dataclass(frozen=True)
class CalendarPage:
    jobs: list[JobCalendar]
    """Only those with entries."""
    clock_changes: list[ClockChange]
    """Of the time zones of these jobs."""
    cursor: str | None


@dataclass(frozen=True)
class Calendar:
    browse: Browse
    executions: ExecutionIndex
    forecaster: Forecaster
    clock: Clock

    def page(self, where: JobFilter, since: datetime, until: datetime, limit: int, cursor: str | None) -> CalendarPage:
        """Read the calendars of the next ``limit`` jobs. Raises ``Invalid`` for an unknown cursor or a bad range."""
        _check_range(since, until)
        page = self.browse.list_jobs(where, limit, cursor)
        calendars = [self._calendar(job, since, until) for job in page.items]
        shown = [one for one in calendars if one.entries]
        zones = sorted({one.timezone for one in shown})
        changes = chain.from_iterable(clock_changes(zone, since, until) for zone in zones)
        return CalendarPage(shown, list(changes), page.cursor)

    def _calendar(self, job: Job, since: datetime, until: datetime) -> JobCalendar:
        now = self.clock()
        ids = list(islice(self._ids(job, since, until), MAX_EXECUTIONS + 1))
        found = self.executions.fetch(ids[:MAX_EXECUTIONS])
        executions = [found[one] for one in ids if one in found]
        oldest = min((one.scheduled_at for one in executions), default=since)
        is_complete = len(ids) <= MAX_EXECUTIONS
        usual = self._usual_duration(job, now) if until > now else None
        return calendar_of(job, executions, usual, since, until, now, complete_since=since if is_complete else oldest)

    def _ids(self, job: Job, since: datetime, until: datetime) -> Iterator[str]:
        return chain.from_iterable(self.executions.ids_of_job(job.job_id, due_key(since), due_key(until)))

    def _usual_duration(self, job: Job, now: datetime) -> UsualDuration | None:
        """Forecast an execution of the job, the next one if there is one; ``None`` if its run time is unknown."""
        kind = PARTITION if job.batch and job.batch.partitions else EXECUTION
        source = run_time_source(job.run_times.get(kind, ()), job.expected_seconds)
        if source is RunTimeSource.TIMEOUT:
            return None
        execution: Execution = execution_of(job, job.next_due_at(now) or now, status=Status.SCHEDULED, now=now)
        end = self.forecaster.end_alone(execution, job)
        return UsualDuration(end.median_end - execution.earliest_start, end.p95_end - execution.earliest_start)


def _check_range(since: datetime, until: datetime) -> None:
    if until < since + MILLISECOND:
        raise Invalid("to", "must be after from: swap the two, or correct one of them")
    if until - since > timedelta(days=MAX_CALENDAR_DAYS):
        raise Invalid("to", f"must be at most {MAX_CALENDAR_DAYS} days after from: request several ranges")
