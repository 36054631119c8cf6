"""Skipped dates: when a schedule does not run, and whether its runs move to the next business day.

All times in this module are naive wall-clock times. A date is the date that the schedule names in its own time zone, so
a run that a clock change shifts past midnight still belongs to its original date.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import cached_property
from heapq import merge
from itertools import groupby, takewhile
from typing import Any, ClassVar, Protocol

from punctual.domain.errors import Invalid
from punctual.domain.schedules.cron_expression import HORIZON_YEARS
from punctual.domain.schedules.named_calendars import WEEKENDS, Calendars, dates_of
from punctual.domain.suggestion import one_of

MAX_SKIPPED_DATES = 1000

_DAY, _RESOLUTION = timedelta(days=1), datetime.resolution


class OnSkip(StrEnum):
    """The policy for runs on a skipped date."""

    SKIP = "skip"
    """Do not run. The default."""
    NEXT_BUSINESS_DAY = "next_business_day"
    """Run at the same local time on the next date that is not skipped. Runs at the same time become one run."""


class Matches(Protocol):
    """The wall times of a schedule without its skipped dates: the ``base`` of the methods of ``Skip``."""

    has_same_times: ClassVar[bool]
    """Whether all dates with a match have the same times of day."""

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        """The matches later than ``wall``, ascending."""

    def match_before(self, wall: datetime) -> datetime | None:
        """The last match before ``wall``; None if there is none."""


@dataclass(frozen=True)
class Skip:
    """The skipped dates of a schedule. Parse user input with ``parse_skip``; the constructor does not validate."""

    entries: tuple[str, ...]
    """As submitted: dates and names of calendars."""
    dates: frozenset[date]
    """The dates that the entries stood for at submission, except weekends."""
    on_skip: OnSkip = OnSkip.SKIP

    def to_spec(self) -> dict[str, Any]:
        """The API's representation."""
        return {"skip": list(self.entries), "on_skip": self.on_skip.value}

    def to_stored(self) -> dict[str, Any]:
        """The stored representation; the inverse of ``from_stored``."""
        return {**self.to_spec(), "dates": sorted(day.isoformat() for day in self.dates)}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Skip:
        dates = frozenset(map(date.fromisoformat, stored["dates"]))
        return cls(tuple(stored["skip"]), dates, OnSkip(stored["on_skip"]))

    @property
    def moves_runs(self) -> bool:
        return self.on_skip is OnSkip.NEXT_BUSINESS_DAY

    def covers(self, day: date) -> bool:
        """Whether ``day`` is skipped."""
        return day in self.dates or (day.weekday() >= 5 and self._covers_weekends)

    def next_open(self, day: date) -> date:
        """The first date from ``day`` on that is not skipped."""
        while self.covers(day):
            day += _DAY
        return day

    def longest_closure(self) -> tuple[date, date] | None:
        """The longest sequence of skipped dates: its first date, and the first date after it.

        None if only weekends are skipped.
        """
        firsts = {self._first_of_closure(day) for day in self.dates if day - _DAY not in self.dates}
        return max(((day, self.next_open(day)) for day in firsts), key=lambda run: run[1] - run[0], default=None)

    def walls_after(self, wall: datetime, base: Matches) -> Iterator[datetime]:
        """The times at which the schedule runs after ``wall``: ascending, without duplicates, up to the horizon."""
        find = self._moved_after if self.moves_runs else self._kept_after
        horizon = wall.year + HORIZON_YEARS
        return takewhile(lambda found: found.year <= horizon, find(wall, base, horizon))

    def wall_before(self, wall: datetime, base: Matches) -> datetime | None:
        """The last time at which the schedule runs before ``wall``; None if there is none within the horizon."""
        horizon = wall.year - HORIZON_YEARS
        found = self._moved_before(wall, base) if self.moves_runs else self._kept_before(wall, base, horizon)
        return found if found is not None and found.year >= horizon else None

    def excluded_times(self, since: datetime, until: datetime, base: Matches) -> Iterator[datetime]:
        """The first match on each skipped date between ``since`` and ``until`` (exclusive)."""
        match = next(base.matches_after(since), None)
        while match is not None and match < until:
            day = match.date()
            if self.covers(day):
                yield match
                match = _first_match(base, day + _DAY)
            else:
                covered = self._next_covered(day)
                match = None if covered is None else _first_match(base, covered)

    def intended_times(self, wall: datetime, base: Matches) -> tuple[datetime, datetime]:
        """The first and the last of the times that run at ``wall``: its own match, and matches that moved there."""
        times: list[datetime] = []
        for dates in self._sources(wall.date(), base) if self.moves_runs else ():
            first, last = (datetime.combine(day, wall.time()) for day in dates)
            if next(base.matches_after(first - _RESOLUTION), None) == first:
                times += [first, last]
        return (min(times), max(times)) if times else (wall, wall)

    def _kept_after(self, wall: datetime, base: Matches, horizon: int) -> Iterator[datetime]:
        matches = base.matches_after(wall)
        while (found := next(matches, None)) is not None and found.year <= horizon:
            if self.covers(found.date()):  # jump over the whole date: it may have thousands of matches
                matches = base.matches_after(_midnight(self.next_open(found.date())) - _RESOLUTION)
            else:
                yield found

    def _moved_after(self, wall: datetime, base: Matches, horizon: int) -> Iterator[datetime]:
        day = self.next_open(wall.date())
        while day.year <= horizon:
            yield from self._times_on(day, wall, base)
            match = _first_match(base, day + _DAY)
            if match is None:
                return
            day = self.next_open(match.date())

    def _times_on(self, day: date, wall: datetime, base: Matches) -> Iterator[datetime]:
        """The times after ``wall`` on ``day``: its own matches, and matches that moved there."""
        start = max(wall, _midnight(day) - _RESOLUTION)
        sources = (source for source, _ in self._sources(day, base))
        return (found for found, _ in groupby(merge(*(_moved(source, day, start, base) for source in sources))))

    def _sources(self, day: date, base: Matches) -> Collection[tuple[date, date]]:
        """The dates whose matches run on ``day``: itself, and the skipped dates directly before it.

        Dates with the same times of day become one pair, of the first and the last of them. The time of the first match
        on a date determines the others, so the cost does not grow with the number of matches.
        """
        end = _midnight(day + _DAY)
        pairs: dict[time, tuple[date, date]] = {}
        match = _first_match(base, self._first_of_closure(day))
        while match is not None and match < end:
            last = (base.match_before(end) or match) if base.has_same_times else match
            first = pairs.get(match.time(), (match.date(), None))[0]
            pairs[match.time()] = (first, last.date())
            match = _first_match(base, last.date() + _DAY)
        return pairs.values()

    def _kept_before(self, wall: datetime, base: Matches, horizon: int) -> datetime | None:
        found = base.match_before(wall)
        while found is not None and found.year >= horizon and self.covers(found.date()):
            found = base.match_before(_midnight(self._first_of_closure(found.date())))
        return found

    def _moved_before(self, wall: datetime, base: Matches) -> datetime | None:
        day = wall.date()
        if not self.covers(day) and (found := self._last_on(day, wall, base)) is not None:
            return found
        match = base.match_before(_midnight(self._first_of_closure(day)))
        if match is None:
            return None
        day = self.next_open(match.date())
        return self._last_on(day, _midnight(day + _DAY), base)

    def _last_on(self, day: date, wall: datetime, base: Matches) -> datetime | None:
        """The last time before ``wall`` on ``day``: a match on that date, or a match that moved there."""
        found: list[datetime] = []
        for source, _ in self._sources(day, base):
            shift = _midnight(day) - _midnight(source)
            match = base.match_before(wall - shift)
            if match is not None and match.date() == source:
                found.append(match + shift)
        return max(found, default=None)

    def _first_of_closure(self, day: date) -> date:
        """The first of the skipped dates directly before ``day``, or ``day`` if there are none."""
        while self.covers(day - _DAY):
            day -= _DAY
        return day

    def _next_covered(self, day: date) -> date | None:
        """The next skipped date. ``day`` itself must not be skipped."""
        next_date = self._ordered[bisect_right(self._ordered, day) :][:1]
        weekend = (day + _DAY * (5 - day.weekday()),) if self._covers_weekends else ()
        return min((*next_date, *weekend), default=None)

    @cached_property
    def _ordered(self) -> tuple[date, ...]:
        return tuple(sorted(self.dates))

    @cached_property
    def _covers_weekends(self) -> bool:
        return WEEKENDS in self.entries


