"""Whether the data windows of a schedule can be cut as a job asks."""

from __future__ import annotations

from datetime import UTC, datetime, time
from itertools import pairwise, starmap
from zoneinfo import ZoneInfo

from punctual.domain.calendar import Skip
from punctual.domain.due_window import window_of, zone_of
from punctual.domain.errors import Invalid
from punctual.domain.partition import Partitions, cut
from punctual.domain.schedule import Queue, Schedule, base_of, preview
from punctual.domain.window import Window, WindowUnit

_LOOKED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_LOOKED_THROUGH = 100
"""Due instants of a schedule, from ``_LOOKED_AT`` on, whose longest window has to fit."""


def check_partitions(partitions: Partitions, schedule: Schedule, unit: WindowUnit | None) -> None:
    """Raises ``Invalid`` for ``by`` on a job without windows, or with windows that make too many partitions."""
    if partitions.by is None:
        return
    if not schedule.recurring:
        job = "a queue job" if isinstance(schedule, Queue) else "a one-time job"
        raise Invalid("partitions.by", f"{job} has no data window to cut: give count or of instead")
    window = _longest_window(schedule, unit)
    if window is not None:
        cut(window, partitions.by, zone_of(schedule))


def _longest_window(schedule: Schedule, unit: WindowUnit | None) -> Window | None:
    skip = getattr(base_of(schedule), "skip", None)
    if unit is not None and skip is None:
        return window_of(schedule, _LOOKED_AT, unit)
    dues = [found.at for found in preview(schedule, _LOOKED_AT, _LOOKED_THROUGH) if found.at is not None]
    windows = [window_of(schedule, due, unit) for due in (dues[:1] if unit is None else dues)]
    if unit is None:
        windows += starmap(Window, pairwise(dues))
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
