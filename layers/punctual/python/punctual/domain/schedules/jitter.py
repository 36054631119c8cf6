"""Jitter: a deterministic delay that spreads executions due at the same instant."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from punctual.domain.instant import to_text


def delay(job_id: str, due: datetime, seconds: int) -> timedelta:
    """The delay of a start: whole milliseconds, less than ``seconds``, always the same for a job and due instant.

    Runs of a job keep their order if they are at least ``seconds`` apart.
    """
    if not seconds:
        return timedelta(0)
    digest = hashlib.sha256(f"{job_id} {to_text(due)}".encode()).digest()
    return timedelta(milliseconds=int.from_bytes(digest[:8]) % (seconds * 1000))
