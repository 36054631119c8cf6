"""Property tests for cron at clock changes, against a reference that checks every minute."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise, product, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.errors import Invalid
from punctual.domain.schedules.cron import Cron, Fold, Gap, Occurrence, OccurrenceFlag

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

# An instant close to a clock change in each zone.
CHANGES = {
    "America/New_York": ["2026-03-08T07:00Z", "2026-11-01T06:00Z", "2060-11-07T06:00Z"],
    "Europe/London": ["2026-03-29T01:00Z", "2026-10-25T01:00Z"],
    "Europe/Dublin": ["2026-03-29T01:00Z", "2026-10-25T01:00Z", "2050-10-30T01:00Z"],
    "Australia/Lord_Howe": ["2026-04-04T15:00Z", "2026-10-03T15:30Z"],
    "Africa/Cairo": ["2026-04-23T22:00Z", "2026-10-29T21:00Z"],
    "America/Sao_Paulo": ["2018-02-18T02:00Z", "2018-11-04T03:00Z"],
    "Asia/Beirut": ["2026-03-28T22:00Z", "2026-10-24T21:00Z"],
    "Pacific/Apia": ["2011-12-30T10:00Z"],
    "Pacific/Kwajalein": ["1993-08-21T12:00Z"],
    "Europe/Moscow": ["2011-03-26T23:00Z", "2014-10-25T22:00Z"],
    "Asia/Pyongyang": ["2015-08-14T15:00Z", "2018-05-04T15:00Z"],
    "Africa/Casablanca": ["2026-02-15T02:00Z", "2026-03-22T02:00Z"],
    "UTC": ["2026-02-28T12:00Z"],
}


@dataclass(frozen=True)
class Rule:
    """A cron expression as sets of numbers."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    weekdays: frozenset[int]

    @property
    def expression(self) -> str:
        return " ".join(map(_listed, (self.minutes, self.hours, self.days, frozenset(), self.weekdays)))

    def matches(self, wall: datetime) -> bool:
        days = [wall.day in self.days] if self.days else []
        days += [wall.isoweekday() % 7 in self.weekdays] if self.weekdays else []
        clock = wall.minute in self.minutes and (not self.hours or wall.hour in self.hours)
        return clock and (any(days) or not days)


def _listed(values: frozenset[int]) -> str:
    return ",".join(map(str, values)) or "*"


def sets(low: int, high: int, largest: int = 4) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(low, high), max_size=largest)


ANY: st.SearchStrategy[frozenset[int]] = st.just(frozenset())
rules = st.builds(
    Rule,
    st.one_of(st.just(frozenset(range(0, 60, 7))), st.just(frozenset({0, 30})), sets(0, 59).filter(bool)),
    st.one_of(ANY, sets(0, 3), sets(0, 23)),
    st.one_of(ANY, ANY, ANY, sets(1, 31)),
    st.one_of(ANY, ANY, ANY, sets(0, 6)),
)
MOMENTS = [(zone, datetime.fromisoformat(text)) for zone, texts in CHANGES.items() for text in texts]
moments = st.sampled_from(MOMENTS)
offsets = st.one_of(st.integers(-100, 100), st.integers(-3 * 24 * 60, 3 * 24 * 60)).map(
    lambda minutes: timedelta(minutes=minutes, seconds=minutes % 2)
)
policies = st.sampled_from(list(product(Gap, Fold)))


