"""Whose turn it is among those who wait at a gate."""

from __future__ import annotations

from datetime import datetime, timedelta

from punctual.domain.identity import due_key
from punctual.domain.lane import Priority

HEAD_START = {
    Priority.HIGH: timedelta(minutes=10),
    Priority.NORMAL: timedelta(),
    Priority.LOW: -timedelta(minutes=10),
}
"""By how much a priority goes before another in line. Whoever has waited for longer than that goes first, whatever
their priority: nobody starves."""


def turn_of(execution_id: str, released_at: datetime, priority: Priority) -> str:
    """A place in line: the lowest is next."""
    return f"{due_key(released_at - HEAD_START[priority])}#{execution_id}"
