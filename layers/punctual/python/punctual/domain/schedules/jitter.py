"""Jitter: a delay that spreads what is due at the same instant, and is the same however often it is asked for."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from punctual.domain.instant import to_text


def delay(job_id: str, due: datetime, seconds: int) -> timedelta:
    """In whole milliseconds, less than ``seconds``: runs of a job keep their order if they are as far apart."""
    if not seconds:
        return timedelta(0)
    digest = hashlib.sha256(f"{job_id} {to_text(due)}".encode()).digest()
    return timedelta(milliseconds=int.from_bytes(digest[:8]) % (seconds * 1000))
