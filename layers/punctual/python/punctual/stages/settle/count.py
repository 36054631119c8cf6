"""Count ended executions: the statistics of their jobs and owners.

The settler counts the ends of a stream batch after their follow-up. Counting is idempotent: the record of a job knows
which executions were counted, and everything that an end adds is written in one transaction with that record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import StatisticsContention
from punctual.domain.executions.execution import Execution
from punctual.domain.statistics.ended import CountedEnd, counted_end
from punctual.domain.statistics.job_record import JobRecord, LedgerPage, RecordChange, count
from punctual.domain.statistics.quarter import Quarter, quarter_of_ends

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.statistics import CountedStatistics

ENDS_PER_TRANSACTION = 25
"""Each end changes at most four items: the record, a day and the ledger of its job, and a quarter of its owner."""
MAX_COUNT_TRIES = 10
"""How often records are read again if another settler has changed one of them meanwhile."""
MAX_LATENESS = timedelta(days=14)
"""Later than this, the ledger may have expired, so an end is not counted."""


@dataclass(frozen=True)
class EndCounter:
    statistics: CountedStatistics
    clock: Clock

    def count(self, executions: Iterable[Execution]) -> None:
        """Count each ended execution once. Idempotent. Raises ``StatisticsContention`` if a record keeps changing."""
        ends = sorted(map(counted_end, executions), key=lambda end: (end.ended.job_id, end.ended.key))
        for start in range(0, len(ends), ENDS_PER_TRANSACTION):
            self._count(ends[start : start + ENDS_PER_TRANSACTION])

    def _count(self, ends: Sequence[CountedEnd]) -> None:
        by_job: dict[str, list[CountedEnd]] = defaultdict(list)
        for end in ends:
            by_job[end.ended.job_id].append(end)
        for _ in range(MAX_COUNT_TRIES):
            records = self.statistics.records(by_job)
            found = (self._change(records.get(job) or JobRecord(job_id=job), some) for job, some in by_job.items())
            changes = [change for change in found if change is not None]
            if not changes or self.statistics.apply(changes, _by_quarter(changes), self.clock()):
                return
        raise StatisticsContention(
            f"statistics of {len(by_job)} jobs: a record changed {MAX_COUNT_TRIES} times in a row"
        )

    def _change(self, record: JobRecord, ends: Sequence[CountedEnd]) -> RecordChange | None:
        earliest = self.clock() - MAX_LATENESS
        late = [end.ended for end in ends if record.is_late(end) and end.ended.ended_at > earliest]
        pages = {end.execution_id: self.statistics.ledger_page(record.job_id, end.key) for end in late}
        return count(record, ends, _present(pages))


def _present(pages: Mapping[str, LedgerPage | None]) -> dict[str, LedgerPage]:
    return {name: page for name, page in pages.items() if page is not None}


def _by_quarter(changes: Iterable[RecordChange]) -> dict[tuple[str, datetime], Quarter]:
    ends: dict[tuple[str, datetime], list[CountedEnd]] = defaultdict(list)
    for end in (end for change in changes for end in change.new):
        ends[end.owner, end.quarter].append(end)
    return {key: quarter_of_ends(some) for key, some in ends.items()}