def every_minute(rule: Rule, cron: Cron, start: datetime, end: datetime) -> list[datetime]:
    """The instants in [start, end) at which ``cron`` runs, found by checking the wall-clock time of each minute."""
    zone = ZoneInfo(cron.timezone)
    found = set()
    for number in range((end - start) // MINUTE):
        local = (start + number * MINUTE).astimezone(zone)
        twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
        chosen = not twice or cron.fold is Fold.BOTH or local.fold == (cron.fold is Fold.LAST)
        if chosen and rule.matches(local.replace(tzinfo=None)):
            found.add(local.astimezone(UTC))
    if cron.gap is Gap.SHIFT:
        found |= set(shifted(rule, zone, start, end))
    return sorted(found)


def shifted(rule: Rule, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The instants of wall times in a gap: shifted by the length of the gap."""
    found = []
    for number in range((end - start) // MINUTE):
        before, after = ((start + (number + n) * MINUTE).astimezone(zone) for n in (-1, 0))
        jump = after.replace(tzinfo=None) - before.replace(tzinfo=None) - MINUTE
        for missing in range(max(jump // MINUTE, 0)):
            if rule.matches(before.replace(tzinfo=None) + (missing + 1) * MINUTE):
                found.append(after.astimezone(UTC) + missing * MINUTE)
    return [instant for instant in found if instant < end]


def around(zone: str, change: datetime) -> tuple[datetime, datetime]:
    """From a few hours before the clock change until after all shifted runs."""
    before, after = ((change + days * DAY).astimezone(ZoneInfo(zone)).utcoffset() for days in (-1, 1))
    reach = timedelta(hours=4) + abs(after - before)
    return change - reach, change + reach


def until(cron: Cron, after: datetime, end: datetime) -> list[Occurrence]:
    real = (found for found in cron.occurrences(after) if found.at is not None)
    return list(takewhile(lambda found: found.at < end, real))


@pytest.mark.parametrize(("zone", "change"), MOMENTS)
def test_next_and_previous_agree_with_occurrences_near_a_clock_change(zone, change):
    start, end = around(zone, change)
    for gap, fold in product(Gap, Fold):
        cron = Cron.parse("*/20 * * * *", zone, gap, fold)
        runs = [found.at for found in until(cron, start - DAY, end + DAY)]
        for number in range(24):
            instant = start + number * (end - start) / 24
            assert cron.next_after(instant) == runs[bisect_right(runs, instant)]
            assert cron.previous_before(instant) == runs[bisect_left(runs, instant) - 1]


@settings(max_examples=40, deadline=None)
@given(rules, moments)
def test_runs_equal_the_minute_by_minute_reference(rule, moment):
    start, end = around(*moment)
    for gap, fold in product(Gap, Fold):
        cron = Cron.parse(rule.expression, moment[0], gap, fold)
        found = [occurrence.at for occurrence in until(cron, start - MINUTE, end)]
        assert found == every_minute(rule, cron, start, end), cron


@settings(max_examples=40, deadline=None)
@given(rules, moments, policies, offsets)
def test_no_run_is_lost_wherever_the_search_starts(rule, moment, policy, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, *policy)
    after, end = change + offset, change + 2 * DAY
    from_afar = until(cron, min(after, end) - 2 * DAY, end)
    assert until(cron, after, end) == [found for found in from_afar if found.at > after]


@settings(max_examples=40, deadline=None)
@given(rules, moments, policies, offsets)
def test_runs_strictly_increase_and_match_the_wall_clock_unless_shifted(rule, moment, policy, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, *policy)
    after = change + offset
    found = until(cron, after, after + DAY)
    assert all(earlier.at < later.at for earlier, later in pairwise(found))
    for occurrence in found:
        assert rule.matches(occurrence.local)
        shows = occurrence.at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        assert (shows == occurrence.local) is (occurrence.flag is not OccurrenceFlag.SHIFTED)


@settings(max_examples=40, deadline=None)
@given(rules, moments, policies, offsets)
def test_previous_and_next_are_inverse(rule, moment, policy, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, *policy)
    instant = change + offset
    previous, following = cron.previous_before(instant), cron.next_after(instant)
    assert previous < instant < following
    assert cron.next_after(previous) in (instant, following)
    assert cron.previous_before(following) in (instant, previous)
    assert cron.previous_before(cron.next_after(previous)) == previous


@settings(max_examples=40, deadline=None)
@given(rules, moments)
def test_gap_skip_lists_exactly_the_times_that_gap_shift_moves(rule, moment):
    start, end = around(*moment)
    cron = Cron.parse(rule.expression, moment[0], "skip")
    listed = takewhile(lambda found: found.at is None or found.at < end, cron.occurrences(start))
    skipped = [found.local for found in listed if found.at is None]
    assert len(skipped) == len(shifted(rule, ZoneInfo(moment[0]), start, end))
    assert skipped == sorted(skipped)


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
    midnight = datetime.combine(day, time(), UTC)
    for found, step in ((cron.next_after(midnight), DAY), (cron.previous_before(midnight), -DAY)):
        expected = midnight + step
        while not ((expected.month in months or not months) and day_matches(expected, days, weekdays)):
            expected += step
        assert found == expected
