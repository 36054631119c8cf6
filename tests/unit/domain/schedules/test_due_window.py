"""The data window of an execution, from its schedule and due instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby, islice, pairwise

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import check_window, window_of
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import At, Now, PerMessage, parse_schedule

NOW = datetime(2026, 11, 15, 7, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_the_window_of_a_cron_starts_at_the_previous_due_instant():
    weekly = Cron.parse("0 2 * * SUN", "America/New_York")
    window = window_of(weekly, from_text("2026-11-15T07:00Z"))
    assert window == DataWindow(from_text("2026-11-08T07:00Z"), from_text("2026-11-15T07:00Z"))


def test_a_window_across_a_clock_change_has_the_real_length_of_the_day():
    daily = Cron.parse("0 12 * * *", "America/New_York")
    window = window_of(daily, from_text("2026-11-01T17:00Z"))
    assert window.end - window.start == timedelta(hours=25)


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize("gap", ["shift", "skip"])
@pytest.mark.parametrize("start", ["2026-03-08T05:00Z", "2026-11-01T03:00Z"])
def test_windows_are_contiguous_across_clock_changes(start, gap, fold):
    cron = Cron.parse("*/20 * * * *", "America/New_York", gap, fold)
    runs = [found.at for found in islice(cron.occurrences(from_text(start)), 20) if found.at]
    windows = [window_of(cron, due) for due in runs]
    assert [window.end for window in windows] == runs
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


def test_the_first_window_of_an_interval_starts_at_its_anchor():
    every = Every(60, NOW)
    assert window_of(every, NOW + MINUTE) == DataWindow(NOW, NOW + MINUTE)
    assert window_of(every, NOW + 2 * MINUTE) == DataWindow(NOW + MINUTE, NOW + 2 * MINUTE)


def test_the_window_of_a_manual_run_starts_at_the_last_due_instant():
    every = Every(60, NOW)
    assert window_of(every, NOW + 1.5 * MINUTE) == DataWindow(NOW + MINUTE, NOW + 1.5 * MINUTE)
    assert window_of(every, NOW) is None


@pytest.mark.parametrize("unit", [None, *WindowUnit])
@pytest.mark.parametrize("schedule", [Now(NOW), At(NOW), PerMessage()])
def test_a_schedule_that_does_not_recur_has_no_window(schedule, unit):
    assert window_of(schedule, NOW, unit) is None


def test_a_cron_without_an_earlier_due_instant_has_no_window():
    never = Cron.parse("* 2 * 3 SUN#2", "America/New_York", "skip")
    assert window_of(never, from_text("2070-01-01T00:00Z")) is None


# zone, unit, due, start and end of the window: manually computed
UNITS = [
    # Sunday to Sunday: an ordinary week, a week of 167 hours and a week of 169 hours
    ("America/New_York", "week", "2026-11-15T07:00Z", "2026-11-08T05:00Z", "2026-11-15T05:00Z"),
    ("America/New_York", "week", "2026-03-15T06:00Z", "2026-03-08T05:00Z", "2026-03-15T04:00Z"),
    ("America/New_York", "week", "2026-11-08T07:00Z", "2026-11-01T04:00Z", "2026-11-08T05:00Z"),
    # any instant of the following week, including its first, has the same window
    ("America/New_York", "week", "2026-11-15T05:00Z", "2026-11-08T05:00Z", "2026-11-15T05:00Z"),
    ("America/New_York", "week", "2026-11-15T04:59Z", "2026-11-01T04:00Z", "2026-11-08T05:00Z"),
    ("America/New_York", "week", "2026-11-22T04:59Z", "2026-11-08T05:00Z", "2026-11-15T05:00Z"),
    ("America/New_York", "day", "2026-11-02T07:00Z", "2026-11-01T04:00Z", "2026-11-02T05:00Z"),
    ("America/New_York", "month", "2026-12-01T05:00Z", "2026-11-01T04:00Z", "2026-12-01T05:00Z"),
    ("UTC", "month", "2026-03-31T00:00Z", "2026-02-01T00:00Z", "2026-03-01T00:00Z"),
    # an hour that occurs twice is one long unit; an hour in a gap is no unit
    ("America/New_York", "hour", "2026-11-01T06:30Z", "2026-11-01T04:00Z", "2026-11-01T05:00Z"),
    ("America/New_York", "hour", "2026-11-01T07:30Z", "2026-11-01T05:00Z", "2026-11-01T07:00Z"),
    ("America/New_York", "hour", "2026-03-08T07:30Z", "2026-03-08T06:00Z", "2026-03-08T07:00Z"),
    # the clocks on Lord Howe change by half an hour: 02:00 becomes 01:30 at 15:00Z, and 02:30 at 15:30Z
    ("Australia/Lord_Howe", "hour", "2026-04-04T15:30Z", "2026-04-04T14:00Z", "2026-04-04T15:30Z"),
    ("Australia/Lord_Howe", "hour", "2026-10-03T16:00Z", "2026-10-03T15:30Z", "2026-10-03T16:00Z"),
    ("Asia/Kolkata", "hour", "2026-11-15T07:00Z", "2026-11-15T05:30Z", "2026-11-15T06:30Z"),
    # midnight is missing: in Beirut 00:00 (+2) becomes 01:00 (+3) at 22:00Z, in Havana 00:00 (-5) 01:00 (-4) at 05:00Z
    ("Asia/Beirut", "day", "2026-03-29T21:00Z", "2026-03-28T22:00Z", "2026-03-29T21:00Z"),
    ("Asia/Beirut", "week", "2026-03-28T22:00Z", "2026-03-21T22:00Z", "2026-03-28T22:00Z"),
    ("America/Havana", "week", "2026-03-15T04:00Z", "2026-03-08T05:00Z", "2026-03-15T04:00Z"),
    # midnight occurs twice: in Havana 01:00 (-4) becomes 00:00 (-5) at 05:00Z
    ("America/Havana", "day", "2026-11-02T05:00Z", "2026-11-01T04:00Z", "2026-11-02T05:00Z"),
    # the gap contains midnight: 23:30 (-5) becomes 00:30 (-4) at 04:30Z
    ("America/Toronto", "day", "1919-03-31T04:30Z", "1919-03-30T05:00Z", "1919-03-31T04:30Z"),
    # from 00:01 (-2:30) to 23:01 (-3:30) the day before at 02:31Z: the day began at the first midnight
    ("America/St_Johns", "day", "2010-11-07T02:45Z", "2010-11-06T02:30Z", "2010-11-07T02:30Z"),
    # a missing day: 30 December is skipped at 10:00Z
    ("Pacific/Apia", "day", "2011-12-30T10:00Z", "2011-12-29T10:00Z", "2011-12-30T10:00Z"),
    ("Pacific/Apia", "day", "2011-12-31T10:00Z", "2011-12-30T10:00Z", "2011-12-31T10:00Z"),
]


@pytest.mark.parametrize(("zone", "unit", "due", "start", "end"), UNITS)
def test_with_a_unit_the_window_is_the_last_complete_unit_in_the_time_zone(zone, unit, due, start, end):
    cron = Cron.parse("0 2 * * SUN", zone)
    assert window_of(cron, from_text(due), WindowUnit(unit)) == DataWindow(from_text(start), from_text(end))


def test_calendar_windows_of_an_interval_are_in_utc():
    window = window_of(Every(60, NOW), NOW, WindowUnit.DAY)
    assert window == DataWindow(from_text("2026-11-14T00:00Z"), from_text("2026-11-15T00:00Z"))


@pytest.mark.parametrize("fold", ["first", "last"])
@pytest.mark.parametrize(
    "zone",
    [
        "America/New_York",
        "Europe/Berlin",
        "America/Havana",
        "Asia/Beirut",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "Antarctica/Troll",
        "America/Nuuk",
        "Asia/Kathmandu",
    ],
)
@pytest.mark.parametrize("expression", ["0 0 * * SUN", "0 2 * * SUN", "30 2 * * SUN", "59 22 * * SAT", "0 12 * * WED"])
def test_week_windows_of_weekly_runs_are_contiguous_for_a_year(expression, zone, fold):
    cron = Cron.parse(expression, zone, "shift", fold)
    runs = [found.at for found in islice(cron.occurrences(from_text("2026-01-01T00:00Z")), 54)]
    windows = [window_of(cron, due, WindowUnit.WEEK) for due in runs]
    assert all(window.end <= due for window, due in zip(windows, runs, strict=True))
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


def test_a_unit_is_rejected_for_a_schedule_that_does_not_recur():
    for schedule, message in [(At(NOW), "a one-time job"), (Now(NOW), "a one-time job"), (PerMessage(), "a queue job")]:
        check_window(schedule, None)
        with pytest.raises(Invalid) as refused:
            check_window(schedule, WindowUnit.WEEK)
        assert refused.value.field == "window"
        assert f"{message} has no data window: omit window" in refused.value.message


@pytest.mark.parametrize("unit", [None, *WindowUnit])
def test_a_recurring_schedule_accepts_every_unit(unit):
    check_window(Cron.parse("0 2 * * SUN"), unit)
    check_window(Every(60, NOW), unit)


# zone, cron that runs once per unit, unit, two dates at most thirty runs before a clock change
REGULAR = [
    ("America/New_York", "30 * * * *", "hour", "2026-03-07", "2026-10-31"),
    ("Australia/Lord_Howe", "15 * * * *", "hour", "2026-04-04", "2026-10-03"),
    ("Australia/Lord_Howe", "45 * * * *", "hour", "2026-04-04", "2026-10-03"),
    ("Antarctica/Troll", "0 * * * *", "hour", "2026-03-28", "2026-10-24"),
    ("Africa/Cairo", "30 0 * * *", "day", "2026-04-20", "2026-10-20"),
    ("Africa/Cairo", "30 23 * * *", "day", "2026-04-20", "2026-10-20"),
    ("America/Havana", "0 0 * * *", "day", "2026-03-01", "2026-10-20"),
    ("America/Nuuk", "30 23 * * *", "day", "2026-03-20", "2026-10-20"),  # 23:00 on Saturday becomes 00:00 on Sunday
    ("America/Nuuk", "30 23 * * SAT", "week", "2026-01-01", "2026-08-01"),
    ("Asia/Beirut", "0 0 * * SUN", "week", "2026-01-01", "2026-08-01"),
    ("Asia/Beirut", "0 3 1 * *", "month", "2026-01-01", "2027-01-01"),
]


@pytest.mark.parametrize("fold", ["first", "last", "both"])
@pytest.mark.parametrize(("zone", "expression", "unit", "spring", "autumn"), REGULAR)
def test_windows_of_one_run_per_unit_are_contiguous_across_clock_changes(zone, expression, unit, spring, autumn, fold):
    cron = Cron.parse(expression, zone, "shift", fold)
    for start in (spring, autumn):
        runs = [found.at for found in islice(cron.occurrences(from_text(f"{start}T00:00Z")), 30)]
        windows = [window_of(cron, due, WindowUnit(unit)) for due in runs]
        different = [window for window, _ in groupby(windows)]
        assert all(window.end <= due for window, due in zip(windows, runs, strict=True))
        assert all(earlier.end == later.start for earlier, later in pairwise(different))
        assert len(different) == 30 or (fold == "both" and len(different) == 29)


def test_a_run_shifted_into_the_next_week_has_the_window_of_its_original_week():
    cron = Cron.parse("30 23 * * SAT", "America/Nuuk")
    due = from_text("2026-03-29T01:30Z")  # on Sunday at 00:30
    window = DataWindow(from_text("2026-03-15T02:00Z"), from_text("2026-03-22T02:00Z"))
    assert window_of(cron, due, WindowUnit.WEEK) == window
    assert window_of(cron, due + MINUTE, WindowUnit.WEEK).start == window.end


# Skipped dates: 21 and 22 November 2026 are a Saturday and a Sunday.


def recurring(**spec):
    return parse_schedule(spec, now=NOW)


def days(first, end):
    return DataWindow(from_text(f"2026-11-{first}T00:00Z"), from_text(f"2026-11-{end}T00:00Z"))


@pytest.mark.parametrize("on_skip", ["skip", "next_business_day"])
def test_without_a_unit_the_window_after_skipped_dates_includes_them(on_skip):
    daily = recurring(cron="0 2 * * *", skip=["weekends"], on_skip=on_skip)
    window = window_of(daily, from_text("2026-11-23T02:00Z"))
    assert window == DataWindow(from_text("2026-11-20T02:00Z"), from_text("2026-11-23T02:00Z"))


def test_a_moved_run_has_the_window_of_its_original_date():
    saturdays = recurring(cron="0 2 * * SAT", skip=["weekends"], on_skip="next_business_day")
    monday = from_text("2026-11-23T02:00Z")
    assert saturdays.next_after(NOW) == monday - timedelta(days=7)
    assert window_of(saturdays, monday, WindowUnit.DAY) == days(20, 21)
    assert window_of(saturdays, monday, WindowUnit.WEEK) == days("08", 15)
    assert window_of(saturdays, monday, WindowUnit.HOUR) == DataWindow(
        from_text("2026-11-21T01:00Z"), from_text("2026-11-21T02:00Z")
    )


def test_runs_merged_into_one_have_a_window_from_the_first_to_the_last():
    daily = recurring(cron="0 2 * * *", skip=["weekends"], on_skip="next_business_day")
    assert window_of(daily, from_text("2026-11-20T02:00Z"), WindowUnit.DAY) == days(19, 20)
    assert window_of(daily, from_text("2026-11-23T02:00Z"), WindowUnit.DAY) == days(20, 23)
    assert window_of(daily, from_text("2026-11-24T02:00Z"), WindowUnit.DAY) == days(23, 24)
    weekend = recurring(cron="0 2 * * SAT,SUN", skip=["weekends"], on_skip="next_business_day")
    assert window_of(weekend, from_text("2026-11-23T02:00Z"), WindowUnit.DAY) == days(20, 22)
    interval = recurring(every_seconds=86_400, skip=["weekends"], on_skip="next_business_day")
    assert window_of(interval, from_text("2026-11-23T07:00Z"), WindowUnit.DAY) == days(20, 23)


def test_hourly_runs_merged_into_one_have_the_window_of_the_last_hour():
    hourly = recurring(cron="0 * * * *", skip=["weekends"], on_skip="next_business_day")
    window = DataWindow(from_text("2026-11-23T04:00Z"), from_text("2026-11-23T05:00Z"))
    assert window_of(hourly, from_text("2026-11-23T05:00Z"), WindowUnit.HOUR) == window


def test_the_unit_of_a_skipped_run_is_in_no_window():
    daily = recurring(cron="0 2 * * *", skip=["weekends"])
    assert window_of(daily, from_text("2026-11-23T02:00Z"), WindowUnit.DAY) == days(22, 23)


def test_the_first_window_of_a_schedule_with_a_start_has_the_usual_length():
    daily = recurring(cron="0 2 * * *", starts_at="2026-11-20T00:00Z")
    window = DataWindow(from_text("2026-11-19T02:00Z"), from_text("2026-11-20T02:00Z"))
    assert window_of(daily, from_text("2026-11-20T02:00Z")) == window
    interval = recurring(every_seconds=3600, starts_at="2026-11-20T00:00Z")
    window = DataWindow(from_text("2026-11-19T23:00Z"), from_text("2026-11-20T00:00Z"))
    assert window_of(interval, from_text("2026-11-20T00:00Z")) == window


def test_calendar_windows_of_a_bounded_schedule_are_in_its_time_zone():
    weekly = recurring(cron="0 2 * * SUN", timezone="America/New_York", max_runs=3, jitter_seconds=60)
    window = DataWindow(from_text("2026-11-08T05:00Z"), from_text("2026-11-15T05:00Z"))
    assert window_of(weekly, from_text("2026-11-15T07:00Z"), WindowUnit.WEEK) == window
