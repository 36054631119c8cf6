"""Which data window the execution of a due instant answers for."""

from __future__ import annotations

from datetime import UTC, datetime, time
from itertools import pairwise, starmap
from zoneinfo import ZoneInfo

from punctual.domain.errors import Invalid
from punctual.domain.schedules.bounds import Bounded
from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron import Cron, Fold
from punctual.domain.schedules.data_window import DataWindow, UnitCalendar, WindowUnit
from punctual.domain.schedules.schedule import Every, Queue, Schedule, base_of, preview

_LOOKED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_LOOKED_THROUGH = 100
"""Due instants of a schedule, from ``_LOOKED_AT`` on, whose longest window has to fit."""


def window_of(schedule: Schedule, due: datetime, unit: WindowUnit | None = None) -> DataWindow | None:
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
    return None if start is None or start >= due else DataWindow(start, due)


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


def _whole(schedule: Schedule, due: datetime, unit: WindowUnit) -> DataWindow:
    base = base_of(schedule)
    both = isinstance(base, Cron) and base.fold is Fold.BOTH
    calendar = UnitCalendar(unit, ZoneInfo(zone_of(schedule)), twice=both)
    meant = _meant(base, due)
    if meant is None:
        first_end = end = calendar.last_begin(due)
    else:
        first_end, end = (max(at for at in calendar.begins(wall) if at <= due) for wall in meant)
    first = end if unit is WindowUnit.HOUR else first_end
    return DataWindow(calendar.last_begin(first - datetime.resolution), end)


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


def longest_window(schedule: Schedule, unit: WindowUnit | None) -> DataWindow | None:
    """The longest data window among the first due instants of a recurring schedule."""
    skip = getattr(base_of(schedule), "skip", None)
    if unit is not None and skip is None:
        return window_of(schedule, _LOOKED_AT, unit)
    dues = [found.at for found in preview(schedule, _LOOKED_AT, _LOOKED_THROUGH) if found.at is not None]
    windows = [window_of(schedule, due, unit) for due in (dues[:1] if unit is None else dues)]
    if unit is None:
        windows += starmap(DataWindow, pairwise(dues))
    if skip is not None and (due := _reopening(schedule, skip)) is not None:
        windows.append(window_of(schedule, due, unit))
    return max(filter(None, windows), key=lambda window: window.end - window.start, default=None)


def _reopening(schedule: Schedule, skip: Skip) -> datetime | None:
    """The first due instant after the longest run of skipped dates: its window is likely to be the longest."""
    closure = skip.longest_closure()
    if closure is None:
        return None
    midnight = datetime.combine(closure[1], time(), ZoneInfo(zone_of(schedule)))
    return schedule.next_after(midnight - datetime.resolution)
