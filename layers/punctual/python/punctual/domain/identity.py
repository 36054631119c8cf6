"""Names of jobs and executions.

A job id is a ULID: it sorts by creation. An execution id is derived from the due instant and the job, so planning
the same instant twice gives the same id, the job is known from it without an index, and ids sort by due instant
within a job and across jobs alike::

    20261115T070000000Z-01kxq0v9m3c8e7w2r5t4y6h1nb           the due instant of a job
    20261115T070000000Z-01kxq0v9m3c8e7w2r5t4y6h1nb-<source>  one of several at that instant, e.g. a queue message
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import UTC, datetime

from punctual.domain.errors import NotFound
from punctual.domain.instant import from_epoch_ms, to_epoch_ms

LONGEST_NAME = 64
BEYOND_ALL_IDS = "~"

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_JOB_ID = re.compile(rf"[{_ALPHABET}]{{26}}")
_EXECUTION_ID = re.compile(rf"(?P<due>\d{{8}}T\d{{9}}Z)-(?P<job>[{_ALPHABET}]{{26}})(-[A-Za-z0-9_-]{{1,80}})?")


def new_job_id(now: datetime) -> str:
    """A fresh ULID in lower case: 48 bits of milliseconds, 80 random ones."""
    number = (to_epoch_ms(now) << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def created_at(job_id: str) -> datetime:
    """When a job got its id."""
    number = 0
    for letter in job_id[:10]:
        number = number * 32 + _ALPHABET.index(letter)
    return from_epoch_ms(number)


def is_job_id(text: str) -> bool:
    """Whether ``text`` can be a job id."""
    return _JOB_ID.fullmatch(text) is not None


def execution_id(job_id: str, due: datetime, source: str | None = None) -> str:
    """The id of the execution of ``job_id`` that is due at ``due``; ``source`` tells several at one instant apart."""
    return f"{due_key(due)}-{job_id}" + (f"-{source}" if source else "")


def short_name(an_execution_id: str) -> str:
    """A name for things of AWS's that belong to one execution, of at most 64 characters."""
    if len(an_execution_id) <= LONGEST_NAME:
        return an_execution_id
    digest = hashlib.sha256(an_execution_id.encode()).hexdigest()
    return f"{an_execution_id[: LONGEST_NAME - 17]}-{digest[:16]}"


def due_key(due: datetime) -> str:
    """The leading part of an execution id: executions due at or after ``due`` sort at or after it."""
    return due.astimezone(UTC).strftime("%Y%m%dT%H%M%S") + f"{due.microsecond // 1000:03d}Z"


def due_of(an_execution_id: str) -> datetime:
    """The due instant in an execution id."""
    return datetime.fromisoformat(f"{an_execution_id[:15]}.{an_execution_id[15:18]}+00:00")


def job_of(an_execution_id: str) -> str:
    """The job that an execution belongs to. Raises ``NotFound`` for what cannot be an execution id."""
    match = _EXECUTION_ID.fullmatch(an_execution_id)
    if match is None:
        raise NotFound("execution", an_execution_id, field="execution_id")
    return match["job"]


def check_job_id(text: str) -> str:
    """``text``, if it can be a job id. Raises ``NotFound`` otherwise."""
    if not is_job_id(text):
        raise NotFound("job", text, field="job_id")
    return text
