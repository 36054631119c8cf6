"""Read the revisions of a job, newest first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from punctual.domain.jobs.job import Job
from punctual.domain.jobs.revision import Revision, first_revision
from punctual.domain.requests.page import Page, decode_cursor, page_of

if TYPE_CHECKING:
    from punctual.ports.revisions import Revisions
    from punctual.stages.api.find import Finder

NUMBER = re.compile(r"[1-9][0-9]{0,9}")
"""A position in the list: the number of a revision."""


@dataclass(frozen=True)
class RevisionReader:
    revisions: Revisions
    find: Finder

    def newest_first(self, job_id: str, limit: int, cursor: str | None) -> Page[Revision]:
        """Return a page of the revisions of a job. Reads the job and, by key, up to ``limit`` records."""
        position = decode_cursor(cursor, NUMBER)
        job = self.find.job(job_id)
        found = self._before(job, int(position) if position else None, limit)
        page = page_of(((str(one.number), one) for one in found), limit, _response_size)
        is_last = not page.items or page.items[-1].number == 1
        return Page(page.items, None if is_last else page.cursor)

    def _before(self, job: Job, before: int | None, limit: int) -> Iterator[Revision]:
        if before == 1:
            return
        for page in self.revisions.newest_first(job.job_id, before, limit):
            yield from page
        yield first_revision(job)


def _response_size(revision: Revision) -> int:
    return len(json.dumps([asdict(one) for one in revision.changes]))
