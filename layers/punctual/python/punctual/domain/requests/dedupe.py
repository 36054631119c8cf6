"""Unique jobs: at most one live job per owner has a given ``name`` or ``dedupe_key``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Conflict, Invalid
from punctual.domain.jobs.job import Job, UniqueField, UniqueKey


class OnDuplicate(StrEnum):
    """What to do with a submission whose ``dedupe_key`` a live job already has."""

    REFUSE = "refuse"
    """Refuse it, with an error that names the existing job. The default."""
    RETURN_EXISTING = "return_existing"
    """Return the existing job unchanged."""


REMEDIES = {
    UniqueField.NAME: "use another name, or edit that job",
    UniqueField.DEDUPE_KEY: 'use another key, or send "on_duplicate": "return_existing"',
}


def policy_of(submission: Mapping[str, Any]) -> OnDuplicate:
    """Return the submission's policy. Raises ``Invalid`` for a policy without a key."""
    if "on_duplicate" in submission and "dedupe_key" not in submission:
        raise Invalid("on_duplicate", "requires dedupe_key: add dedupe_key, or remove on_duplicate")
    return OnDuplicate(submission.get("on_duplicate", OnDuplicate.REFUSE))


def check_distinct(jobs: Iterable[Job]) -> None:
    """Raise ``Invalid``, naming both jobs, if two jobs of a batch have the same name or key."""
    first_indexes: dict[UniqueKey, int] = {}
    for index, job in enumerate(jobs):
        for key in job.unique_keys:
            first = first_indexes.setdefault(key, index)
            if first != index:
                message = f"is the same as jobs.{first}.{key.field}, {key.value!r}: remove one job, or change its"
                raise Invalid(f"jobs.{index}.{key.field}", f"{message} {_NOUNS[key.field]}")


def duplicate_of(existing: Job, key: UniqueKey, field: str) -> Conflict:
    """Build the error for a submission whose unique key ``existing`` has."""
    message = f"job {existing.job_id!r} has this {_NOUNS[key.field]} and is {existing.state}: {REMEDIES[key.field]}"
    return Conflict(message, field=field)


_NOUNS = {UniqueField.NAME: "name", UniqueField.DEDUPE_KEY: "key"}
