"""The data window of the execution at a due instant."""

from __future__ import annotations

from datetime import UTC, datetime, time
from functools import lru_cache
from itertools import pairwise, starmap

from punctual.domain.errors import Invalid
from punctual.domain.schedules.bounds import Bounded
from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron import Cron, Fold
from punctual.domain.schedules.data_window import DataWindow, UnitCalendar, WindowUnit
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import PerMessage, Schedule, base_of, preview
from punctual.domain.schedules.timezone import zone_named

_SAMPLE_START = datetime(2026, 1, 1, tzinfo=UTC)
_SAMPLE_SIZE = 100
"""The number of due instants, from ``_SAMPLE_START`` on, among which ``longest_window`` searches."""


def window_of(schedule: Schedule, due: datetime, unit: WindowUnit | None = None) -> DataWindow | None:
    """The data window of the execution due at ``due``; None for a schedule that does not recur.

    Without a unit, the window lasts from the previous due instant to ``due``. The first window of an interval starts at
    its anchor. The first window of a schedule with ``starts_at`` extends back as if there were no start. A cron without
    an earlier due instant within its horizon has no window.

    With a unit, the window is the last complete unit that ended at or before ``due``. A run shifted by a clock change,
    or moved because its date is skipped, has the window of its original time. Where several moved runs became one, the
    window extends from the unit of the first to the unit of the last; for hours it is only the unit of the last.

    The windows of successive due instants are contiguous and do not overlap; with a unit, if the schedule is due once
    in each unit.
    """
    if unit is not None and schedule.recurring:
        return _calendar_window(schedule, due, unit)
    start = _start(schedule, due)
    return None if start is None or start >= due else DataWindow(start, due)


def check_window(schedule: Schedule, unit: WindowUnit | None) -> None:
    """Raise ``Invalid`` for a unit on a job that does not recur: such a job has no data window."""
    if unit is None or schedule.recurring:
        return
    job = "a queue job" if isinstance(schedule, PerMessage) else "a one-time job"
    remedy = "omit window and pass the time in parameters, or schedule the job by cron or every_seconds"
    raise Invalid("window", f"{job} has no data window: {remedy}")


def zone_of(schedule: Schedule) -> str:
    """The time zone of a schedule: that of a cron, otherwise UTC."""
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


def _calendar_window(schedule: Schedule, due: datetime, unit: WindowUnit) -> DataWindow:
    base = base_of(schedule)
    runs_twice = isinstance(base, Cron) and base.fold is Fold.BOTH
    calendar = UnitCalendar(unit, zone_named(zone_of(schedule)), twice=runs_twice)
    intended = _intended_times(base, due)
    if intended is None:
        first_end = end = calendar.last_start(due)
    else:
        first_end, end = (max(at for at in calendar.starts_of(wall) if at <= due) for wall in intended)
    first = end if unit is WindowUnit.HOUR else first_end
    return DataWindow(calendar.last_start(first - datetime.resolution), end)


def _intended_times(schedule: Schedule, due: datetime) -> tuple[datetime, datetime] | None:
    """The first and the last wall time that run at ``due``; None if ``due`` is not an instant of the schedule.

    They differ if runs of skipped dates moved to ``due`` and became one run.
    """
    if not isinstance(schedule, Cron | Every):
        return None
    runs = (found for found in schedule.occurrences(due - datetime.resolution) if found.at is not None)
    run = next(runs, None)
    if run is None or run.at != due:
        return None
    return schedule.skip.intended_times(run.local, schedule) if schedule.skip else (run.local, run.local)


@lru_cache(maxsize=256)
def longest_window(schedule: Schedule, unit: WindowUnit | None) -> DataWindow | None:
    """The longest data window among a sample of due instants of a recurring schedule.

    Cached, because the jobs of a batch often share a schedule.
    """
    skip = getattr(base_of(schedule), "skip", None)
    if unit is not None and skip is None:
        return window_of(schedule, _SAMPLE_START, unit)
    dues = [found.at for found in preview(schedule, _SAMPLE_START, _SAMPLE_SIZE) if found.at is not None]
    windows = [window_of(schedule, due, unit) for due in (dues[:1] if unit is None else dues)]
    if unit is None:
        windows += starmap(DataWindow, pairwise(dues))
    if skip is not None and (due := _reopening(schedule, skip)) is not None:
        windows.append(window_of(schedule, due, unit))
    return max(filter(None, windows), key=lambda window: window.end - window.start, default=None)


def _reopening(schedule: Schedule, skip: Skip) -> datetime | None:
    """The first due instant after the longest sequence of skipped dates: its window is likely to be the longest."""
    closure = skip.longest_closure()
    if closure is None:
        return None
    midnight = datetime.combine(closure[1], time(), zone_named(zone_of(schedule)))
    return schedule.next_after(midnight - datetime.resolution)
