from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id, job_of, new_job_id
from punctual.domain.jobs.listing import Listing
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.page import Total, decode_cursor, encode_cursor
from punctual.domain.status import Status
from punctual.stages.api.browse import Browse

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
OWNERS = ("a", "b", "c")


class InMemoryIndex:
    """In-memory job and execution index with the executions of several owners."""

    def __init__(self, statuses: dict[tuple[str, int], Status]) -> None:
        jobs = {owner: new_job_id(NOW) for owner in OWNERS}
        self.stored: dict[str, Execution] = {}
        self.holding: set[str] = set()
        """Executions that hold the gate of their job."""
        self.fetched = self.keys_read = 0
        for (owner, minute), status in statuses.items():
            due = NOW + timedelta(minutes=minute)
            one = execution_id(jobs[owner], due)
            self.stored[one] = Execution(
                job_id=jobs[owner], execution_id=one, owner=owner, task="t", scheduled_at=due, status=status
            )

    def owners(self) -> list[str]:
        return list(OWNERS)

    def listed(
        self, _owner: str, _listing: Listing, _after: str | None, *, descending: bool
    ) -> Iterator[list[tuple[str, str]]]:
        assert descending
        yield []

    def named(self, _owner: str, _prefix: str, _after: str | None) -> Iterator[list[tuple[str, str]]]:
        yield []

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]:
        yield sorted((i for i, e in self.stored.items() if e.owner == owner and low <= i < high), reverse=True)

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        yield sorted((i for i, e in self.stored.items() if e.job_id == job_id and low <= i < high), reverse=True)

    def ids_running(self, low: str, high: str, page_size: int = 200) -> list[Iterator[list[str]]]:
        running = {i for i, e in self.stored.items() if e.status is Status.RUNNING and low <= i < high}
        return [self._pages(sorted(running - self.holding, reverse=True), page_size)]

    def ids_holding(self, after: str | None, page_size: int = 200) -> list[Iterator[list[str]]]:
        later_first = sorted((job_of(one) for one in self.holding), reverse=True)
        by_job = {job_of(one): one for one in self.holding}
        left = [by_job[job] for job in later_first if after is None or job < job_of(after)]
        return [self._pages(left[shard::2], page_size) for shard in range(2)]

    def count_running(self, at_most: int) -> int:
        return min(at_most, len(self.stored))

    def _pages(self, ids: list[str], page_size: int) -> Iterator[list[str]]:
        for first in range(0, len(ids), page_size):
            page = ids[first : first + page_size]
            self.keys_read += len(page)
            yield page

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]:
        self.fetched += len(execution_ids)
        return {one: self.stored[one] for one in execution_ids}


STATUSES = st.sampled_from(list(Status))
KEYS = st.tuples(st.sampled_from(OWNERS), st.integers(-500, 0))


@given(
    st.dictionaries(KEYS, st.sampled_from(list(Status)), max_size=60), st.integers(1, 7), st.sampled_from(list(Status))
)
def test_the_pages_together_contain_all_matches_in_descending_order(
    statuses: dict[tuple[str, int], Status], limit: int, wanted: Status
) -> None:
    index = InMemoryIndex(statuses)
    browse = Browse(jobs=index, executions=index, clock=lambda: NOW)
    seen: list[str] = []
    cursor = None
    while True:
        page = browse.list_executions(ExecutionFilter(statuses=frozenset({wanted})), limit, cursor)
        assert len(page.items) <= limit
        seen += [one.execution_id for one in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == sorted((i for i, e in index.stored.items() if e.status is wanted), reverse=True)


def test_running_executions_are_listed_from_two_indexes_each_read_no_further_than_the_page() -> None:
    index = InMemoryIndex({("a", -minute): Status.RUNNING for minute in range(100)})
    for minute in range(100):
        one = replace(next(iter(index.stored.values())), job_id=new_job_id(NOW + timedelta(seconds=minute)))
        due = NOW - timedelta(minutes=minute * 37 % 100)
        one = replace(one, execution_id=execution_id(one.job_id, due), scheduled_at=due)
        index.stored[one.execution_id] = one
        index.holding.add(one.execution_id)
    browse = Browse(jobs=index, executions=index, clock=lambda: NOW)
    cursor: str | None = None
    seen: list[str] = []
    for number in range(50):
        index.keys_read = index.fetched = 0
        page = browse.list_executions(ExecutionFilter(statuses=frozenset({Status.RUNNING})), 4, cursor)
        ids = [one.execution_id for one in page.items]
        assert ids == sorted(ids, reverse=True)
        assert (len(ids), index.fetched) == (4, 4)
        assert index.keys_read <= 3 * 4, number
        seen += ids
        cursor = page.cursor
    assert set(seen) == set(index.stored)
    assert set(seen[100:]) == index.holding
    assert browse.list_executions(ExecutionFilter(statuses=frozenset({Status.RUNNING})), 4, cursor).items == []


def test_counting_running_executions_stops_at_10000() -> None:
    index = InMemoryIndex({("a", -1): Status.RUNNING})
    browse = Browse(jobs=index, executions=index, clock=lambda: NOW)
    assert browse.count_running() == Total(1, is_exact=True)
    index.count_running = lambda at_most: at_most  # type: ignore[method-assign]
    assert browse.count_running() == Total(10_000, is_exact=False)


def test_a_page_without_a_filter_fetches_only_what_it_returns() -> None:
    index = InMemoryIndex({("a", -minute): Status.SUCCEEDED for minute in range(50)})
    Browse(jobs=index, executions=index, clock=lambda: NOW).list_executions(ExecutionFilter(), 3, None)
    assert index.fetched == 3


def test_a_filter_on_a_final_status_does_not_read_executions_planned_ahead() -> None:
    ahead = {("a", minute): Status.SCHEDULED for minute in range(1, 400)}
    index = InMemoryIndex({**ahead, ("b", -1): Status.FAILED})
    page = Browse(jobs=index, executions=index, clock=lambda: NOW).list_executions(
        ExecutionFilter(statuses=frozenset({Status.FAILED})), 5, None
    )
    assert len(page.items) == 1
    assert index.fetched == 1


@given(st.from_regex(r"[0-9][0-9A-Za-z_-]{1,100}", fullmatch=True))
def test_decoding_a_cursor_returns_the_encoded_position(position: str) -> None:
    assert decode_cursor(encode_cursor(position)) == position


@pytest.mark.parametrize(
    "cursor", ["", "x", "e30", "eyJiZWZvcmUiOiAiISJ9", "eyJiZWZvcmUiOiA3fQ", "///", "🙂", "W1tb" * 1000]
)
def test_text_that_is_not_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid, match="is not a cursor that this list returned"):
        decode_cursor(cursor)
