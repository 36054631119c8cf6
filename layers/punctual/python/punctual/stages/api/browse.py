"""Browse: list jobs and executions in an order that an index has, with filters and cursors.

A list over several owners merges one sorted sequence per owner.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import BEYOND_ALL_IDS, EXECUTION_ID, check_job_id, due_key, job_of
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.listing import Listing, listing_of
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.job_filter import JobFilter, JobSort
from punctual.domain.requests.page import (
    FETCH_SIZE,
    Candidate,
    Page,
    Total,
    candidates,
    decode_cursor,
    page_of,
    response_size,
    total_of,
)
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import JobIndex

NAMED = "named"
"""The source of live jobs in the order of their names; the other sources are the listings."""
JOB_POSITION = re.compile(rf"({NAMED}|{'|'.join(Listing)})/(.{{1,500}})", re.DOTALL)
"""The position of a job: the source, and the position in it."""
RUNNING = ExecutionFilter(statuses=frozenset({Status.RUNNING}))
SPLIT_POSITION = re.compile(rf"\d{{8}}T\d{{9}}Z/{EXECUTION_ID.pattern}")
"""The position in a list that ends with executions that are not due: the instant of the first page, and the id."""
HOLDING = "holding/"
RUNNING_POSITION = re.compile(rf"({HOLDING})?{EXECUTION_ID.pattern}")
"""The position of a running execution, which is that of its job if it holds the gate of its job."""


@dataclass(frozen=True)
class Browse:
    jobs: JobIndex
    executions: ExecutionIndex
    clock: Clock

    def list_jobs(self, where: JobFilter, limit: int, cursor: str | None, sort: JobSort | None = None) -> Page[Job]:
        """List jobs: live ones first, each newest first, or in another order.

        With a name and without an order, live jobs are sorted by name. Raises ``Invalid`` for an unknown cursor, and
        for an order by name of jobs that are not live.
        """
        position = decode_cursor(cursor, JOB_POSITION)
        source, _, after = (position or "").partition("/")
        sources = _sources(where, sort)
        if source and source not in sources:
            raise Invalid(
                "cursor", "belongs to another list: omit it, or repeat the filters and the order of that list"
            )
        left = sources[sources.index(source) :] if source else sources
        found = (self._candidates(one, where, after if one == source else None, limit, sort) for one in left)
        return page_of(chain.from_iterable(found), limit, response_size)

    def count_jobs(self, where: JobFilter, sort: JobSort | None = None) -> Total | None:
        """Count the jobs of a list without reading them; ``None`` if a filter needs the jobs themselves."""
        by_name = sort is JobSort.NAME
        if not _is_served(where, by_name=by_name):
            return None
        owners, prefix = self._owners(where.owner), where.name or ""
        if by_name:
            return total_of(partial(self.jobs.count_named, owner, prefix) for owner in owners)
        return total_of(partial(self.jobs.count_listed, owner, one) for owner in owners for one in where.listings)

    def count_executions(self, where: ExecutionFilter) -> Total | None:
        """Count the executions of a list without reading them; ``None`` if a filter needs the executions."""
        if not where.is_range or where.job_id is not None:
            return None
        low, high = self._id_range(where, None)
        if low >= high:
            return Total(0, is_exact=True)
        owners = self._owners(where.owner)
        return total_of(partial(self.executions.count_of_owner, owner, low, high) for owner in owners)

    def list_executions(self, where: ExecutionFilter, limit: int, cursor: str | None) -> Page[Execution]:
        """List executions, latest due instant first. Raises ``Invalid`` for an unknown cursor or an inverted range.

        Running executions are in the order of two indexes, and latest due instant first on each page. A list that
        ``ends_with_planned`` has those that are not due yet at its end.
        """
        if where.is_running_only:
            return self._list_running(where, limit, cursor)
        size = limit if where.is_range else FETCH_SIZE
        found = candidates(self._positions(where, cursor), self.executions.fetch, where.matches, size)
        return page_of(found, limit, response_size)

    def _positions(self, where: ExecutionFilter, cursor: str | None) -> Iterator[tuple[str, str]]:
        """The positions and ids of a list. One that ``ends_with_planned`` is read in two ranges of the index."""
        if not where.ends_with_planned:
            yield from _own_positions(self._ids(where, *self._id_range(where, decode_cursor(cursor))))
            return
        split, _, before = (decode_cursor(cursor, SPLIT_POSITION) or f"{self._now_key()}/").partition("/")
        low, high = self._id_range(where, None)
        is_in_planned = before > split
        due, planned = (low, before or split), (max(low, split), before if is_in_planned else high)
        ranges = [planned] if is_in_planned else [due, planned]
        for one in chain.from_iterable(self._ids(where, *bounds) for bounds in ranges):
            yield f"{split}/{one}", one

    def _ids(self, where: ExecutionFilter, low: str, high: str) -> Iterator[str]:
        pages = self._id_pages(where, low, high)
        return heapq.merge(*(chain.from_iterable(sequence) for sequence in pages), reverse=True)

    def _now_key(self) -> str:
        """Executions that are due by now sort before it."""
        return due_key(self.clock() + timedelta(seconds=1))

    def count_running(self) -> Total:
        """Count the executions that run, or are between two attempts."""
        return total_of([self.executions.count_running])

    def _list_running(self, where: ExecutionFilter, limit: int, cursor: str | None) -> Page[Execution]:
        """List running executions: first from the index, then the holders of the gate of their job, by job."""
        position = decode_cursor(cursor, RUNNING_POSITION) or ""
        is_holding = position.startswith(HOLDING)
        low, high = self._id_range(where, None if is_holding else position or None)
        size = limit if where == RUNNING else FETCH_SIZE
        indexed = [] if is_holding or low >= high else self.executions.ids_running(low, high, size)
        holding = self.executions.ids_holding(position.removeprefix(HOLDING) if is_holding else None, size)
        ids = heapq.merge(*map(chain.from_iterable, indexed), reverse=True)
        holders = heapq.merge(*map(chain.from_iterable, holding), key=job_of, reverse=True)
        positions = chain(_own_positions(ids), ((HOLDING + one, one) for one in holders))
        found = candidates(positions, self.executions.fetch, where.matches, size)
        page = page_of(found, limit, response_size)
        return replace(page, items=sorted(page.items, key=lambda one: one.execution_id, reverse=True))

    def _candidates(
        self, source: str, where: JobFilter, after: str | None, limit: int, sort: JobSort | None
    ) -> Iterator[Candidate[Job]]:
        listing = Listing.LIVE if source == NAMED else Listing(source)
        descending = source != NAMED and sort is not JobSort.OLDEST
        sequences = [self._pages(source, owner, where, after, descending) for owner in self._owners(where.owner)]
        merged = heapq.merge(*(chain.from_iterable(pages) for pages in sequences), reverse=descending)

        def matches(job: Job) -> bool:  # a job that has just ended is listed among the ended ones
            return listing_of(job.state) is listing and where.matches(job)

        size = limit if _is_served(where, by_name=source == NAMED) else FETCH_SIZE
        for position, job in candidates(merged, self.jobs.fetch, matches, size):
            yield f"{source}/{position}", job

    def _pages(
        self, source: str, owner: str, where: JobFilter, after: str | None, descending: bool
    ) -> Iterator[list[tuple[str, str]]]:
        if source == NAMED:
            return self.jobs.named(owner, where.name or "", after)
        return self.jobs.listed(owner, Listing(source), after, descending=descending)

    def _owners(self, owner: str | None) -> list[str]:
        return [owner] if owner is not None else self.jobs.owners()

    def _id_range(self, where: ExecutionFilter, before: str | None) -> tuple[str, str]:
        if where.since and where.until and where.until < where.since:
            raise Invalid("to", "must not be before from: swap the two, or correct one of them")
        low = due_key(where.since) if where.since else ""
        highs = [due_key(where.until) if where.until else BEYOND_ALL_IDS, before or BEYOND_ALL_IDS]
        if not where.includes_planned:
            highs.append(self._now_key())
        return low, min(highs)

    def _id_pages(self, where: ExecutionFilter, low: str, high: str) -> list[Iterator[list[str]]]:
        """Return the ids from the smallest index that contains all matches."""
        if low >= high:
            return []
        if where.job_id is not None:
            return [self.executions.ids_of_job(check_job_id(where.job_id), low, high)]
        return [self.executions.ids_of_owner(owner, low, high) for owner in self._owners(where.owner)]


def _is_served(where: JobFilter, *, by_name: bool) -> bool:
    """Whether an index serves all conditions. That of names serves the beginning of a name."""
    return (replace(where, name=None) if by_name else where).is_whole_listing


def _sources(where: JobFilter, sort: JobSort | None) -> list[str]:
    """What the list of jobs is read from, in this order."""
    if sort is JobSort.NAME:
        if where.listings != [Listing.LIVE] and where.states:
            raise Invalid("sort", "by name lists only live jobs: remove the states done, cancelled and deleted")
        return [NAMED]
    by_name = sort is None and where.name is not None
    return [NAMED if by_name and one is Listing.LIVE else str(one) for one in where.listings]


def _own_positions(ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((one, one) for one in ids)
