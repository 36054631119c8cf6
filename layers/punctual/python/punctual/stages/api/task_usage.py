"""Task usage: which tasks the live jobs use, and how the last executions of these jobs ended.

Jobs have no index by task. So this reads a bounded number of live jobs, and their records in the statistics.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.jobs.listing import Listing, listing_of
from punctual.domain.statistics.job_record import JobRecord
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.jobs import JobIndex
    from punctual.ports.statistics import StatisticsReader

MAX_JOBS = 500
"""The newest live jobs, which are read."""


@dataclass(frozen=True)
class TaskUsage:
    live_jobs: int = 0
    outcomes: Mapping[Status, int] | None = None
    """Of the last ended executions of each of these jobs."""
    last_ended_at: datetime | None = None


@dataclass(frozen=True)
class UsageByTask:
    tasks: Mapping[str, TaskUsage]
    is_exact: bool
    """``False`` if not all live jobs were read."""


@dataclass(frozen=True)
class TaskUsageReader:
    jobs: JobIndex
    statistics: StatisticsReader

    def read(self) -> UsageByTask:
        sequences = (self.jobs.listed(owner, Listing.LIVE, None, descending=True) for owner in self.jobs.owners())
        newest = heapq.merge(*map(chain.from_iterable, sequences), reverse=True)
        ids = [job_id for _, job_id in islice(newest, MAX_JOBS + 1)]
        shown = ids[:MAX_JOBS]
        records, by_task = self.statistics.records(shown), defaultdict(list)
        for job in self.jobs.fetch(shown).values():
            if listing_of(job.state) is Listing.LIVE:
                by_task[job.task].append(records.get(job.job_id) or JobRecord(job_id=job.job_id))
        return UsageByTask({task: _usage_of(some) for task, some in by_task.items()}, len(ids) <= MAX_JOBS)


def _usage_of(records: Iterable[JobRecord]) -> TaskUsage:
    records = list(records)
    ended = [one for record in records for one in record.last]
    return TaskUsage(
        live_jobs=len(records),
        outcomes=Counter(one.status for one in ended),
        last_ended_at=max((one.ended_at for one in ended), default=None),
    )
