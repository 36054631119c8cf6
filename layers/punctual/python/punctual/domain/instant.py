"""Instants: aware UTC datetimes with millisecond precision, and the one text form they are stored in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_text(instant: datetime) -> str:
    """``2026-11-15T07:00:00.000Z``. Sorts as text in the order of time."""
    return _aware(instant).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """The instant that ``text`` names. Raises ``ValueError`` for a time without an offset."""
    return in_milliseconds(_aware(datetime.fromisoformat(text)).astimezone(UTC))


def in_milliseconds(instant: datetime) -> datetime:
    """``instant`` without what the stored form cannot hold."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def to_epoch_ms(instant: datetime) -> int:
    return (_aware(instant) - EPOCH) // timedelta(milliseconds=1)


def from_epoch_ms(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def now() -> datetime:
    """The system clock. Only the edges call this; everything else gets the time as an argument."""
    return in_milliseconds(datetime.now(UTC))


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no time zone: write it with an offset or a Z")
    return instant
