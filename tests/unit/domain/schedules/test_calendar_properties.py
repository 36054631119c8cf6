"""Property tests for skipped dates, against a reference that checks every minute or every due instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron import Cron
from punctual.domain.schedules.every import Every
from tests.unit.domain.schedules.cron_reference import Rule, every_minute, moments, policies, rules
from tests.unit.domain.schedules.skipped_dates import DAY, START, dues, dues_backwards, skips_around


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
