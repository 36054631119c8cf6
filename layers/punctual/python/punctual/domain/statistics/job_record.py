"""The statistics record of a job: its last ended executions, and the counts of its current day.

The record is also the fence that makes counting idempotent. ``counted`` holds every counted execution that ended later
than ``floor``; the ledger holds the earlier ones. So an end is counted at most once, in whatever order, how often and
however late the records of a job's executions arrive: docs/adr/0007-statistics-fenced-by-execution.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from punctual.domain.statistics.ended import CountedEnd, Counts, Ended, add

DAYS_KEPT = timedelta(weeks=55)
"""How long after the beginning of a day its counts expire."""
SHOWN_EXECUTIONS = 20
"""How many of the last ended executions a job shows."""
MAX_IN_RECORD = 32
"""With more, all but ``SHOWN_EXECUTIONS`` move to the ledger together, so that this seldom costs a write."""


@dataclass(frozen=True)
class LedgerPage:
    """Executions that were counted and have left the record: all that ended until ``key``, after the previous page."""

    key: str
    execution_ids: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    job_id: str
    version: int = 0
    """Incremented by each change; 0 if there is no record yet."""
    counted: tuple[Ended, ...] = ()
    """The last ended executions, oldest end first."""
    floor: str = ""
    """The key of the last ledger page; empty without one."""
    since: str = ""
    """The first day that was counted."""
    day: str = ""
    """The latest day. Its counts are in the record, those of earlier days are stored by day."""
    counts: Counts = field(default_factory=dict)

    @property
    def last(self) -> tuple[Ended, ...]:
        """The last ended executions that a job shows, oldest end first."""
        return self.counted[-SHOWN_EXECUTIONS:]

    def is_late(self, end: CountedEnd) -> bool:
        """Whether only the ledger knows if this end was counted."""
        return end.ended.key <= self.floor


@dataclass(frozen=True, kw_only=True)
class RecordChange:
    """What new ends change: the record, the counts of other days, and pages of the ledger. Applied as a whole."""

    before: JobRecord
    after: JobRecord
    days: Mapping[str, Counts]
    pages: tuple[LedgerPage, ...]
    """The additions to pages."""
    new: tuple[CountedEnd, ...]
    """The ends that were not counted before."""


def count(record: JobRecord, ends: Iterable[CountedEnd], pages: Mapping[str, LedgerPage]) -> RecordChange | None:
    """The change by ``ends``; ``None`` if all of them are counted already.

    ``pages`` has the ledger page of each late end, by its execution. An end whose page has expired is not counted.
    """
    known = {one.execution_id for one in record.counted}.union(*(page.execution_ids for page in pages.values()))
    unique = {end.ended.execution_id: end for end in ends}
    late = [end for name, end in unique.items() if record.is_late(end) and name in pages and name not in known]
    recent = [end for name, end in unique.items() if not record.is_late(end) and name not in known]
    new = (*late, *recent)
    if not new:
        return None
    counted = tuple(sorted({*record.counted, *(end.ended for end in recent)}, key=lambda one: one.key))
    moved = counted[:-SHOWN_EXECUTIONS] if len(counted) > MAX_IN_RECORD else ()
    additions = [LedgerPage(pages[name].key, frozenset({name})) for name in (end.ended.execution_id for end in late)]
    if moved:
        additions.append(LedgerPage(moved[-1].key, frozenset(one.execution_id for one in moved)))
    days = _days(record, new)
    newest = max(days)
    after = JobRecord(
        job_id=record.job_id,
        version=record.version + 1,
        counted=counted[len(moved) :],
        floor=moved[-1].key if moved else record.floor,
        since=min(filter(None, (record.since, *days))),
        day=newest,
        counts=days.pop(newest),
    )
    return RecordChange(before=record, after=after, days=days, pages=_merged(additions), new=new)


def _days(record: JobRecord, new: Iterable[CountedEnd]) -> dict[str, Counts]:
    """The counts by day: of the record's day, and of each day to which ``new`` adds."""
    days = {record.day: record.counts} if record.day else {}
    for end in new:
        days[end.ended.day] = add(days.get(end.ended.day, {}), end.of_job)
    return days


def _merged(additions: Iterable[LedgerPage]) -> tuple[LedgerPage, ...]:
    pages: dict[str, frozenset[str]] = {}
    for page in additions:
        pages[page.key] = pages.get(page.key, frozenset()) | page.execution_ids
    return tuple(LedgerPage(key, names) for key, names in pages.items())