def _first_match(base: Matches, day: date) -> datetime | None:
    """The first match on ``day`` or later."""
    return next(base.matches_after(_midnight(day) - _RESOLUTION), None)


def _moved(source: date, day: date, wall: datetime, base: Matches) -> Iterator[datetime]:
    """The matches on the date ``source``, moved to ``day``, that are later than ``wall``."""
    shift, end = _midnight(day) - _midnight(source), _midnight(source + _DAY)
    return (match + shift for match in takewhile(lambda match: match < end, base.matches_after(wall - shift)))


def parse_skip(entries: object, on_skip: object, calendars: Callable[[], Calendars] = Calendars) -> Skip | None:
    """Parse the API's representation. ``calendars`` returns the declared calendars.

    Raises ``Invalid``, naming the field.
    """
    if entries is None:
        if on_skip is not None:
            remedy = "name dates or calendars in schedule.skip, or omit it"
            raise Invalid("schedule.on_skip", f"requires schedule.skip: {remedy}")
        return None
    if not isinstance(entries, list | tuple) or not entries:
        raise Invalid("schedule.skip", 'must be a non-empty list, such as ["weekends", "2026-12-25"]')
    dates = frozenset(
        day for number, entry in enumerate(entries) for day in dates_of(f"schedule.skip.{number}", entry, calendars)
    )
    if len(dates) > MAX_SKIPPED_DATES:
        raise Invalid(
            "schedule.skip", f"has {len(dates):,} dates; the limit is {MAX_SKIPPED_DATES:,}: remove past dates"
        )
    return Skip(tuple(dict.fromkeys(entries)), dates, _policy(on_skip))


def _policy(value: object) -> OnSkip:
    try:
        return OnSkip.SKIP if value is None else OnSkip(value)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid("schedule.on_skip", f"{str(value)[:64]!r} is not one of {one_of(OnSkip, value)}") from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())
