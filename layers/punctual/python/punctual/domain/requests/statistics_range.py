"""The period of a request for statistics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from punctual.domain.errors import Invalid
from punctual.domain.instant import parse

QUARTERS_SHOWN = timedelta(days=35)
"""How long ago the period of a summary may begin."""
MAX_STATISTICS_DAYS = 53 * 7
"""The longest period of a job's statistics."""
DEFAULT_DAYS = 30


class Bucket(StrEnum):
    """The length of the periods that a summary consists of, in UTC."""

    QUARTER_HOUR = "quarter_hour"
    HOUR = "hour"
    DAY = "day"

    @property
    def length(self) -> timedelta:
        return {"quarter_hour": timedelta(minutes=15), "hour": timedelta(hours=1), "day": timedelta(days=1)}[self]

    @property
    def longest(self) -> timedelta:
        """The longest range of a summary with such buckets."""
        return {"quarter_hour": timedelta(days=2), "hour": timedelta(days=8), "day": QUARTERS_SHOWN}[self]

    @property
    def usual(self) -> timedelta:
        """The range of a summary without ``from``."""
        return {"quarter_hour": timedelta(hours=6), "hour": timedelta(days=1), "day": timedelta(days=7)}[self]

    def start_of(self, instant: datetime) -> datetime:
        """The beginning of the bucket that contains ``instant``."""
        midnight = instant.replace(hour=0, minute=0, second=0, microsecond=0)
        return instant - (instant - midnight) % self.length


@dataclass(frozen=True)
class SummaryRange:
    """The buckets of a summary, from that of ``from`` to the one in which ``to`` lies."""

    since: datetime
    until: datetime
    bucket: Bucket

    @property
    def starts(self) -> list[datetime]:
        """The beginning of each bucket, oldest first."""
        count = (self.until - self.since) // self.bucket.length
        return [self.since + number * self.bucket.length for number in range(count)]


def parse_summary_range(since: str | None, until: str | None, bucket: Bucket, now: datetime) -> SummaryRange:
    """Raises ``Invalid`` for a range that is inverted, too long, or begins before the counters that are kept."""
    end = parse("to", until) if until is not None else now
    start = parse("from", since) if since is not None else end - bucket.usual
    if start > end:
        raise Invalid("to", "must not be before from: swap the two, or correct one of them")
    if end - start > bucket.longest:
        others = [one for one in Bucket if one.longest >= end - start]
        remedy = f"use bucket={others[0]}, or a shorter range" if others else "use a shorter range"
        raise Invalid("from", f"must be at most {bucket.longest.days} days before to with bucket={bucket}: {remedy}")
    if start < now - QUARTERS_SHOWN - timedelta(hours=1):
        raise Invalid("from", f"must be within the last {QUARTERS_SHOWN.days} days, for which counters are kept")
    last = bucket.start_of(end)
    return SummaryRange(bucket.start_of(start), last if last == end > start else last + bucket.length, bucket)


def parse_days(since: str | None, until: str | None, now: datetime) -> tuple[date, date]:
    """The first and the last day, both included. Raises ``Invalid`` for a range that is inverted or too long."""
    last = _day("to", until) if until is not None else now.date()
    first = _day("from", since) if since is not None else last - timedelta(days=DEFAULT_DAYS - 1)
    if first > last:
        raise Invalid("to", "must not be before from: swap the two, or correct one of them")
    if (last - first).days >= MAX_STATISTICS_DAYS:
        raise Invalid("from", f"must be at most {MAX_STATISTICS_DAYS} days (53 weeks) before to: use a shorter range")
    return first, last


def _day(field: str, text: str) -> date:
    """A date such as ``2026-11-18``, or the date in UTC of an instant."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return parse(field, text).astimezone(UTC).date()
