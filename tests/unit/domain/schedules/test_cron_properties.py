"""Property tests for cron at clock changes, against a reference that checks every minute."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import datetime, timedelta
from itertools import pairwise, product, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.schedules.cron import Cron, Fold, Gap, Occurrence, OccurrenceFlag
from tests.unit.domain.schedules.cron_reference import (
    DAY,
    MINUTE,
    MOMENTS,
    every_minute,
    moments,
    policies,
    rules,
    shifted,
)

offsets = st.one_of(st.integers(-100, 100), st.integers(-3 * 24 * 60, 3 * 24 * 60)).map(
    lambda minutes: timedelta(minutes=minutes, seconds=minutes % 2)
)


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
