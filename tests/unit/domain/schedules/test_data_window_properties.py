"""Property tests for slices of a window at clock changes, against a reference that checks every minute."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.schedules.cron import Cron, Fold
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from tests.unit.domain.schedules.unit_starts import DAY, MINUTE, MOMENTS, NEVER_NEAR, moments, offsets, starts, units


@pytest.mark.parametrize("unit", [WindowUnit.HOUR, WindowUnit.DAY])
@pytest.mark.parametrize(("zone", "change"), MOMENTS)
def test_a_window_is_split_at_the_starts_of_the_minute_by_minute_reference(zone, change, unit):
    window = DataWindow(change - 2 * DAY - 17 * MINUTE, change + 2 * DAY)
    slices = list(window.split(unit, zone))
    cuts = [found for found in starts(unit, zone, window.start, window.end) if found > window.start]
    assert [piece.start for piece in slices] == [window.start, *cuts]
    assert [piece.end for piece in slices] == [*cuts, window.end]


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
