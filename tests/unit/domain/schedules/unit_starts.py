"""Moments near clock changes, and the starts of hours and days around them, found by checking every minute."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from punctual.domain.schedules.data_window import WindowUnit

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
