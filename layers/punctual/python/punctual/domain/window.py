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

from punctual.domain.bounded import Bounded
from punctual.domain.cron import Cron, Fold
from punctual.domain.errors import Invalid
from punctual.domain.schedule import Every, Queue, Schedule, base_of

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
class Window:
    """From ``start``, inclusive, to ``end``, exclusive."""

    start: datetime
    end: datetime

    def split(self, unit: WindowUnit, timezone: str) -> Iterator[Window]:
        """Its slices, cut where a unit begins in ``timezone``. They join; the first and the last may be partial.

        An hour that happens twice is two slices.
        """
        calendar, start = _Calendar(unit, ZoneInfo(timezone), twice=True), self.start
        while start < self.end:
            end = min(calendar.next_begin(start), self.end)
            yield Window(start, end)
            start = end


def window_of(schedule: Schedule, due: datetime, unit: WindowUnit | None = None) -> Window | None:
    """With a unit, the last whole one that ended at or before ``due``; without, from the due instant before to ``due``.

    None for a schedule that does not recur. The windows of successive due instants join without gap or overlap; with
    a unit, those of a schedule that is due once in each. A run that the clocks moved answers for what it would have
    answered for at the time it was meant for. So does one that moved because its date is skipped, and where several
    have become one run, it answers from the first one's unit to the last one's; with hours, for the last one's alone.
    Without a unit the first window of an interval starts at its anchor, that of a schedule with a beginning reaches
    back as if it had none, and a cron that had no due instant within its horizon has no window.
    """
    if unit is not None and schedule.recurring:
        return _whole(schedule, due, unit)
    start = _start(schedule, due)
    return None if start is None or start >= due else Window(start, due)


def check_window(schedule: Schedule, unit: WindowUnit | None) -> None:
    """Raises ``Invalid`` for a unit on a job that does not recur: nothing says which one it would answer for."""
    if unit is None or schedule.recurring:
        return
    job = "a queue job" if isinstance(schedule, Queue) else "a one-time job"
    remedy = "leave window out and name the time in parameters, or schedule it by cron or every_seconds"
    raise Invalid("window", f"{job} has no data window: {remedy}")


def zone_of(schedule: Schedule) -> str:
    """The time zone on whose calendar a schedule's windows lie: that of a cron, else UTC."""
    return getattr(schedule, "timezone", "UTC")


def _start(schedule: Schedule, due: datetime) -> datetime | None:
    match schedule:
        case Cron():
            return schedule.previous_before(due)
        case Every():
            return schedule.previous_before(due) or schedule.anchor
        case Bounded():
            return schedule.previous_before(due) or _start(schedule.base, due)
        case _:
            return None


def _whole(schedule: Schedule, due: datetime, unit: WindowUnit) -> Window:
    base = base_of(schedule)
    both = isinstance(base, Cron) and base.fold is Fold.BOTH
    calendar = _Calendar(unit, ZoneInfo(zone_of(schedule)), twice=both)
    meant = _meant(base, due)
    if meant is None:
        first_end = end = calendar.last_begin(due)
    else:
        first_end, end = (max(at for at in calendar.begins(wall) if at <= due) for wall in meant)
    first = end if unit is WindowUnit.HOUR else first_end
    return Window(calendar.last_begin(first - datetime.resolution), end)


def _meant(schedule: Schedule, due: datetime) -> tuple[datetime, datetime] | None:
    """The first and the last wall time that a run at ``due`` stands for; None for one that is not the schedule's own.

    They differ where dates are skipped, and what was due on them runs together with others.
    """
    if not isinstance(schedule, Cron | Every):
        return None
    runs = (found for found in schedule.occurrences(due - datetime.resolution) if found.at is not None)
    run = next(runs, None)
    if run is None or run.at != due:
        return None
    return schedule.skip.meant(run.local, schedule.matches_after) if schedule.skip else (run.local, run.local)


@dataclass(frozen=True)
class _Calendar:
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
