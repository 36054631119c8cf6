"""Check backlogs: once a minute, measure the backlog of each queue job and compare it with the job's limits.

A tick (1) sends the notices of the changes in the stored measurement, (2) measures, (3) stores the result if no other
tick has stored one meanwhile (compare-and-swap), and (4) sends the notices of its own changes. A crash before (3)
changes nothing; the next tick measures again. After it, the change is stored and (1) of the next tick sends its notice.
So no notice is lost. Each is usually sent twice, with the same content and an id derived from the stored change: the
notifier publishes it once. The tick that loses in (3) sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from punctual.domain.jobs.job_backlog import (
    MAX_COUNTED,
    MAX_QUEUE_JOBS,
    BacklogReading,
    EndCount,
    JobBacklog,
    JobBacklogs,
    measured,
)
from punctual.domain.jobs.notify_rule import DEFAULT_RULE
from punctual.domain.notices.backlog_notice import backlog_notice
from punctual.domain.notices.notice import addressed
from punctual.domain.statistics.ended import Counts, by_status
from punctual.domain.statistics.job_record import JobRecord

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.notices import Notices
    from punctual.ports.queue_jobs import Arrivals, MeasuredBacklogs, QueueJobs, UnstartedMessages
    from punctual.ports.statistics import StatisticsReader

MAX_JOBS_PER_TICK = 500
"""With more queue jobs, a tick measures those that were measured the longest time ago."""


@dataclass(frozen=True)
class BacklogChecker:
    jobs: Jobs
    queue_jobs: QueueJobs
    messages: UnstartedMessages
    arrivals: Arrivals
    statistics: StatisticsReader
    backlogs: MeasuredBacklogs
    notices: Notices
    clock: Clock

    def tick(self) -> int:
        """Measure the queue jobs. Returns how many have exceeded their limits, or recovered, since the last tick."""
        before = self.backlogs.latest()
        self._send(before)
        after = JobBacklogs(before.version + 1, self._measure(before.jobs, self.clock()))
        return self._send(after) if self.backlogs.store(after) else 0

    def _measure(self, before: Mapping[str, JobBacklog], now: datetime) -> dict[str, JobBacklog]:
        live = self.queue_jobs.queue_job_ids(MAX_QUEUE_JOBS)
        due = sorted(live, key=lambda one: before[one].rated_at.timestamp() if one in before else 0)
        chosen = due[:MAX_JOBS_PER_TICK]
        jobs, arrived, records = self.jobs.get_many(chosen), self.arrivals.read(chosen), self.statistics.records(chosen)
        kept = {one: replace(before[one], is_unsent=False) for one in live if one in before}
        for job_id, job in jobs.items():
            if job.is_live and job.schedule.kind == "queue":
                earlier = before.get(job_id)
                reading = self._read(job_id, arrived.get(job_id, 0), records.get(job_id), earlier)
                kept[job_id] = measured(job, reading, earlier, now)
            else:
                kept.pop(job_id, None)
        return kept

    def _read(self, job_id: str, arrived: int, record: JobRecord | None, earlier: JobBacklog | None) -> BacklogReading:
        depth = self.messages.count_unstarted(job_id, MAX_COUNTED)
        return BacklogReading(
            depth=depth,
            oldest_at=self.messages.oldest_unstarted(job_id) if depth else None,
            arrived=arrived,
            ended=EndCount(record.day, _total(record.counts)) if record else EndCount(),
            ended_since=self._ended_since(record, earlier.ended) if record and earlier else 0,
        )

    def _ended_since(self, record: JobRecord, earlier: EndCount) -> int:
        """How many executions were counted since; those of an earlier day than the last are read only at its end."""
        if record.day == earlier.day:
            return max(_total(record.counts) - earlier.count, 0)
        since = date.fromisoformat(earlier.day or record.since)
        days = self.statistics.days(record, since, date.fromisoformat(record.day))
        return max(sum(map(_total, days.values())) - earlier.count, 0)

    def _send(self, backlogs: JobBacklogs) -> int:
        """Send the notices of the changes in a stored measurement, and return the number of changes."""
        changed = [one for one in backlogs.jobs.values() if one.is_unsent]
        jobs = self.jobs.get_many(one.job_id for one in changed) if changed else {}
        for one in changed:
            job = jobs.get(one.job_id)
            rule = (job.notify if job else None) or DEFAULT_RULE
            if job is not None and rule.includes((notice := backlog_notice(one, job)).event):
                self.notices.send(addressed(notice, rule))
        return len(changed)


def _total(counts: Counts) -> int:
    return sum(by_status(counts).values())
