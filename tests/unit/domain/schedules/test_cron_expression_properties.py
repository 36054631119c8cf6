"""Property tests for the days of a cron expression, against a reference that uses the calendar alone."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.errors import Invalid
from punctual.domain.schedules.cron import Cron
from tests.unit.domain.schedules.cron_reference import DAY, sets

month_days = st.frozensets(st.one_of(st.integers(1, 31), st.sampled_from([28, 29, 30, 31]), st.just("L")), max_size=4)
week_days = st.frozensets(
    st.one_of(
        st.integers(0, 6).map(str),
        st.builds("{}#{}".format, st.integers(0, 6), st.integers(1, 5)),
        st.builds("L{}".format, st.integers(0, 6)),
    ),
    max_size=3,
)
dates = st.dates(date(1990, 1, 1), date(2090, 1, 1))


def day_matches(day: date, days: frozenset[int | str], weekdays: frozenset[str]) -> bool:
    """Reference: whether a date matches, computed from the calendar alone."""
    left = monthrange(day.year, day.month)[1] - day.day
    weekday = day.isoweekday() % 7
    names = {f"{weekday}", f"{weekday}#{(day.day - 1) // 7 + 1}", f"L{weekday}" if left < 7 else ""}
    by_month = day.day in days or ("L" in days and left == 0)
    return by_month or bool(names & weekdays) or not (days or weekdays)


@settings(max_examples=150, deadline=None)
@given(month_days, sets(1, 12), week_days, dates)
def test_next_and_previous_dates_equal_the_calendar_reference(days, months, weekdays, day):
    fields = [",".join(map(str, values)) or "*" for values in (days, months, weekdays)]
    try:
        cron = Cron.parse(f"0 0 {' '.join(fields)}")
    except Invalid:
        assume(False)
    assert_neighbours(
        cron, day, lambda date: (date.month in months or not months) and day_matches(date, days, weekdays)
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 31), st.frozensets(st.integers(0, 6), min_size=1, max_size=3), dates)
def test_a_stepped_star_requires_dates_that_match_both_day_fields(step, weekdays, day):
    cron = Cron.parse(f"0 0 */{step} * {','.join(map(str, weekdays))}")
    assert_neighbours(cron, day, lambda date: (date.day - 1) % step == 0 and date.isoweekday() % 7 in weekdays)


def assert_neighbours(cron: Cron, day: date, matches: Callable[[date], bool]) -> None:
    midnight = datetime.combine(day, time(), UTC)
    for found, step in ((cron.next_after(midnight), DAY), (cron.previous_before(midnight), -DAY)):
        expected = midnight + step
        while not matches(expected):
            expected += step
        assert found == expected
