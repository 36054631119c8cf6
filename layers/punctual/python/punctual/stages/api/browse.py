"""Browse: list jobs and executions, newest first, with filters and cursors.

A list over several owners merges one sorted sequence per owner.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import BEYOND_ALL_IDS, check_job_id, due_key
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.lane import Priority
from punctual.domain.requests.page import Page, decode_cursor, page_of, response_size
from punctual.domain.status import WITHOUT_OUTCOME, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import JobIndex

FETCH_SIZE = 100
ONLY_AFTER_DUE = frozenset(Status) - {Status.SCHEDULED, Status.QUEUED, Status.WAITING, *WITHOUT_OUTCOME}
"""Statuses that an execution cannot have before its due instant."""


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
        return page_of(((job.job_id, job if where.matches(job) else None) for job in merged), limit, response_size)

    def list_executions(self, where: ExecutionFilter, limit: int, cursor: str | None) -> Page[Execution]:
        """List executions, latest due instant first. Raises ``Invalid`` for an unknown cursor or an inverted range."""
        low, high = self._id_range(where, decode_cursor(cursor))
        pages = self._id_pages(where, low, high)
        ids = heapq.merge(*(chain.from_iterable(sequence) for sequence in pages), reverse=True)
        return page_of(self._fetch_matching(ids, where, limit), limit, response_size)

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
