"""Skipped dates of a schedule, and the policy for the runs on them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text
from punctual.domain.schedules.calendar import OnSkip, Skip, parse_skip
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.named_calendars import WEEKENDS, Calendars
from punctual.domain.schedules.schedule import Schedule, from_stored, parse_schedule

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)  # a Monday
CALENDARS = Calendars({"holidays-us": {date(2026, 11, 26), date(2026, 12, 25)}, "none": set()})


def schedule_of(**spec: object):
    return parse_schedule(spec, now=NOW, calendars=lambda: CALENDARS)


def runs(schedule, after: str, count: int) -> list[str]:
    found, due = [], from_text(after)
    while len(found) < count and (due := schedule.next_after(due)) is not None:
        found.append(due.strftime("%a %d %H:%M"))
    return found


def test_a_skipped_date_has_no_run_and_other_dates_are_unaffected():
    daily = schedule_of(cron="0 2 * * *", skip=["weekends", "2026-11-25", "holidays-us"])
    assert runs(daily, "2026-11-19T12:00Z", 5) == [
        "Fri 20 02:00",
        "Mon 23 02:00",
        "Tue 24 02:00",
        "Fri 27 02:00",
        "Mon 30 02:00",
    ]
    assert daily.previous_before(from_text("2026-11-27T02:00Z")) == from_text("2026-11-24T02:00Z")


def test_skipped_dates_are_in_the_schedules_time_zone():
    skip = ["2026-11-26"]
    tokyo = schedule_of(cron="0 8 * * *", timezone="Asia/Tokyo", skip=skip)
    assert runs(tokyo, "2026-11-24T12:00Z", 2) == ["Tue 24 23:00", "Thu 26 23:00"]  # the 25th and the 27th in Tokyo
    evening = schedule_of(cron="0 20 * * *", timezone="America/New_York", skip=skip)
    assert runs(evening, "2026-11-25T12:00Z", 2) == ["Thu 26 01:00", "Sat 28 01:00"]
    hours = schedule_of(every_seconds=43_200, skip=skip)
    assert runs(hours, "2026-11-25T12:00Z", 2) == ["Fri 27 00:00", "Fri 27 12:00"]


def test_a_moved_run_keeps_its_local_time_on_the_next_date_not_skipped():
    first = schedule_of(cron="30 2 1 * *", timezone="Europe/Berlin", skip=[WEEKENDS], on_skip="next_business_day")
    assert runs(first, "2026-10-15T00:00Z", 3) == ["Mon 02 01:30", "Tue 01 01:30", "Fri 01 01:30"]
    assert first.previous_before(from_text("2026-11-15T00:00Z")) == from_text("2026-11-02T01:30Z")
    over_holidays = schedule_of(
        cron="0 9 24 12 *", skip=["weekends", "2026-12-24", "2026-12-25"], on_skip="next_business_day"
    )
    assert runs(over_holidays, "2026-12-01T00:00Z", 1) == ["Mon 28 09:00"]


def test_moved_runs_at_the_same_time_become_one_run():
    daily = schedule_of(cron="0 2 * * *", skip=[WEEKENDS], on_skip="next_business_day")
    assert runs(daily, "2026-11-19T12:00Z", 4) == ["Fri 20 02:00", "Mon 23 02:00", "Tue 24 02:00", "Wed 25 02:00"]
    saturdays = schedule_of(cron="0 2,3 * * SAT,SUN", skip=[WEEKENDS], on_skip="next_business_day")
    assert runs(saturdays, "2026-11-19T12:00Z", 3) == ["Mon 23 02:00", "Mon 23 03:00", "Mon 30 02:00"]


def test_moved_runs_are_ordered_among_the_regular_runs_of_the_day():
    both = schedule_of(cron="0 6 1,2 * *", skip=["2026-12-01"], on_skip="next_business_day")
    assert runs(both, "2026-11-20T00:00Z", 2) == ["Wed 02 06:00", "Fri 01 06:00"]
    odd = schedule_of(every_seconds=50_000, skip=["2026-11-17"], on_skip="next_business_day")
    # 12:00 + 50,000 s is 01:53 on Tuesday, then 15:46; Wednesday's own are 05:40 and 19:33
    assert runs(odd, "2026-11-16T12:00Z", 5) == [
        "Wed 18 01:53",
        "Wed 18 05:40",
        "Wed 18 15:46",
        "Wed 18 19:33",
        "Thu 19 09:26",
    ]


def test_a_run_shifted_past_midnight_belongs_to_its_original_date():
    """In Nuuk the clocks are set forward from 23:00 on Saturday to 00:00 on Sunday."""
    late = {"cron": "30 23 * * SAT", "timezone": "America/Nuuk"}
    assert runs(schedule_of(**late, skip=["2026-03-29"]), "2026-03-28T12:00Z", 1) == ["Sun 29 01:30"]
    assert runs(schedule_of(**late, skip=["2026-03-28"]), "2026-03-28T12:00Z", 1) == ["Sun 05 00:30"]


class Counted:
    """Counts the matches that are asked for."""

    asked = 0

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        for match in super().matches_after(wall):  # type: ignore[misc]
            Counted.asked += 1
            yield match

    def match_before(self, wall: datetime) -> datetime | None:
        Counted.asked += 1
        return super().match_before(wall)  # type: ignore[misc]


class CountedCron(Counted, Cron): ...


class CountedEvery(Counted, Every): ...


def asked_for(schedule: Schedule, count: int) -> tuple[list[str], int]:
    """The first due instants after Friday evening, and how many matches were asked for to find them."""
    Counted.asked = 0
    found = islice(schedule.occurrences(from_text("2026-11-20T23:58:00Z")), count)
    return [str(one.local) for one in found], Counted.asked


@pytest.mark.parametrize("on_skip", list(OnSkip))
def test_the_search_jumps_over_the_matches_of_a_skipped_date(on_skip):
    skip = Skip((WEEKENDS,), frozenset({date(2026, 11, 23)}), on_skip)
    walls, asked = asked_for(CountedCron("* * * * *", skip=skip), 2)
    assert walls == ["2026-11-20 23:59:00", "2026-11-24 00:00:00"]
    assert asked < 12


A_THOUSAND_DAYS = frozenset(date(2026, 11, 21) + timedelta(days=n) for n in range(1000))


@pytest.mark.parametrize("on_skip", list(OnSkip))
@pytest.mark.parametrize(
    "schedule", [CountedCron("* * * * *"), CountedEvery(60, NOW), CountedEvery(420, NOW)], ids=["cron", "60", "420"]
)
def test_the_cost_of_skipped_dates_does_not_grow_with_the_matches_on_them(schedule, on_skip):
    skipping = replace(schedule, skip=Skip(("holidays",), A_THOUSAND_DAYS, on_skip))
    walls, asked = asked_for(skipping, 1000)
    assert walls[500].startswith("2029-08-")
    assert asked < 4000


def test_the_previous_run_after_a_thousand_skipped_dates_is_found_without_a_search_of_each():
    skip = Skip(("holidays",), A_THOUSAND_DAYS, OnSkip.NEXT_BUSINESS_DAY)
    Counted.asked = 0
    reopening = from_text("2029-08-17T10:00:00Z")
    assert CountedCron("* * * * *", skip=skip).previous_before(reopening) == reopening - timedelta(minutes=1)
    assert Counted.asked < 50


@pytest.mark.parametrize("on_skip", list(OnSkip))
@pytest.mark.parametrize("spec", [{"cron": "30 2 * * *", "timezone": "America/New_York"}, {"every_seconds": 3600}])
def test_skipped_dates_round_trip_and_are_stored_resolved(spec, on_skip):
    skip = ["weekends", "holidays-us", "2026-12-24"]
    schedule = schedule_of(**spec, skip=skip, on_skip=on_skip)
    assert {**schedule.to_spec(), **spec, "skip": skip, "on_skip": on_skip} == schedule.to_spec()
    stored = json.loads(json.dumps(schedule.to_stored()))
    assert stored["skip"]["dates"] == ["2026-11-26", "2026-12-24", "2026-12-25"]
    assert from_stored(stored) == schedule
    assert from_stored(stored).next_after(NOW) == schedule.next_after(NOW)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"on_skip": "skip"}, "schedule.on_skip", "requires schedule.skip"),
        ({"skip": []}, "schedule.skip", "must be a non-empty list"),
        ({"skip": "weekends"}, "schedule.skip", "must be a non-empty list"),
        ({"skip": ["weekends", 7]}, "schedule.skip.1", "must be text"),
        ({"skip": ["2026-02-30"]}, "schedule.skip.0", "write it like 2026-12-25"),
        ({"skip": ["20261225"]}, "schedule.skip.0", "write it like 2026-12-25"),
        ({"skip": ["2026-12-25T00:00Z"]}, "schedule.skip.0", "write it like 2026-12-25"),
        ({"skip": ["9999-01-01"]}, "schedule.skip.0", "from 1971 to 2199"),
        ({"skip": ["holidays-fr"]}, "schedule.skip.0", "or one of weekends, holidays-us, none"),
        ({"skip": [""]}, "schedule.skip.0", "there is no calendar ''"),
        ({"skip": ["weekends"], "on_skip": "later"}, "schedule.on_skip", "skip, next_business_day"),
        ({"skip": ["weekends"], "on_skip": ["skip"]}, "schedule.on_skip", "skip, next_business_day"),
    ],
)
def test_an_invalid_skip_is_rejected_naming_the_field(spec, field, message):
    for recurring in ({"cron": "0 2 * * *"}, {"every_seconds": 60}):
        with pytest.raises(Invalid) as refused:
            schedule_of(**recurring, **spec)
        assert refused.value.field == field
        assert message in refused.value.message


def test_more_than_a_thousand_skipped_dates_are_rejected():
    days = [date.fromordinal(date(2026, 1, 1).toordinal() + n).isoformat() for n in range(1001)]
    assert len(parse_skip(days[:1000], None).dates) == 1000
    with pytest.raises(Invalid, match="has 1,001 dates; the limit is 1,000"):
        parse_skip(days, None)


def test_schedules_without_a_skip_rule_skip_no_dates():
    assert Cron.parse("0 2 * * *").skip is None
    assert Every(60, NOW).skip is None
