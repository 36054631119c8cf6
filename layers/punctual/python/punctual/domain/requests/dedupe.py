"""Unique jobs: of those of one owner that live, one at most has a given ``dedupe_key``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Conflict, Invalid
from punctual.domain.jobs.job import Job


class OnDuplicate(StrEnum):
    """What becomes of a submission whose key a live job has already."""

    REFUSE = "refuse"
    """It is refused, with that job named. The default."""
    RETURN_EXISTING = "return_existing"
    """It is answered with that job, as it is."""


def policy_of(submission: Mapping[str, Any]) -> OnDuplicate:
    """Raises ``Invalid`` for a policy without a key."""
    if "on_duplicate" in submission and "dedupe_key" not in submission:
        raise Invalid("on_duplicate", "only goes with dedupe_key: give one, or leave it out")
    return OnDuplicate(submission.get("on_duplicate", OnDuplicate.REFUSE))


def check_distinct(jobs: Iterable[Job]) -> None:
    """Raises ``Invalid``, naming both, for two jobs of one batch that have the same key."""
    places: dict[str, int] = {}
    for number, job in enumerate(jobs):
        first = places.setdefault(job.dedupe_key, number) if job.dedupe_key is not None else number
        if first != number:
            message = f"is the same as jobs.{first}.dedupe_key, {job.dedupe_key!r}: send one of them, or change a key"
            raise Invalid(f"jobs.{number}.dedupe_key", message)


def duplicate_of(existing: Job, field: str) -> Conflict:
    """The refusal of a submission whose key ``existing`` has."""
    remedy = 'take another key, or send "on_duplicate": "return_existing"'
    return Conflict(f"job {existing.job_id!r} has this key and is {existing.state}: {remedy}", field=field)
