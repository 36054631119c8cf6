"""The record of a job counts each ended execution once, in any order, and however often its end is reported."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id
from punctual.domain.statistics.ended import CountedEnd, Counts, counted_end
from punctual.domain.statistics.job_record import MAX_IN_RECORD, SHOWN_EXECUTIONS, JobRecord, LedgerPage, count
from punctual.domain.status import Status

JOB, START = "01m7jxs3n0000000000000000a", datetime(2026, 11, 16, tzinfo=UTC)


def an_end(number: int) -> CountedEnd:
    due = START + timedelta(hours=number)
    name = execution_id(JOB, due)
    ended_at = due + timedelta(seconds=7)
    return counted_end(
        Execution(
            job_id=JOB,
            execution_id=name,
            owner="team",
            task="echo",
            scheduled_at=due,
            status=Status.SUCCEEDED if number % 3 else Status.FAILED,
            started_at=due,
            ended_at=ended_at,
        )
    )


class Store:
    """What the table would contain."""

    def __init__(self) -> None:
        self.record = JobRecord(job_id=JOB)
        self.days: dict[str, Counter[str]] = {}
        self.pages: dict[str, frozenset[str]] = {}
        self.new: Counter[str] = Counter()

    def count(self, ends: list[CountedEnd]) -> None:
        late = [end for end in ends if self.record.is_late(end)]
        pages = {end.ended.execution_id: self._page(end) for end in late}
        change = count(self.record, ends, pages)
        if change is None:
            return
        self.record = change.after
        self.new.update(end.ended.execution_id for end in change.new)
        for day, counts in change.days.items():
            self.days.setdefault(day, Counter()).update(counts)
        for page in change.pages:
            self.pages[page.key] = self.pages.get(page.key, frozenset()) | page.execution_ids

    def _page(self, end: CountedEnd) -> LedgerPage:
        key = min(key for key in self.pages if key >= end.ended.key)
        return LedgerPage(key, self.pages[key])

    def totals(self) -> dict[str, Counter[str]]:
        totals = {day: Counter(counts) for day, counts in self.days.items()}
        totals.setdefault(self.record.day, Counter()).update(self.record.counts)
        return totals


def true_totals(numbers: set[int]) -> dict[str, Counter[str]]:
    totals: dict[str, Counter[str]] = {}
    for end in map(an_end, numbers):
        totals.setdefault(end.ended.day, Counter()).update(end.of_job)
    return totals


BATCHES = st.lists(st.lists(st.integers(0, 90), min_size=1, max_size=40), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(BATCHES)
def test_each_end_is_counted_once(batches: list[list[int]]) -> None:
    store, numbers = Store(), {number for batch in batches for number in batch}
    for batch in batches:
        store.count([an_end(number) for number in batch])
    assert store.totals() == true_totals(numbers)
    assert set(store.new.values()) == {1}
    assert len(store.record.counted) <= MAX_IN_RECORD
    last = sorted(an_end(number).ended.key for number in numbers)[-SHOWN_EXECUTIONS:]
    assert [one.key for one in store.record.last] == last
    assert store.record.since == min(true_totals(numbers))


def test_a_late_end_whose_ledger_page_has_expired_is_not_counted() -> None:
    store = Store()
    store.count([an_end(number) for number in range(1, MAX_IN_RECORD + 2)])
    assert count(store.record, [an_end(0)], {}) is None


def test_counts_of_a_day_leave_the_record_when_the_next_day_begins() -> None:
    store = Store()
    store.count([an_end(1)])
    assert store.days == {}
    store.count([an_end(25)])
    expected: Counts = an_end(1).of_job
    assert store.days == {"2026-11-16": expected}
    assert store.record.day == "2026-11-17"
