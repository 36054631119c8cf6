"""Property tests for windows at clock changes and skipped dates, against a reference that checks every minute."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.schedules.calendar import OnSkip
from punctual.domain.schedules.cron import Cron, Fold
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.schedule import parse_schedule
from tests.unit.domain.schedules.skipped_dates import START, bases, dues, skipping, skips_around
from tests.unit.domain.schedules.unit_starts import DAY, MINUTE, MOMENTS, NEVER_NEAR, moments, offsets, starts, units


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


@settings(max_examples=60, deadline=None)
@given(bases, skipping, st.integers(0, 1000))
def test_windows_without_a_unit_are_contiguous_across_skipped_dates(base, skip, after):
    schedule = parse_schedule({**base, **skip}, now=START)
    first = START + timedelta(hours=after)
    windows = [window_of(schedule, due) for due in dues(schedule, first, first + 5 * DAY)]
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


@settings(max_examples=60, deadline=None)
@given(skips_around(START.date() + 10 * DAY), st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu"]))
def test_day_windows_of_moved_daily_runs_are_contiguous(skip, zone):
    daily = replace(Cron.parse("0 2 * * *", zone), skip=replace(skip, on_skip=OnSkip.NEXT_BUSINESS_DAY))
    windows = [window_of(daily, due, WindowUnit.DAY) for due in dues(daily, START, START + 25 * DAY)]
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))
