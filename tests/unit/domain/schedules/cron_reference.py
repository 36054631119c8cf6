"""Random cron expressions near clock changes, and their runs, found by checking every minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from punctual.domain.schedules.cron import Cron, Fold, Gap

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
