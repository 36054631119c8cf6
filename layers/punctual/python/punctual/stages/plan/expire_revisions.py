"""Expire revisions: the revisions of an edited job expire with the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from punctual.domain.jobs.job import Job
    from punctual.ports.revisions import RevisionExpiry


@dataclass(frozen=True)
class RevisionExpirer:
    revisions: RevisionExpiry

    def job_ended(self, job: Job, expires_at: int) -> None:
        """Let the revisions of ``job`` expire at ``expires_at``, in seconds since 1970.

        Idempotent. A job that has never been edited has no revisions.
        """
        if job.revised_at is not None:
            self.revisions.expire(job.job_id, expires_at)
