"""The clock changes of a time zone: the instants at which its offset from UTC changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.schedules.timezone import zone_named

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


@dataclass(frozen=True)
class ClockChange:
    timezone: str
    at: datetime
    shift: timedelta
    """Positive if the clocks are set forward."""


def clock_changes(timezone: str, since: datetime, until: datetime) -> Iterator[ClockChange]:
    """The changes from ``since`` to ``until``, oldest first. Two changes within a day that cancel out are not found."""
    zone = zone_named(timezone)

    def offset(instant: datetime) -> timedelta:
        return instant.astimezone(zone).utcoffset() or timedelta()

    begin = since
    while begin < until:
        end = min(begin + DAY, until)
        if (shift := offset(end) - offset(begin)) != timedelta():
            before, after = begin, end
            while after - before > SECOND:
                middle = before + (after - before) / 2
                before, after = (middle, after) if offset(middle) == offset(begin) else (before, middle)
            yield ClockChange(timezone, after.replace(microsecond=0), shift)
        begin = end
