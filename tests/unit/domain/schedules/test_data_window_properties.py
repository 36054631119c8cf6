"""Property tests for calendar windows at clock changes, against a reference that checks every minute."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.schedules.cron import Cron, Fold
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
NEVER_NEAR = "33 11 29 2 *"  # only provides its time zone: the tested instants are not due instants of it

# An instant close to a clock change in each zone.
CHANGES = {
    "America/New_York": ["2026-03-08T07:00Z", "2026-11-01T06:00Z"],
    "Europe/Berlin": ["2026-03-29T01:00Z", "2026-10-25T01:00Z"],
    "Australia/Lord_Howe": ["2026-04-04T15:00Z", "2026-10-03T15:30Z"],  # by half an hour
    "Antarctica/Troll": ["2026-03-29T01:00Z", "2026-10-25T01:00Z"],  # by two hours
    "Africa/Cairo": ["2026-04-23T22:00Z", "2026-10-29T21:00Z"],  # midnight is missing; 23:00 occurs twice
    "Asia/Beirut": ["2026-03-28T22:00Z", "2026-10-24T21:00Z"],
    "America/Havana": ["2026-03-08T05:00Z", "2026-11-01T05:00Z"],  # midnight is missing; midnight occurs twice
    "America/Nuuk": ["2026-03-29T01:00Z", "2026-10-25T01:00Z"],  # 23:00 is missing
    "America/St_Johns": ["2010-03-14T03:31Z", "2010-11-07T02:31Z"],  # at one minute past midnight
    "America/Toronto": ["1919-03-31T04:30Z"],  # from half an hour before midnight to half an hour after
    "Pacific/Apia": ["2011-12-30T10:00Z"],  # a whole day is missing
    "Pacific/Kwajalein": ["1993-08-21T12:00Z", "1969-09-30T13:00Z"],  # a day is missing; one occurs almost twice
    "Asia/Kathmandu": ["2026-02-28T18:15Z"],
}
MOMENTS = [(zone, datetime.fromisoformat(text)) for zone, texts in CHANGES.items() for text in texts]
moments = st.sampled_from(MOMENTS)
offsets = st.one_of(st.integers(-100, 100), st.integers(-40 * 24 * 60, 40 * 24 * 60)).map(
    lambda minutes: timedelta(minutes=minutes, seconds=minutes % 2)
)
units = st.sampled_from(list(WindowUnit))


def starts(unit: WindowUnit, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """The instants in [start, end) at which an hour or a day starts, found by checking each minute.

    An hour starts when the clocks show a full hour or skip it; a day starts when its date is first shown.
    """
    walls = [
        (start + number * MINUTE).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        for number in range(-1, (end - start) // MINUTE)
    ]
    found, latest = [], walls[0].date()
    for number, (before, wall) in enumerate(pairwise(walls)):
        jumped = (wall.date(), wall.hour) > (before.date(), before.hour)
        if (wall.minute == 0 or jumped) if unit is WindowUnit.HOUR else wall.date() > latest:
            found.append(start + number * MINUTE)
        latest = max(latest, wall.date())
    return found


@pytest.mark.parametrize("unit", [WindowUnit.HOUR, WindowUnit.DAY])
@pytest.mark.parametrize(("zone", "change"), MOMENTS)
def test_a_window_is_split_at_the_starts_of_the_minute_by_minute_reference(zone, change, unit):
    window = DataWindow(change - 2 * DAY - 17 * MINUTE, change + 2 * DAY)
    slices = list(window.split(unit, zone))
    cuts = [found for found in starts(unit, zone, window.start, window.end) if found > window.start]
    assert [piece.start for piece in slices] == [window.start, *cuts]
    assert [piece.end for piece in slices] == [*cuts, window.end]


@pytest.mark.parametrize("unit", [WindowUnit.HOUR, WindowUnit.DAY])
@pytest.mark.parametrize(("zone", "change"), MOMENTS)
def test_a_window_is_the_last_complete_unit_of_the_minute_by_minute_reference(zone, change, unit):
    cron = Cron(NEVER_NEAR, zone, fold=Fold.BOTH)
    cuts = starts(unit, zone, change - 4 * DAY, change + 2 * DAY)
    for number in range(-36, 72):
        due = change + number * 37 * MINUTE
        *_, start, end = (cut for cut in cuts if cut <= due)
        assert window_of(cron, due, unit) == DataWindow(start, end)


@settings(max_examples=200, deadline=None)
@given(moments, units, offsets)
def test_successive_windows_are_contiguous(moment, unit, offset):
    zone, change = moment
    cron, due = Cron(NEVER_NEAR, zone, fold=Fold.BOTH), change + offset
    window = window_of(cron, due, unit)
    assert window.start < window.end <= due
    assert window_of(cron, window.end, unit) == window
    assert window_of(cron, window.end - datetime.resolution, unit).end == window.start
    following = next(iter(DataWindow(window.end, window.end + 40 * DAY).split(unit, zone)))
    assert following.end > due
    assert window_of(cron, following.end, unit) == following


@settings(max_examples=100, deadline=None)
@given(moments, offsets, st.integers(0, 6), st.integers(0, 23), st.integers(0, 59), st.sampled_from(["first", "last"]))
def test_week_windows_of_weekly_runs_are_contiguous_whenever_they_run(moment, offset, weekday, hour, minute, fold):
    zone, change = moment
    cron = Cron.parse(f"{minute} {hour} * * {weekday}", zone, fold=fold)
    runs = [found.at for found in islice(cron.occurrences(change + offset - 14 * DAY), 6)]
    windows = [window_of(cron, due, WindowUnit.WEEK) for due in runs]
    assert all(window.end <= due for window, due in zip(windows, runs, strict=True))
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


@settings(max_examples=40, deadline=None)
@given(moments, offsets, units, st.sampled_from([WindowUnit.HOUR, WindowUnit.DAY]))
def test_complete_slices_of_a_window_are_calendar_windows(moment, offset, unit, smaller):
    zone, change = moment
    cron = Cron(NEVER_NEAR, zone, fold=Fold.BOTH)
    window = window_of(cron, change + offset, unit)
    if unit is WindowUnit.HOUR and smaller is WindowUnit.DAY:
        assert list(window.split(smaller, zone)) == [window]
        return
    slices = list(window.split(smaller, zone))
    assert (slices[0].start, slices[-1].end) == (window.start, window.end)
    assert all(earlier.end == later.start for earlier, later in pairwise(slices))
    assert all(window_of(cron, piece.end, smaller) == piece for piece in slices)
