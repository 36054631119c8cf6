"""Calendars that a schedule names."""

from __future__ import annotations

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.schedules.named_calendars import Calendars, check_calendar, dates_of


def test_an_unknown_calendar_is_refused_with_the_modules_that_may_declare_it() -> None:
    def declared() -> Calendars:
        return Calendars({"holidays-us": set()}, "tasks/a.py, line 2: ZeroDivisionError: division by zero")

    with pytest.raises(Invalid) as refused:
        dates_of("schedule.skip.0", "holidays-es", declared)
    assert (refused.value.field, refused.value.message) == (
        "schedule.skip.0",
        "there is no calendar 'holidays-es'; use a date such as 2026-12-25, or one of weekends, holidays-us: did you "
        "mean 'holidays-us'?; the calendars of these modules are unavailable, because they cannot be imported: "
        "tasks/a.py, line 2: ZeroDivisionError: division by zero",
    )
    assert dates_of("schedule.skip.0", "holidays-us", declared) == set()


@pytest.mark.parametrize(
    ("name", "dates", "message"),
    [
        ("Holidays", [], "is not a valid calendar name"),
        ("2026", [], "is not a valid calendar name"),
        ("weekends", [], "is the name of a built-in calendar"),
        ("ours", ["2026-12-25", "christmas"], "'christmas' in the calendar 'ours' is not a date"),
    ],
)
def test_an_invalid_calendar_is_rejected_where_it_is_declared(name, dates, message):
    with pytest.raises(ValueError, match=message):
        check_calendar(name, dates)
