"""Ids of jobs and executions.

A job id is a ULID, so job ids sort by creation time. An execution id is derived from the due instant and the job id.
Therefore planning the same instant twice gives the same id, the job id can be read from the execution id without an
index, and execution ids sort by due instant, both within a job and across jobs::

    20261115T070000000Z-01kxq0v9m3c8e7w2r5t4y6h1nb           the execution of a job at a due instant
    20261115T070000000Z-01kxq0v9m3c8e7w2r5t4y6h1nb-<source>  one of several at that instant, e.g. for a queue message
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime

from punctual.domain.errors import NotFound
from punctual.domain.instant import from_epoch_ms, to_epoch_ms

MAX_AWS_NAME_LENGTH = 64
BEYOND_ALL_IDS = "~"
"""Sorts after every job id and execution id: an exclusive upper bound for range queries."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_JOB_ID = re.compile(rf"[{_ALPHABET}]{{26}}")
EXECUTION_ID = re.compile(rf"(?P<due>\d{{8}}T\d{{9}}Z)-(?P<job>[{_ALPHABET}]{{26}})(-[A-Za-z0-9_-]{{1,80}})?")


def new_job_id(now: datetime, seed: str | None = None) -> str:
    """Generate a ULID in lower case: 48 bits of epoch milliseconds, then 80 bits, random or derived from a seed."""
    bits = secrets.randbits(80) if seed is None else int(hashlib.sha256(seed.encode()).hexdigest()[:20], 16)
    number = (to_epoch_ms(now) << 80) | bits
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def new_operation_id(now: datetime, seed: str | None = None) -> str:
    """Generate the id of an operation: a ULID, like that of a job."""
    return new_job_id(now, seed)


def created_at(job_id: str) -> datetime:
    """The creation time that a job id contains."""
    number = 0
    for letter in job_id[:10]:
        number = number * 32 + _ALPHABET.index(letter)
    return from_epoch_ms(number)


def is_job_id(text: str) -> bool:
    """Whether ``text`` has the form of a job id."""
    return _JOB_ID.fullmatch(text) is not None


def execution_id(job_id: str, due: datetime, source: str | None = None) -> str:
    """The id of the execution of ``job_id`` due at ``due``; ``source`` distinguishes several at the same instant."""
    return f"{due_key(due)}-{job_id}" + (f"-{source}" if source else "")


def short_name(an_execution_id: str) -> str:
    """A name of at most 64 characters for AWS resources that belong to one execution.

    A longer id is truncated and gets a hash as its suffix, so that names stay unique.
    """
    if len(an_execution_id) <= MAX_AWS_NAME_LENGTH:
        return an_execution_id
    digest = hashlib.sha256(an_execution_id.encode()).hexdigest()
    return f"{an_execution_id[: MAX_AWS_NAME_LENGTH - 17]}-{digest[:16]}"


def due_key(due: datetime) -> str:
    """The prefix of an execution id: ids of executions due at or after ``due`` sort at or after it."""
    return due.astimezone(UTC).strftime("%Y%m%dT%H%M%S") + f"{due.microsecond // 1000:03d}Z"


def due_of(an_execution_id: str) -> datetime:
    """The due instant in an execution id."""
    return datetime.fromisoformat(f"{an_execution_id[:15]}.{an_execution_id[15:18]}+00:00")


def job_of(an_execution_id: str) -> str:
    """The job id in an execution id. Raises ``NotFound`` if the text does not have the form of an execution id."""
    match = EXECUTION_ID.fullmatch(an_execution_id)
    if match is None:
        raise NotFound("execution", an_execution_id, field="execution_id")
    return match["job"]


def check_job_id(text: str) -> str:
    """Return ``text`` if it has the form of a job id; raise ``NotFound`` otherwise."""
    if not is_job_id(text):
        raise NotFound("job", text, field="job_id")
    return text


def digest(text: str) -> str:
    """Return 32 hexadecimal digits that identify ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
