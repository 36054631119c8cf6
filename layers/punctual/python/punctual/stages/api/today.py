"""Today: the deadlines met and missed, and the failures, of the executions that ended since midnight in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from itertools import islice
from operator import add
from typing import TYPE_CHECKING

from punctual.domain.executions.deadline_outlook import DeadlineResult
from punctual.domain.executions.execution import Execution
from punctual.domain.statistics.ended import QUEUES, by_status
from punctual.domain.statistics.quarter import FAILURES, Quarter

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Agenda
    from punctual.ports.jobs import JobIndex
    from punctual.ports.statistics import StatisticsReader

MAX_FAILED = 10
"""The latest failed executions, which are returned."""
MAX_READ = 40
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Today:
    since: datetime
    quarters: tuple[Quarter, ...]
    """The latest first."""

    @property
    def failed(self) -> int:
        counts = self._total.counts
        return sum(by_status(counts, prefix).get(one, 0) for prefix in QUEUES.values() for one in FAILURES)

    def deadlines(self, result: DeadlineResult) -> int:
        """The executions that ended with this result."""
        return self._total.counts.get(str(result), 0)

    @property
    def failed_ids(self) -> Iterator[str]:
        """Ids of failed executions, those of the latest quarter of an hour first."""
        return (one for quarter in self.quarters for one in sorted(quarter.failed, reverse=True))

    @property
    def _total(self) -> Quarter:
        return reduce(add, self.quarters, Quarter())


@dataclass(frozen=True)
class TodayReader:
    jobs: JobIndex
    statistics: StatisticsReader
    executions: Agenda
    clock: Clock

    def read(self) -> Today:
        """Makes one query per owner."""
        since = self.clock().replace(hour=0, minute=0, second=0, microsecond=0)
        quarters: dict[datetime, Quarter] = {}
        for owner in self.jobs.owners():
            for at, quarter in self.statistics.quarters(owner, since, since + DAY).items():
                quarters[at] = quarters.get(at, Quarter()) + quarter
        return Today(since, tuple(quarters[at] for at in sorted(quarters, reverse=True)))

    def latest_failed(self, today: Today) -> list[Execution]:
        """The executions that failed last, the latest end first."""
        found = self.executions.fetch(list(islice(today.failed_ids, MAX_READ)))
        return sorted(found.values(), key=_ended_at, reverse=True)[:MAX_FAILED]


def _ended_at(execution: Execution) -> datetime:
    return execution.ended_at or execution.scheduled_at
