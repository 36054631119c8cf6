"""The data window of an execution."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest

from punctual.domain.cron import Cron
from punctual.domain.instant import from_text
from punctual.domain.schedule import At, Every, Now, Queue
from punctual.domain.window import Window, window_of

NOW = datetime(2026, 11, 15, 7, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_a_cron_execution_answers_for_the_time_since_the_previous_due_instant():
    weekly = Cron.parse("0 2 * * SUN", "America/New_York")
    window = window_of(weekly, from_text("2026-11-15T07:00Z"))
    assert window == Window(from_text("2026-11-08T07:00Z"), from_text("2026-11-15T07:00Z"))


def test_a_window_over_a_change_of_the_clocks_is_as_long_as_the_day_really_was():
    daily = Cron.parse("0 12 * * *", "America/New_York")
    window = window_of(daily, from_text("2026-11-01T17:00Z"))
    assert window.end - window.start == timedelta(hours=25)


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize("gap", ["shift", "skip"])
@pytest.mark.parametrize("start", ["2026-03-08T05:00Z", "2026-11-01T03:00Z"])
def test_windows_join_without_gap_or_overlap_also_where_the_clocks_change(start, gap, fold):
    cron = Cron.parse("*/20 * * * *", "America/New_York", gap, fold)
    runs = [found.at for found in islice(cron.occurrences(from_text(start)), 20) if found.at]
    windows = [window_of(cron, due) for due in runs]
    assert [window.end for window in windows] == runs
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


def test_the_first_window_of_an_interval_starts_at_its_anchor():
    every = Every(60, NOW)
    assert window_of(every, NOW + MINUTE) == Window(NOW, NOW + MINUTE)
    assert window_of(every, NOW + 2 * MINUTE) == Window(NOW + MINUTE, NOW + 2 * MINUTE)


def test_a_run_by_hand_answers_for_the_time_since_the_last_regular_one():
    every = Every(60, NOW)
    assert window_of(every, NOW + 1.5 * MINUTE) == Window(NOW + MINUTE, NOW + 1.5 * MINUTE)
    assert window_of(every, NOW) is None


@pytest.mark.parametrize("schedule", [Now(NOW), At(NOW), Queue()])
def test_what_does_not_recur_has_no_window(schedule):
    assert window_of(schedule, NOW) is None


def test_a_cron_that_never_ran_has_no_window():
    never = Cron.parse("* 2 * 3 SUN#2", "America/New_York", "skip")
    assert window_of(never, from_text("2070-01-01T00:00Z")) is None
