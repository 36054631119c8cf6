"""Ports for job definitions and for the task catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from punctual.domain.executions.deadline_outlook import DeadlineState
from punctual.domain.jobs.job import Job, JobState, UniqueKey
from punctual.domain.jobs.listing import Listing
from punctual.domain.schedules.named_calendars import Calendars


class Jobs(Protocol):
    """The store of job definitions."""

    def add(self, jobs: Iterable[Job]) -> None:
        """Store new jobs."""

    def add_missing(self, jobs: Iterable[Job]) -> None:
        """Store the jobs whose ids do not exist yet."""

    def add_unique(self, jobs: Sequence[Job]) -> dict[UniqueKey, Job]:
        """Store new jobs, each with unique keys, in one transaction: all of them or none.

        Stores nothing if live jobs have some of the keys, and returns those jobs by key; empty when all were stored.
        Takes up to 33 jobs.
        """

    def find_live(self, keys: Iterable[UniqueKey]) -> dict[UniqueKey, Job]:
        """Return the live jobs that have these keys, by key. The read is strongly consistent."""

    def get(self, job_id: str) -> Job | None: ...

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """Return the existing jobs by id. The read is strongly consistent."""

    def change_state(self, job: Job, state: JobState, now: datetime, paused_by: str | None = None) -> bool:
        """Pause, resume, cancel or delete a job. ``paused_by`` is the operation that pauses it.

        Compare-and-swap on state and revision, and on the operation that paused the job: returns ``False`` when the
        stored job differs from ``job``.
        """

    def record_run_times(self, job_id: str, execution_id: str, run_times: Mapping[str, Iterable[int]]) -> None:
        """Record how long the parts of an execution ran, by kind of part.

        A repeat is ignored only while this is the last recorded execution. Of two executions that end at the same time,
        one may not be recorded.
        """

    def extend_live_since(self, job_id: str, since: datetime) -> None:
        """Move ``live_since`` back to ``since``: live executions of the job may have due instants that old."""

    def mark_as_upstream(self, job_id: str) -> bool:
        """Record that other jobs depend on this one; ``False`` when it was deleted or cancelled."""

    def finish(self, job: Job, now: datetime) -> bool:
        """Mark an active job as done; ``False`` when it is no longer active or has another revision."""

    def register_owner(self, owner: str) -> None:
        """Record that this owner has jobs, so that lists over all owners include them. Idempotent."""


class Owners(Protocol):
    """All owners that have, or had, jobs."""

    def owners(self) -> list[str]: ...


class JobIndex(Owners, Protocol):
    """Reads jobs in order, for lists."""

    def listed(
        self, owner: str, listing: Listing, after: str | None, *, descending: bool
    ) -> Iterator[list[tuple[str, str]]]:
        """Yield pages of positions and job ids in a list of an owner, after a position, in order of creation.

        A position is a text in the order of the list. An id may be out of date: the job may be in another list by now.
        """

    def named(self, owner: str, prefix: str, after: str | None) -> Iterator[list[tuple[str, str]]]:
        """Yield pages of positions and ids of an owner's live jobs whose name starts with the prefix, by name."""

    def count_listed(self, owner: str, listing: Listing, at_most: int) -> int:
        """Count the jobs of a list; no further than to ``at_most``."""

    def count_named(self, owner: str, prefix: str, at_most: int) -> int:
        """Count an owner's live jobs whose name starts with the prefix; no further than to ``at_most``."""

    def dependants(self, upstream: str, at_most: int) -> list[str]:
        """Return the ids of the latest jobs that depend on a job, and of some that no longer do, or do not exist."""

    def fetch(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """Return the jobs that exist, by id, with an eventually consistent read."""


class JobActivity(Protocol):
    """What the live executions of jobs do. Reads only keys, with a number of requests that does not depend on jobs."""

    def running(self, job_ids: Sequence[str]) -> Mapping[str, int]:
        """Count the executions of up to 100 jobs that run or hold the gate of their job; 0 for a job left out."""

    def worst_deadlines(self) -> Mapping[str, DeadlineState]:
        """The worst deadline state among the live executions of each job; without a deadline, a job is left out."""


class Tasks(Protocol):
    """The catalog of tasks. The checks raise ``Invalid``."""

    def check_name(self, task: str) -> None:
        """Check that the task exists."""

    def check(self, task: str, parameters: Mapping[str, Any]) -> None:
        """Check that the task exists and that the parameters match its schema."""

    def collects(self, task: str) -> bool:
        """Whether the task has a final step that receives the results of all its partitions."""

    def calendars(self) -> Calendars:
        """Return the calendars that a schedule can name."""
