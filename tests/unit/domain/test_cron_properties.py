"""Properties of cron around changes of the clocks, against a reference that looks at every single minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st
from punctual.domain.cron import Cron, Fold, Gap, Occurrence, Oddity

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

# An instant close to a change of the clocks in each zone.
CHANGES = {
    "America/New_York": [datetime(2026, 3, 8, 7), datetime(2026, 11, 1, 6), datetime(2060, 11, 7, 6)],
    "Europe/London": [datetime(2026, 3, 29, 1), datetime(2026, 10, 25, 1)],
    "Europe/Dublin": [datetime(2026, 3, 29, 1), datetime(2026, 10, 25, 1), datetime(2050, 10, 30, 1)],
    "Australia/Lord_Howe": [datetime(2026, 4, 4, 15), datetime(2026, 10, 3, 15, 30)],
    "Africa/Cairo": [datetime(2026, 4, 23, 22), datetime(2026, 10, 29, 21)],
    "America/Sao_Paulo": [datetime(2018, 2, 18, 2), datetime(2018, 11, 4, 3)],
    "Asia/Beirut": [datetime(2026, 3, 28, 22), datetime(2026, 10, 24, 21)],
    "Pacific/Apia": [datetime(2011, 12, 30, 10)],
    "Pacific/Kwajalein": [datetime(1993, 8, 21, 12)],
    "Europe/Moscow": [datetime(2011, 3, 26, 23), datetime(2014, 10, 25, 22)],
    "Asia/Pyongyang": [datetime(2015, 8, 14, 15), datetime(2018, 5, 4, 15)],
    "Africa/Casablanca": [datetime(2026, 2, 15, 2), datetime(2026, 3, 22, 2)],
    "UTC": [datetime(2026, 2, 28, 12)],
}


@dataclass(frozen=True)
class Rule:
    """What an expression means, as sets of numbers."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    weekdays: frozenset[int]

    @property
    def expression(self) -> str:
        return f"{_listed(self.minutes)} {_listed(self.hours)} {_listed(self.days)} * {_listed(self.weekdays)}"

    def matches(self, wall: datetime) -> bool:
        days = [wall.day in self.days] if self.days else []
        days += [wall.isoweekday() % 7 in self.weekdays] if self.weekdays else []
        clock = (not self.minutes or wall.minute in self.minutes) and (not self.hours or wall.hour in self.hours)
        return clock and (any(days) or not days) and wall.second == 0


def _listed(values: frozenset[int]) -> str:
    return ",".join(map(str, values)) or "*"


def sets(low: int, high: int, largest: int = 4) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(low, high), max_size=largest)


ANY: st.SearchStrategy[frozenset[int]] = st.just(frozenset())
rules = st.builds(
    Rule,
    st.one_of(st.just(frozenset(range(0, 60, 7))), st.just(frozenset({0, 30})), sets(0, 59).filter(bool)),
    st.one_of(ANY, sets(0, 3), sets(0, 23)),
    st.one_of(ANY, ANY, sets(1, 31)),
    st.one_of(ANY, ANY, sets(0, 6)),
)
moments = st.one_of([st.tuples(st.just(zone), st.sampled_from(times)) for zone, times in CHANGES.items()])
offsets = st.one_of(st.integers(-100, 100), st.integers(-3 * 24 * 60, 3 * 24 * 60)).map(
    lambda minutes: timedelta(minutes=minutes, seconds=minutes % 2)
)
gaps, folds = st.sampled_from(Gap), st.sampled_from(Fold)


def every_minute(rule: Rule, cron: Cron, start: datetime, end: datetime) -> list[datetime]:
    """The instants in [start, end) at which ``cron`` runs, by looking at what the clocks show each minute."""
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
    """Where the times that the clocks jump over go: on by the length of the jump."""
    found = []
    for number in range((end - start) // MINUTE):
        before, after = ((start + (number + n) * MINUTE).astimezone(zone) for n in (-1, 0))
        jump = after.replace(tzinfo=None) - before.replace(tzinfo=None) - MINUTE
        for missing in range(max(jump // MINUTE, 0)):
            if rule.matches(before.replace(tzinfo=None) + (missing + 1) * MINUTE):
                found.append(after.astimezone(UTC) + missing * MINUTE)
    return [instant for instant in found if instant < end]


def around(change: datetime) -> tuple[datetime, datetime]:
    return change.replace(tzinfo=UTC) - timedelta(hours=26), change.replace(tzinfo=UTC) + timedelta(hours=26)


def until(cron: Cron, after: datetime, end: datetime) -> list[Occurrence]:
    real = (found for found in cron.occurrences(after) if found.at is not None)
    return list(takewhile(lambda found: found.at < end, real))


@settings(max_examples=50, deadline=None)
@given(rules, moments, gaps, folds)
def test_the_runs_are_those_that_looking_at_every_minute_finds(rule, moment, gap, fold):
    zone, change = moment
    start, end = around(change)
    cron = Cron.parse(rule.expression, zone, gap, fold)
    found = [occurrence.at for occurrence in until(cron, start - MINUTE, end)]
    assert found == every_minute(rule, cron, start, end)


@settings(max_examples=50, deadline=None)
@given(rules, moments, gaps, folds, offsets)
def test_no_run_is_lost_whatever_instant_the_search_starts_from(rule, moment, gap, fold, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, gap, fold)
    change = change.replace(tzinfo=UTC)
    after = change + offset
    from_afar = until(cron, change - 4 * DAY, change + 4 * DAY)
    assert until(cron, after, change + 4 * DAY) == [found for found in from_afar if found.at > after]


@settings(max_examples=50, deadline=None)
@given(rules, moments, gaps, folds, offsets)
def test_runs_strictly_increase_and_match_the_clock_unless_shifted(rule, moment, gap, fold, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, gap, fold)
    after = change.replace(tzinfo=UTC) + offset
    found = until(cron, after, after + 3 * DAY)
    assert all(earlier.at < later.at for earlier, later in pairwise(found))
    for occurrence in found:
        assert rule.matches(occurrence.local)
        shows = occurrence.at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        assert (shows == occurrence.local) is (occurrence.oddity is not Oddity.SHIFTED)


@settings(max_examples=60, deadline=None)
@given(rules, moments, gaps, folds, offsets)
def test_previous_and_next_are_each_others_inverse(rule, moment, gap, fold, offset):
    zone, change = moment
    cron = Cron.parse(rule.expression, zone, gap, fold)
    instant = change.replace(tzinfo=UTC) + offset
    following = cron.next_after(instant)
    previous = cron.previous_before(instant)
    assert previous < instant < following
    assert cron.next_after(previous) >= instant
    assert cron.previous_before(following) <= instant
    assert cron.next_after(cron.previous_before(following)) == following
    assert cron.previous_before(cron.next_after(previous)) == previous


@settings(max_examples=30, deadline=None)
@given(rules, moments, folds)
def test_skipping_lists_each_missing_time_that_shifting_moves(rule, moment, fold):
    zone, change = moment
    start, end = around(change)
    cron = Cron.parse(rule.expression, zone, "skip", fold)
    listed = takewhile(lambda found: found.at is None or found.at < end, cron.occurrences(start))
    skipped = [found.local for found in listed if found.at is None]
    assert len(skipped) == len(shifted(rule, ZoneInfo(zone), start, end))
    assert skipped == sorted(skipped)
