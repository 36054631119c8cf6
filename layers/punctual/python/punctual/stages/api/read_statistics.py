"""Read statistics: summaries of ended executions, and the past of jobs. Only from counters, never from a scan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.jobs.job import Job
from punctual.domain.requests.statistics_range import SummaryRange
from punctual.domain.statistics.ended import Counts, add
from punctual.domain.statistics.job_record import DAYS_KEPT, JobRecord

if TYPE_CHECKING:
    from punctual.ports.jobs import JobActivity, JobIndex
    from punctual.ports.statistics import StatisticsReader


@dataclass(frozen=True)
class JobHistory:
    """The counts of a job by day, without the days before its first end and those that expired: they are unknown."""

    first_day: date | None
    """The first day whose counts are known; ``None`` if no execution has ended yet."""
    days: Mapping[date, Counts]


@dataclass(frozen=True)
class JobPulse:
    """What a job has done lately, and does now."""

    record: JobRecord
    running: int
    deadline_state: DeadlineState | None
    """The worst among its live executions; ``None`` if none has a deadline."""


@dataclass(frozen=True)
class StatisticsReading:
    statistics: StatisticsReader
    jobs: JobIndex
    activity: JobActivity

    def pulses(self, jobs: Iterable[Job]) -> list[JobPulse]:
        """The pulse of each of up to 100 jobs, with the same number of requests for one as for all."""
        names = [job.job_id for job in jobs]
        if not names:
            return []
        records, running = self.statistics.records(names), self.activity.running(names)
        deadlines = self.activity.worst_deadlines()
        return [
            JobPulse(records.get(one) or JobRecord(job_id=one), running.get(one, 0), deadlines.get(one))
            for one in names
        ]

    def summary(self, wanted: SummaryRange, owner: str | None) -> list[tuple[datetime, Counts]]:
        """The counts of each bucket, oldest first, of one owner or all. Makes one query per owner."""
        totals: dict[datetime, Counts] = {start: {} for start in wanted.starts}
        for one in [owner] if owner is not None else self.jobs.owners():
            for at, quarter in self.statistics.quarters(one, wanted.since, wanted.until).items():
                start = wanted.bucket.start_of(at)
                totals[start] = add(totals[start], quarter.counts)
        return list(totals.items())

    def history(self, job_id: str, first: date, last: date, today: date) -> JobHistory:
        """The counts of each known day from ``first`` to ``last``; a day without an end has no counts."""
        record = self.statistics.records([job_id]).get(job_id)
        if record is None:
            return JobHistory(None, {})
        first_day = max(date.fromisoformat(record.since), today - DAYS_KEPT + timedelta(days=1))
        start = max(first, first_day)
        found = self.statistics.days(record, start, last) if start <= last else {}
        days = [start + timedelta(days=number) for number in range((last - start).days + 1)]
        return JobHistory(first_day, {day: found.get(f"{day}", {}) for day in days})
