"""A data window, and its slices."""

from __future__ import annotations

from itertools import pairwise

from punctual.domain.instant import from_text
from punctual.domain.schedules.data_window import DataWindow, WindowUnit


def test_a_window_is_split_at_unit_starts_with_partial_first_and_last_slices():
    window = DataWindow(from_text("2026-11-14T20:00Z"), from_text("2026-11-16T06:00Z"))
    midnights = [from_text("2026-11-15T05:00Z"), from_text("2026-11-16T05:00Z")]
    edges = [window.start, *midnights, window.end]
    assert list(window.split(WindowUnit.DAY, "America/New_York")) == [DataWindow(*bounds) for bounds in pairwise(edges)]
