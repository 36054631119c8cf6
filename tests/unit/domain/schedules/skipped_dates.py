"""Random skipped dates, schedules with and without them, and their due instants one by one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st

from punctual.domain.schedules.calendar import OnSkip, Skip
from punctual.domain.schedules.named_calendars import WEEKENDS

DAY, RESOLUTION = timedelta(days=1), datetime.resolution
START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def skips_around(day: date) -> st.SearchStrategy[Skip]:
    days = st.frozensets(st.integers(-6, 6).map(lambda n: day + n * DAY), max_size=6)
    entries = st.sampled_from([(WEEKENDS,), ()])
    return st.builds(Skip, entries, days, st.sampled_from(OnSkip))


def dues(schedule, start: datetime, end: datetime) -> list[datetime]:
    """The due instants in [start, end), found one by one with ``next_after``."""
    found, due = [], schedule.next_after(start - RESOLUTION)
    while due is not None and due < end:
        found.append(due)
        due = schedule.next_after(due)
    return found


def dues_backwards(schedule, start: datetime, end: datetime) -> list[datetime]:
    found, due = [], schedule.previous_before(end)
    while due is not None and due >= start:
        found.append(due)
        due = schedule.previous_before(due)
    return found[::-1]


bases = st.sampled_from(
    [
        {"cron": "15 */5 * * *"},
        {"cron": "30 1,2 * * *", "timezone": "America/New_York", "fold": "both"},
        {"cron": "0 2 * * MON", "timezone": "Europe/Berlin"},
        {"every_seconds": 20_000},
        {"every_seconds": 86_400},
    ]
)
skipping = st.sampled_from(
    [{}, {"skip": ["weekends"]}, {"skip": ["weekends", "2026-11-23"], "on_skip": "next_business_day"}]
)
hours = st.integers(-100, 500)
