"""Unique jobs: at most one live job per owner has a given ``dedupe_key``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Conflict, Invalid
from punctual.domain.jobs.job import Job


class OnDuplicate(StrEnum):
    """What to do with a submission whose ``dedupe_key`` a live job already has."""

    REFUSE = "refuse"
    """Refuse it, with an error that names the existing job. The default."""
    RETURN_EXISTING = "return_existing"
    """Return the existing job unchanged."""


def policy_of(submission: Mapping[str, Any]) -> OnDuplicate:
    """Return the submission's policy. Raises ``Invalid`` for a policy without a key."""
    if "on_duplicate" in submission and "dedupe_key" not in submission:
        raise Invalid("on_duplicate", "requires dedupe_key: add dedupe_key, or remove on_duplicate")
    return OnDuplicate(submission.get("on_duplicate", OnDuplicate.REFUSE))


def check_distinct(jobs: Iterable[Job]) -> None:
    """Raise ``Invalid``, naming both jobs, if two jobs of a batch have the same key."""
    first_index_by_key: dict[str, int] = {}
    for index, job in enumerate(jobs):
        first = first_index_by_key.setdefault(job.dedupe_key, index) if job.dedupe_key is not None else index
        if first != index:
            message = f"is the same as jobs.{first}.dedupe_key, {job.dedupe_key!r}: remove one job, or change its key"
            raise Invalid(f"jobs.{index}.dedupe_key", message)


def duplicate_of(existing: Job, field: str) -> Conflict:
    """Build the error for a submission whose key ``existing`` has."""
    remedy = 'use another key, or send "on_duplicate": "return_existing"'
    return Conflict(f"job {existing.job_id!r} has this key and is {existing.state}: {remedy}", field=field)
