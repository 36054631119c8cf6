"""Instants: aware UTC datetimes with millisecond precision, and the text form in which they are stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from punctual.domain.errors import Invalid

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEARS = range(1971, 2200)
MILLISECOND = timedelta(milliseconds=1)
"""The resolution of stored instants."""


def to_text(instant: datetime) -> str:
    """Format as ``2026-11-15T07:00:00.000Z``. The text order is the chronological order.

    Raises ``ValueError`` for a naive datetime.
    """
    return _aware(instant).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """Parse ISO 8601 text, truncated to milliseconds. Raises ``ValueError`` for a time without an offset."""
    return in_milliseconds(_aware(datetime.fromisoformat(text)).astimezone(UTC))


def parse(field: str, text: object) -> datetime:
    """Parse an instant from user input. Raises ``Invalid`` for ``field`` if it is malformed or out of range."""
    try:
        instant = from_text(str(text))
    except (ValueError, OverflowError):
        remedy = "write it like 2026-11-15T07:00:00Z, with an offset or a Z"
        raise Invalid(field, f"{str(text)[:64]!r} is not an instant: {remedy}") from None
    if instant.year not in YEARS:
        raise Invalid(field, f"{text} is out of range: use a year from {YEARS.start} to {YEARS.stop - 1}")
    return instant


def in_milliseconds(instant: datetime) -> datetime:
    """Truncate to milliseconds, the precision of the stored form."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def to_epoch_ms(instant: datetime) -> int:
    return (_aware(instant) - EPOCH) // MILLISECOND


def from_epoch_ms(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def now() -> datetime:
    """Read the system clock. Only entry points call this; all other code takes the time as an argument."""
    return in_milliseconds(datetime.now(UTC))


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no time zone: write it with an offset or a Z")
    return instant
