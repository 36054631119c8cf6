"""The definitions of jobs, and whoever reads, makes and ends them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from punctual.domain.jobs.job import Job, JobState
from punctual.domain.requests.caller import Caller
from punctual.domain.schedules.calendar import Calendars
from punctual.domain.schedules.schedule import Schedule


class Jobs(Protocol):
    """The definitions."""

    def add(self, jobs: Iterable[Job]) -> None:
        """Store new jobs."""

    def add_unique(self, jobs: Sequence[Job]) -> dict[str, Job]:
        """Store new jobs that have a ``dedupe_key`` each, all or none: none when live jobs have some of the keys.

        Those that do, by key. Up to 50 at once.
        """

    def holding(self, jobs: Sequence[Job]) -> dict[str, Job]:
        """The live jobs that have the keys of these new ones, by key."""

    def get(self, job_id: str) -> Job | None: ...

    def get_many(self, job_ids: Iterable[str]) -> dict[str, Job]:
        """The newest state of each that exists."""

    def move(self, job: Job, state: JobState, now: datetime) -> bool:
        """Pause, resume, cancel or delete it; ``False`` when it is not as it was ``job`` any more."""

    def replace(self, job: Job) -> bool:
        """Store the next revision of a job; ``False`` when it is not the next one any more."""

    def note_run(self, job_id: str, execution_id: str, run_times: Mapping[str, Iterable[int]]) -> None:
        """Remember how long the parts of an execution took, by kind. Coming again changes nothing."""

    def note_old(self, job_id: str, since: datetime) -> None:
        """Remember how far back the due instants lie of which executions may live."""

    def note_dependant(self, job_id: str) -> bool:
        """Remember that others depend on a job; ``False`` when it was deleted or cancelled."""

    def finish(self, job: Job, now: datetime) -> bool:
        """Mark an active job as done; ``False`` when it is not active any more, or has other rules."""

    def note_owner(self, owner: str) -> None:
        """Remember that this owner has jobs, so that lists over all owners find them."""


class JobShelf(Protocol):
    """The jobs, as one looks through them."""

    def owners(self) -> list[str]: ...

    def newest_first(self, owner: str, before: str | None) -> Iterator[list[Job]]:
        """An owner's jobs created before job ``before``, in pages."""


class Tasks(Protocol):
    """The catalog of tasks. What checks raises ``Invalid``."""

    def check_name(self, task: str) -> None:
        """That there is such a task."""

    def check(self, task: str, parameters: Mapping[str, Any]) -> None:
        """That there is such a task, and that the parameters fit its schema."""

    def collects(self, task: str) -> bool:
        """Whether the task has a last step that sees the results of all its partitions."""

    def calendars(self) -> Calendars:
        """The dates of the calendars that schedules can name."""


class Drafts(Protocol):
    """Whoever turns what was sent into a job. Raises ``Invalid``."""

    def draft(
        self,
        submission: Mapping[str, Any],
        caller: Caller,
        now: datetime,
        *,
        kept: Schedule | None = None,
        changed: Container[str] | None = None,
    ) -> Job:
        """Of an edit, ``kept`` is the schedule if it stays as it is, and ``changed`` has the fields that do not."""


class Finish(Protocol):
    """Whoever knows when a job is done."""

    def if_over(self, job_id: str) -> None:
        """Mark a job as done if it is. If not, the end of one that still lives has it looked at again."""
