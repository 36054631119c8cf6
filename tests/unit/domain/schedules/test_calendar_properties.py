"""Property tests for skipped dates and bounds, against a reference that checks every minute or every due instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from punctual.domain.instant import to_text
from punctual.domain.schedules.bounds import Bounded
from punctual.domain.schedules.calendar import WEEKENDS, OnSkip, Skip
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.data_window import WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.every import Every
from punctual.domain.schedules.schedule import parse_schedule
from tests.unit.domain.schedules.test_cron_properties import Rule, every_minute, moments, policies, rules

DAY, RESOLUTION = timedelta(days=1), datetime.resolution
START = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass(frozen=True)
class SkippingRule:
    """Reference for an expression with skipped dates: for each wall time, searches the skipped dates before it."""

    rule: Rule
    skip: Skip

    def matches(self, wall: datetime) -> bool:
        if self.skip.covers(wall.date()):
            return False
        if self.rule.matches(wall):
            return True
        source = wall - DAY
        while self.skip.moves_runs and self.skip.covers(source.date()):
            if self.rule.matches(source):
                return True
            source -= DAY
        return False


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


@settings(max_examples=60, deadline=None)
@given(rules, moments, policies, st.data())
def test_a_cron_with_skipped_dates_equals_the_minute_by_minute_reference(rule, moment, policy, data):
    zone, change = moment
    skip = data.draw(skips_around(change.astimezone(ZoneInfo(zone)).date()))
    cron = replace(Cron.parse(rule.expression, zone, *policy), skip=skip)
    start, end = change - 2 * DAY, change + 2 * DAY
    start = start.replace(second=0, microsecond=0)
    found = dues(cron, start, end)
    assert found == every_minute(SkippingRule(rule, skip), cron, start, end)
    assert all(earlier < later for earlier, later in pairwise(found))
    assert dues_backwards(cron, start, end) == found


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([600, 3600, 5000, 43_200, 86_400, 100_000]), skips_around(START.date() + 4 * DAY))
def test_an_interval_with_skipped_dates_equals_the_instant_by_instant_reference(seconds, skip):
    every = Every(seconds, START)
    end = START + 14 * DAY
    expected = set()
    for due in dues(every, START, end):
        day = due.date()
        while skip.moves_runs and skip.covers(day):
            day += DAY
        if not skip.covers(day):
            expected.add(due + (day - due.date()))
    found = dues(replace(every, skip=skip), START, end)
    assert found == sorted(due for due in expected if due < end)
    assert dues_backwards(replace(every, skip=skip), START, end) == found
    assert not any(skip.covers(due.date()) for due in found)


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


@settings(max_examples=60, deadline=None)
@given(bases, skipping, hours, st.integers(0, 500), hours)
def test_bounds_keep_exactly_the_instants_between_them(base, skip, begin, length, after):
    starts_at, ends_at = START + timedelta(hours=begin), START + timedelta(hours=begin + length)
    assume(ends_at >= START)
    bounds = {"starts_at": to_text(starts_at), "ends_at": to_text(ends_at)}
    schedule = parse_schedule({**base, **skip, **bounds}, now=START)
    assert isinstance(schedule, Bounded)
    instant = START + timedelta(hours=after)
    end = instant + timedelta(hours=500)
    unbounded = dues(schedule.base, instant, end)
    within = [due for due in unbounded if starts_at <= due <= ends_at]
    assert dues(schedule, instant, end) == within
    assert dues_backwards(schedule, instant, end) == within


@settings(max_examples=100, deadline=None)
@given(bases, skipping, st.integers(1, 60), st.one_of(st.none(), hours))
def test_max_runs_gives_exactly_that_many_runs(base, skip, runs, begin):
    start = {} if begin is None else {"starts_at": to_text(START + timedelta(hours=begin))}
    schedule = parse_schedule({**base, **skip, **start, "max_runs": runs}, now=START)
    assert len(dues(schedule, START, START + timedelta(days=4000))) == runs
    assert schedule.next_after(schedule.last_at) is None


@settings(max_examples=60, deadline=None)
@given(bases, skipping, st.integers(0, 1000))
def test_windows_without_a_unit_are_contiguous_across_skipped_dates(base, skip, after):
    schedule = parse_schedule({**base, **skip}, now=START)
    first = START + timedelta(hours=after)
    windows = [window_of(schedule, due) for due in dues(schedule, first, first + 5 * DAY)]
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))


@settings(max_examples=60, deadline=None)
@given(skips_around(START.date() + 10 * DAY), st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu"]))
def test_day_windows_of_moved_daily_runs_are_contiguous(skip, zone):
    daily = replace(Cron.parse("0 2 * * *", zone), skip=replace(skip, on_skip=OnSkip.NEXT_BUSINESS_DAY))
    windows = [window_of(daily, due, WindowUnit.DAY) for due in dues(daily, START, START + 25 * DAY)]
    assert all(earlier.end == later.start for earlier, later in pairwise(windows))
