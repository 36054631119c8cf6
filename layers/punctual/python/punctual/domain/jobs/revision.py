"""Revisions: who changed which fields of a job, and when."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from punctual.domain.jobs.definition import to_submission
from punctual.domain.jobs.destination import MASK
from punctual.domain.jobs.job import Job


@dataclass(frozen=True)
class FieldChange:
    """A field of a job that a revision changed. The values have no secrets, and ``None`` is the default."""

    field: str
    old: Any
    new: Any

    @property
    def is_restorable(self) -> bool:
        """Whether an edit can set the field to ``old``: not the owner, and not a secret, which is masked."""
        has_secret = self.field == "notify" and MASK in json.dumps(self.old, ensure_ascii=False)
        return self.field != "owner" and not has_secret


@dataclass(frozen=True)
class Revision:
    job_id: str
    number: int
    by: str
    """The subject of the caller."""
    at: datetime
    changes: tuple[FieldChange, ...] = ()
    """Empty for the first revision, which is the submission."""


def first_revision(job: Job) -> Revision:
    """Return the submission of a job, which needs no record of its own."""
    return Revision(job.job_id, 1, job.created_by, job.created_at)


def revision_of(job: Job, former: Job, by: str) -> Revision:
    """Return what the edit or the transfer of ``former`` to ``job`` changed."""
    return Revision(job.job_id, job.revision, by, job.updated_at, _changes(former, job))


def _changes(former: Job, job: Job) -> tuple[FieldChange, ...]:
    old, new = _fields(former), _fields(job)
    shown_old, shown_new = _without_secrets(former), _without_secrets(job)
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return tuple(FieldChange(name, shown_old.get(name), shown_new.get(name)) for name in changed)


def _fields(job: Job) -> dict[str, Any]:
    return {"owner": job.owner, **to_submission(job)}


def _without_secrets(job: Job) -> dict[str, Any]:
    return {**_fields(job), "notify": job.notify.to_spec() if job.notify else None}
