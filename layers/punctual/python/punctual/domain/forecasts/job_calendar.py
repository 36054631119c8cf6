"""The calendar of one job: what ran, what is planned, and which dates are skipped, within a range of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.slot_use import uses_of_execution
from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import ONE_VCPU
from punctual.domain.schedules.cron import OccurrenceFlag
from punctual.domain.schedules.due_window import zone_of
from punctual.domain.schedules.schedule import occurrences_between
from punctual.domain.schedules.timezone import zone_named
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.domain.jobs.job import Job

MAX_PLANNED = 100
"""Future due instants that are shown of one job."""
MAX_OCCURRENCES = 2_000
"""Due instants and skipped dates of one job that are examined."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class UsualDuration:
    """How long after its earliest start an execution of a job is expected to end."""

    median: timedelta
    p95: timedelta


@dataclass(frozen=True, kw_only=True)
class CalendarEntry:
    at: datetime
    """The due instant; of a date without an execution, the instant of its local time."""
    local: datetime
    flag: OccurrenceFlag | None = None
    execution_id: str | None = None
    """``None`` for a date without an execution."""
    execution: Execution | None = None
    """``None`` if it is not stored yet."""
    median_end: datetime | None = None
    p95_end: datetime | None = None
    deadline_at: datetime | None = None
    deadline_state: DeadlineState | None = None
    """Of an execution that is not stored yet."""
    tasks: int | None = None
    """Slots of the long lane that it needs, or needed, at most at once."""
    vcpus: float | None = None


@dataclass(frozen=True)
class JobCalendar:
    job: Job
    timezone: str
    entries: list[CalendarEntry]
    """By ``at``."""
    complete_since: datetime
    complete_until: datetime
    """Outside of these two, entries may be missing."""


def calendar_of(
    job: Job,
    executions: Sequence[Execution],
    usual: UsualDuration | None,
    since: datetime,
    until: datetime,
    now: datetime,
    *,
    complete_since: datetime,
) -> JobCalendar:
    """Merge the stored executions of the range, in any order, with what the schedule of the job foresees."""
    stored = {one.execution_id for one in executions}
    planned = [one for one in _planned(job, usual, max(since, now), until, now) if one.execution_id not in stored]
    shown, later = planned[:MAX_PLANNED], planned[MAX_PLANNED:]
    known = [_of_execution(one, job, usual, now) for one in executions]
    entries = [*known, *_excluded(job, since, min(until, later[0].at if later else until)), *shown]
    return JobCalendar(
        job=job,
        timezone=zone_of(job.schedule),
        entries=sorted(entries, key=lambda entry: entry.at),
        complete_since=complete_since,
        complete_until=later[0].at if later else until,
    )


def _planned(
    job: Job, usual: UsualDuration | None, after: datetime, until: datetime, now: datetime
) -> Iterator[CalendarEntry]:
    """The first future due instants, one more than are shown."""
    if job.state is not JobState.ACTIVE:
        return
    found = islice(occurrences_between(job.schedule, after, until), MAX_OCCURRENCES)
    runs = (one for one in found if one.at is not None)
    for occurrence in islice(runs, MAX_PLANNED * 2 + 1):
        assert occurrence.at is not None
        execution = execution_of(job, occurrence.at, status=Status.SCHEDULED, now=now)
        yield _entry(execution, job, usual, occurrence.local, occurrence.flag)


def _entry(
    execution: Execution, job: Job, usual: UsualDuration | None, local: datetime, flag: OccurrenceFlag | None
) -> CalendarEntry:
    median_end = execution.earliest_start + usual.median if usual else None
    p95_end = execution.earliest_start + usual.p95 if usual else None
    tasks, vcpus = _slots(execution, job)
    return CalendarEntry(
        at=execution.scheduled_at,
        local=local,
        flag=flag,
        execution_id=execution_id(job.job_id, execution.scheduled_at),
        median_end=median_end,
        p95_end=p95_end,
        deadline_at=execution.deadline_at,
        deadline_state=_state(execution.deadline_at, median_end, p95_end),
        tasks=tasks,
        vcpus=vcpus,
    )


def _slots(execution: Execution, job: Job) -> tuple[int, float] | tuple[None, None]:
    """The slots of the long lane at most at once, and their vCPUs."""
    if job.lane is not Lane.LONG:
        return None, None
    most = max(uses_of_execution(execution, job, execution.earliest_start), key=lambda use: use.tasks, default=None)
    return (most.tasks, most.cpu / ONE_VCPU) if most else (None, None)


def _state(deadline_at: datetime | None, median_end: datetime | None, p95_end: datetime | None) -> DeadlineState | None:
    if deadline_at is None or median_end is None or p95_end is None:
        return None
    if median_end > deadline_at:
        return DeadlineState.WILL_MISS
    return DeadlineState.ON_TRACK if p95_end <= deadline_at else DeadlineState.AT_RISK


def _of_execution(execution: Execution, job: Job, usual: UsualDuration | None, now: datetime) -> CalendarEntry:
    at, zone = execution.scheduled_at, zone_named(zone_of(job.schedule))
    local = at.astimezone(zone).replace(tzinfo=None)
    flag = _flag_near_clock_change(execution, job)
    if execution.status in (Status.SCHEDULED, Status.QUEUED):
        entry = _entry(execution, job, usual, local, flag)
        return replace(entry, execution_id=execution.execution_id, execution=execution)
    tasks, vcpus = _slots(execution, job)
    median, p95 = _expected_ends(execution, usual, now)
    return CalendarEntry(
        at=at,
        local=local,
        flag=flag,
        execution_id=execution.execution_id,
        execution=execution,
        median_end=median,
        p95_end=p95,
        tasks=tasks,
        vcpus=vcpus,
    )


def _expected_ends(
    execution: Execution, usual: UsualDuration | None, now: datetime
) -> tuple[datetime, datetime] | tuple[None, None]:
    """The median and the 95% forecast of an execution that runs or waits: of its last deadline check, if it has one."""
    if execution.status in FINAL:
        return None, None
    if execution.outlook:
        return max(execution.outlook.median_end, now), max(execution.outlook.p95_end, now)
    if usual is None:
        return None, None
    start = execution.started_at or now
    return max(start + usual.median, now), max(start + usual.p95, now)


def _flag_near_clock_change(execution: Execution, job: Job) -> OccurrenceFlag | None:
    """The flag of a due instant within a day of a clock change: elsewhere, only moved runs have one."""
    at, zone = execution.scheduled_at, zone_named(zone_of(job.schedule))
    if (at - DAY).astimezone(zone).utcoffset() == (at + DAY).astimezone(zone).utcoffset():
        return None
    found = next(occurrences_between(job.schedule, at - datetime.resolution, at + DAY), None)
    return found.flag if found is not None and found.at == at else None


def _excluded(job: Job, since: datetime, until: datetime) -> Iterable[CalendarEntry]:
    """The dates that the current schedule skips, past ones too, and local times that a clock change skips."""
    if not job.schedule.recurring or not job.is_live:
        return
    zone, after = zone_named(zone_of(job.schedule)), max(since, job.scheduled_since)
    for found in islice(occurrences_between(job.schedule, after, until), MAX_OCCURRENCES):
        if found.at is None:
            yield CalendarEntry(at=found.local.replace(tzinfo=zone), local=found.local, flag=found.flag)
