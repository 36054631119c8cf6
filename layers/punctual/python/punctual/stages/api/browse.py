"""Browse: list jobs and executions, newest first, with filters and cursors.

A cursor is a position in the order of ids, so it stays valid when records are added or removed. A list over several
owners merges one sorted sequence per owner. A page reads a bounded number of records: with a selective filter it may
be short or empty and still have a cursor for the next page.
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
from punctual.domain.executions.deadline_outlook import DeadlineState, danger_key_range
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import BEYOND_ALL_IDS, check_job_id, due_key
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.lane import Priority
from punctual.domain.status import FINAL, WITHOUT_OUTCOME, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import JobIndex

MAX_SCANNED = 1000
"""Records that one page reads at most, matching or not."""
FETCH_SIZE = 100
POSITION = re.compile(r"[0-9][0-9A-Za-z_-]{1,200}")
MAX_PAGE_BYTES = 4_000_000
"""Bytes of parameters and results per page: the response of a Lambda function is limited to 6 MB."""
ONLY_AFTER_DUE = frozenset(Status) - {Status.SCHEDULED, Status.QUEUED, Status.WAITING, *WITHOUT_OUTCOME}
"""Statuses that an execution cannot have before its due instant."""

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    cursor: str | None
    """Where the next page starts; ``None`` on the last page."""


@dataclass(frozen=True, kw_only=True)
class JobFilter:
    owner: str | None = None
    state: JobState | None = None
    priority: Priority | None = None
    task: str | None = None

    def matches(self, job: Job) -> bool:
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

    def matches(self, execution: Execution) -> bool:
        wanted = (
            (self.owner, execution.owner),
            (self.status, execution.status),
            (self.worker_id, execution.worker_id),
        )
        return all(want is None or want == have for want, have in wanted)


@dataclass(frozen=True)
class Browse:
    jobs: JobIndex
    executions: ExecutionIndex
    clock: Clock

    def list_jobs(self, where: JobFilter, limit: int, cursor: str | None) -> Page[Job]:
        """List jobs, newest first. Raises ``Invalid`` for an unknown cursor."""
        before = decode_cursor(cursor)
        owners = [where.owner] if where.owner is not None else self.jobs.owners()
        sequences = [chain.from_iterable(self.jobs.newest_first(owner, before)) for owner in owners]
        merged = heapq.merge(*sequences, key=lambda job: job.job_id, reverse=True)
        return _page(((job.job_id, job if where.matches(job) else None) for job in merged), limit, _size)

    def list_executions(self, where: ExecutionFilter, limit: int, cursor: str | None) -> Page[Execution]:
        """List executions, latest due instant first. Raises ``Invalid`` for an unknown cursor or an inverted range."""
        low, high = self._id_range(where, decode_cursor(cursor))
        pages = self._id_pages(where, low, high)
        ids = heapq.merge(*(chain.from_iterable(sequence) for sequence in pages), reverse=True)
        return _page(self._fetch_matching(ids, where, limit), limit, _size)

    def list_deadlines(self, state: DeadlineState | None, limit: int, cursor: str | None) -> Page[Execution]:
        """List live executions that have a deadline: the most endangered first, then by nearest deadline."""
        lowest, highest = danger_key_range(state) if state else ("", BEYOND_ALL_IDS)
        after = decode_cursor(cursor) or ""
        shards = self.executions.danger_keys(max(lowest, after), highest)
        positions = heapq.merge(*(chain.from_iterable(pages) for pages in shards))
        remaining = (position for position in positions if position > after)
        return _page(self._fetch_live(remaining, limit), limit, _size)

    def _fetch_live(self, danger_keys: Iterator[str], limit: int) -> Iterator[tuple[str, Execution | None]]:
        while chunk := list(islice(danger_keys, limit)):
            ids = {key: key.split("-", 2)[2] for key in chunk}
            found = self.executions.fetch(list(ids.values()))
            for key, execution_id in ids.items():
                execution = found.get(execution_id)
                yield key, execution if execution is not None and execution.status not in FINAL else None

    def _id_range(self, where: ExecutionFilter, before: str | None) -> tuple[str, str]:
        if where.since and where.until and where.until < where.since:
            raise Invalid("to", "must not be before from: swap the two, or correct one of them")
        low = due_key(where.since) if where.since else ""
        highs = [due_key(where.until) if where.until else BEYOND_ALL_IDS, before or BEYOND_ALL_IDS]
        if where.status in ONLY_AFTER_DUE:  # do not read the executions that are planned ahead
            highs.append(due_key(self.clock() + timedelta(seconds=1)))
        return low, min(highs)

    def _id_pages(self, where: ExecutionFilter, low: str, high: str) -> list[Iterator[list[str]]]:
        """Return the ids from the smallest index that contains all matches."""
        if low >= high:
            return []
        if where.job_id is not None:
            return [self.executions.ids_of_job(check_job_id(where.job_id), low, high)]
        if where.status is Status.RUNNING:
            return self.executions.ids_running(low, high)
        owners = [where.owner] if where.owner is not None else self.jobs.owners()
        return [self.executions.ids_of_owner(owner, low, high) for owner in owners]

    def _fetch_matching(
        self, ids: Iterable[str], where: ExecutionFilter, limit: int
    ) -> Iterator[tuple[str, Execution | None]]:
        remaining = iter(ids)
        # with a filter, filling a page may take many records
        size = limit if where.status is where.worker_id is None else FETCH_SIZE
        while chunk := list(islice(remaining, size)):
            found = self.executions.fetch(chunk)
            for execution_id in chunk:
                execution = found.get(execution_id)
                yield execution_id, execution if execution is not None and where.matches(execution) else None


def _page(candidates: Iterator[tuple[str, T | None]], limit: int, size_of: Callable[[T], int]) -> Page[T]:
    """Collect the next page. A candidate is a position with its record, or with ``None`` if that does not match."""
    items: list[T] = []
    size = 0
    for scanned, (position, item) in enumerate(candidates, start=1):
        if item is not None:
            items.append(item)
            size += size_of(item)
        if len(items) == limit or scanned == MAX_SCANNED or size > MAX_PAGE_BYTES:
            return Page(items, encode_cursor(position))
    return Page(items, None)


def _size(item: Job | Execution) -> int:
    """Estimate how many bytes of the response the item takes."""
    size = len(json.dumps(item.parameters))
    if isinstance(item, Execution):
        size += len(json.dumps(item.result.value)) if item.result else 0
        size += sum(len(attempt.error.trace or "") for attempt in item.attempts if attempt.error)
    return size


def encode_cursor(position: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"before": position}).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> str | None:
    """Return the position in a cursor. Raises ``Invalid`` for text that ``encode_cursor`` did not produce."""
    if cursor is None:
        return None
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))["before"]
    except (binascii.Error, ValueError, KeyError, TypeError):
        position = None
    if not isinstance(position, str) or not POSITION.fullmatch(position):
        raise Invalid("cursor", "is not a cursor that a list returned: omit it to start with the first page")
    return position
