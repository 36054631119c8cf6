"""Browse: lists of jobs and executions, newest first, filtered, page by page.

A cursor is a place in the order of ids, so it stays good whatever is added or removed meanwhile, and a list over
several owners is a merge of one sequence each. A page looks at a bounded number of records: with a filter that
little fits it may come back short, or empty, with a cursor to go on from.
"""

from __future__ import annotations

import base64
import binascii
import heapq
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, Generic, TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.executions.deadline_outlook import DeadlineState, dangers_of
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import BEYOND_ALL_IDS, check_job_id, due_key
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.lane import Priority
from punctual.domain.status import FINAL, WITHOUT_A_RUN, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionShelf
    from punctual.ports.jobs import JobShelf

MOST_LOOKED_AT = 1000
FETCH = 100
PLACE = re.compile(r"[0-9][0-9A-Za-z_-]{1,200}")
LARGEST_PAGE = 4_000_000
"""Bytes of parameters and results: a Lambda answers with at most 6 MB."""
NEVER_BEFORE_THEIR_TIME = frozenset(Status) - {Status.SCHEDULED, Status.QUEUED, Status.WAITING, *WITHOUT_A_RUN}

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    cursor: str | None


@dataclass(frozen=True, kw_only=True)
class JobFilter:
    owner: str | None = None
    state: JobState | None = None
    priority: Priority | None = None
    task: str | None = None

    def fits(self, job: Job) -> bool:
        wanted = ((self.state, job.state), (self.priority, job.priority), (self.task, job.task))
        return all(want is None or want == have for want, have in wanted)


@dataclass(frozen=True, kw_only=True)
class ExecutionFilter:
    job_id: str | None = None
    owner: str | None = None
    status: Status | None = None
    worker_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def fits(self, execution: Execution) -> bool:
        wanted = (
            (self.owner, execution.owner),
            (self.status, execution.status),
            (self.worker_id, execution.worker_id),
        )
        return all(want is None or want == have for want, have in wanted)


@dataclass(frozen=True)
class Browse:
    jobs: JobShelf
    executions: ExecutionShelf
    clock: Clock

    def list_jobs(self, where: JobFilter, limit: int, cursor: str | None) -> Page[Job]:
        before = read_cursor(cursor)
        owners = [where.owner] if where.owner is not None else self.jobs.owners()
        sequences = [chain.from_iterable(self.jobs.newest_first(owner, before)) for owner in owners]
        merged = heapq.merge(*sequences, key=lambda job: job.job_id, reverse=True)
        return _page(((job.job_id, job if where.fits(job) else None) for job in merged), limit, _weight)

    def list_executions(self, where: ExecutionFilter, limit: int, cursor: str | None) -> Page[Execution]:
        low, high = self._bounds(where, read_cursor(cursor))
        ids = heapq.merge(*(chain.from_iterable(pages) for pages in self._sequences(where, low, high)), reverse=True)
        return _page(self._looked_up(ids, where, limit), limit, _weight)

    def list_deadlines(self, state: DeadlineState | None, limit: int, cursor: str | None) -> Page[Execution]:
        """Live executions that have a deadline, those in the greatest danger first, then the nearest deadline."""
        lowest, highest = dangers_of(state) if state else ("", BEYOND_ALL_IDS)
        after = read_cursor(cursor) or ""
        shards = self.executions.dangers(max(lowest, after), highest)
        places = heapq.merge(*(chain.from_iterable(pages) for pages in shards))
        beyond = (place for place in places if place > after)
        return _page(self._watched(beyond, limit), limit, _weight)

    def _watched(self, places: Iterator[str], limit: int) -> Iterator[tuple[str, Execution | None]]:
        while chunk := list(islice(places, limit)):
            ids = {place: place.split("-", 2)[2] for place in chunk}
            found = self.executions.fetch(list(ids.values()))
            for place, execution_id in ids.items():
                execution = found.get(execution_id)
                yield place, execution if execution is not None and execution.status not in FINAL else None

    def _bounds(self, where: ExecutionFilter, before: str | None) -> tuple[str, str]:
        if where.since and where.until and where.until < where.since:
            raise Invalid("to", "is before from")
        low = due_key(where.since) if where.since else ""
        highs = [due_key(where.until) if where.until else BEYOND_ALL_IDS, before or BEYOND_ALL_IDS]
        if where.status in NEVER_BEFORE_THEIR_TIME:  # do not wade through what is planned ahead
            highs.append(due_key(self.clock() + timedelta(seconds=1)))
        return low, min(highs)

    def _sequences(self, where: ExecutionFilter, low: str, high: str) -> list[Iterator[list[str]]]:
        """The fewest records that hold all that fit."""
        if low >= high:
            return []
        if where.job_id is not None:
            return [self.executions.ids_of_job(check_job_id(where.job_id), low, high)]
        if where.status is Status.RUNNING:
            return self.executions.ids_running(low, high)
        owners = [where.owner] if where.owner is not None else self.jobs.owners()
        return [self.executions.ids_of_owner(owner, low, high) for owner in owners]

    def _looked_up(
        self, ids: Iterable[str], where: ExecutionFilter, limit: int
    ) -> Iterator[tuple[str, Execution | None]]:
        remaining = iter(ids)
        size = limit if where.status is where.worker_id is None else FETCH  # a filter may need many to fill a page
        while chunk := list(islice(remaining, size)):
            found = self.executions.fetch(chunk)
            for execution_id in chunk:
                execution = found.get(execution_id)
                yield execution_id, execution if execution is not None and where.fits(execution) else None


def _page(candidates: Iterator[tuple[str, T | None]], limit: int, weigh: Callable[[T], int]) -> Page[T]:
    items: list[T] = []
    weight = 0
    for looked_at, (place, item) in enumerate(candidates, start=1):
        if item is not None:
            items.append(item)
            weight += weigh(item)
        if len(items) == limit or looked_at == MOST_LOOKED_AT or weight > LARGEST_PAGE:
            return Page(items, write_cursor(place))
    return Page(items, None)


def _weight(item: Job | Execution) -> int:
    """About how many bytes of an answer it takes."""
    weight = len(json.dumps(item.parameters))
    if isinstance(item, Execution):
        weight += len(json.dumps(item.result.value)) if item.result else 0
        weight += sum(len(attempt.error.trace or "") for attempt in item.attempts if attempt.error)
    return weight


def write_cursor(place: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"before": place}).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None) -> str | None:
    """Raises ``Invalid`` for what ``write_cursor`` did not write."""
    if cursor is None:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))["before"]
    except (binascii.Error, ValueError, KeyError, TypeError):
        place = None
    if not isinstance(place, str) or not PLACE.fullmatch(place):
        raise Invalid("cursor", "is not one that a list gave: leave it out to start from the top")
    return place
