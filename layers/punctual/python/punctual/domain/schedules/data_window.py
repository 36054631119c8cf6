"""The data window of an execution: the stretch of time that it answers for.

Where a job asks for whole hours, days, weeks or months, they are those of its time zone's calendar. A day begins at
the first instant at which the clocks show its date: at midnight, at the first of two midnights, or, where the clocks
jump over midnight, when they jump. So a day has 23, 24 or 25 hours, and days join whatever the clocks do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

_SECOND, _HOUR = timedelta(seconds=1), timedelta(hours=1)


class WindowUnit(StrEnum):
    """What a window is a whole one of, on the calendar of the schedule's time zone."""

    HOUR = "hour"
    """From one full hour to the next. One that happens twice is one, unless the schedule runs both times."""
    DAY = "day"
    """From midnight to midnight."""
    WEEK = "week"
    """From Sunday 00:00 to the next Sunday 00:00."""
    MONTH = "month"
    """From the first of a month to the first of the next."""


@dataclass(frozen=True)
class DataWindow:
    """From ``start``, inclusive, to ``end``, exclusive."""

    start: datetime
    end: datetime

    def split(self, unit: WindowUnit, timezone: str) -> Iterator[DataWindow]:
        """Its slices, cut where a unit begins in ``timezone``. They join; the first and the last may be partial.

        An hour that happens twice is two slices.
        """
        calendar, start = UnitCalendar(unit, ZoneInfo(timezone), twice=True), self.start
        while start < self.end:
            end = min(calendar.next_begin(start), self.end)
            yield DataWindow(start, end)
            start = end


@dataclass(frozen=True)
class UnitCalendar:
    """When the hours, days, weeks or months of a time zone begin."""

    unit: WindowUnit
    zone: ZoneInfo
    twice: bool
    """Whether an hour that happens twice begins twice. Nothing else ever does."""

    def last_begin(self, instant: datetime) -> datetime:
        """The last beginning up to ``instant``, inclusive."""
        return max(begin for begin in self._near(instant) if begin <= instant)

    def next_begin(self, instant: datetime) -> datetime:
        """The first beginning after ``instant``."""
        return min(begin for begin in self._near(instant) if begin > instant)

    def begins(self, wall: datetime) -> tuple[datetime, ...]:
        """When the unit that holds ``wall`` begins: the first instant at which the clocks show it, or jump over it."""
        first, last = _shown(self._floor(wall), self.zone)
        return (first, last) if self.twice and self.unit is WindowUnit.HOUR else (first,)

    def _near(self, instant: datetime) -> Iterator[datetime]:
        """Beginnings, the next before and the next after ``instant`` among them.

        The clocks may have been set back just before, or be so just after: what they show an hour off counts too.
        """
        for near in (instant - _HOUR, instant, instant + _HOUR):
            wall = _wall(near, self.zone)
            yield from self.begins(wall)
            yield from self.begins(self._floor(wall) + _LONGEST[self.unit])

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


_LONGEST = {
    WindowUnit.HOUR: _HOUR,
    WindowUnit.DAY: timedelta(days=1),
    WindowUnit.WEEK: timedelta(days=7),
    WindowUnit.MONTH: timedelta(days=31),
}


def _shown(local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The first and the last instant at which the clocks show ``local``; both are the jump when they jump over it."""
    first, last = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= last:
        return first, last
    gap = range((first - last) // _SECOND)
    jump = last + _SECOND * bisect_left(gap, True, key=lambda second: _wall(last + second * _SECOND, zone) >= local)
    return jump, jump


def _wall(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)
