"""The data window of an execution: the time interval whose data it processes.

Calendar windows (hours, days, weeks or months) follow the job's time zone. A day starts at the first instant at which
the clocks show its date: at midnight, at the first of two midnights, or, where a clock change skips midnight, at the
clock change. So a day may have 23, 24 or 25 hours, and days are contiguous across clock changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from punctual.domain.schedules.timezone import zone_named

_SECOND, _HOUR = timedelta(seconds=1), timedelta(hours=1)


class WindowUnit(StrEnum):
    """The calendar unit of a data window, in the schedule's time zone."""

    HOUR = "hour"
    """From one full hour to the next. An hour that occurs twice is one unit, unless the schedule runs both times."""
    DAY = "day"
    """From midnight to midnight."""
    WEEK = "week"
    """From Sunday 00:00 to the next Sunday 00:00."""
    MONTH = "month"
    """From the first of a month to the first of the next."""


@dataclass(frozen=True)
class DataWindow:
    """A time interval: ``start`` is inclusive, ``end`` is exclusive."""

    start: datetime
    end: datetime

    def split(self, unit: WindowUnit, timezone: str) -> Iterator[DataWindow]:
        """Split at the starts of units in ``timezone``. Slices are contiguous; the first and the last may be partial.

        An hour that occurs twice makes two slices.
        """
        calendar, start = UnitCalendar(unit, zone_named(timezone), twice=True), self.start
        while start < self.end:
            end = min(calendar.next_start(start), self.end)
            yield DataWindow(start, end)
            start = end


@dataclass(frozen=True)
class UnitCalendar:
    """The starts of the hours, days, weeks or months in a time zone."""

    unit: WindowUnit
    zone: tzinfo
    twice: bool
    """Whether an hour that occurs twice has two starts. All other units have one."""

    def last_start(self, instant: datetime) -> datetime:
        """The last start of a unit up to ``instant``, inclusive."""
        return max(start for start in self._starts_near(instant) if start <= instant)

    def next_start(self, instant: datetime) -> datetime:
        """The first start of a unit after ``instant``."""
        return min(start for start in self._starts_near(instant) if start > instant)

    def starts_of(self, wall: datetime) -> tuple[datetime, ...]:
        """The start of the unit that contains ``wall``, or both starts of an hour that occurs twice."""
        first, last = _first_and_last_instant(self._floor(wall), self.zone)
        return (first, last) if self.twice and self.unit is WindowUnit.HOUR else (first,)

    def _starts_near(self, instant: datetime) -> Iterator[datetime]:
        """Starts of units near ``instant``, including the last one before it and the first one after it.

        The clocks may be set back shortly before or after ``instant``, so the wall times one hour away count too.
        """
        for near in (instant - _HOUR, instant, instant + _HOUR):
            wall = _wall(near, self.zone)
            yield from self.starts_of(wall)
            yield from self.starts_of(self._floor(wall) + _MAX_LENGTH[self.unit])

    def _floor(self, wall: datetime) -> datetime:
        hour = wall.replace(minute=0, second=0, microsecond=0)
        match self.unit:
            case WindowUnit.HOUR:
                return hour
            case WindowUnit.DAY:
                return hour.replace(hour=0)
            case WindowUnit.WEEK:
                return hour.replace(hour=0) - timedelta(days=wall.isoweekday() % 7)
            case WindowUnit.MONTH:
                return hour.replace(hour=0, day=1)


_MAX_LENGTH = {
    WindowUnit.HOUR: _HOUR,
    WindowUnit.DAY: timedelta(days=1),
    WindowUnit.WEEK: timedelta(days=7),
    WindowUnit.MONTH: timedelta(days=31),
}


def _first_and_last_instant(local: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """The first and the last instant at which the clocks show ``local``; both are the clock change if it is skipped."""
    first, last = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= last:
        return first, last
    gap = range((first - last) // _SECOND)
    seconds = bisect_left(gap, True, key=lambda second: _wall(last + second * _SECOND, zone) >= local)
    clock_change = last + _SECOND * seconds
    return clock_change, clock_change


def _wall(instant: datetime, zone: tzinfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)
