"""Port for the revisions of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from punctual.domain.jobs.job import Job
from punctual.domain.jobs.revision import Revision


class Revisions(Protocol):
    """The store of the revisions of jobs, from the second on: the first one is the submission."""

    def replace(self, job: Job, former: Job, revision: Revision) -> bool:
        """Store the next revision of a job, in place of ``former``, together with the record of it, or neither.

        ``False`` when another revision was stored first, or another live job has its new name.
        """

    def newest_first(self, job_id: str, before: int | None, page_size: int) -> Iterator[list[Revision]]:
        """Yield pages of the records of a job's revisions, with smaller numbers than ``before``."""


class RevisionExpiry(Protocol):
    """Lets the records of a job that has ended expire together with it."""

    def expire(self, job_id: str, expires_at: int) -> None:
        """Set when all records of a job expire, in seconds since 1970. Idempotent."""
