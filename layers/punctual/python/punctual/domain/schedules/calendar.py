"""Skipped dates: when a schedule does not run, and whether its runs move to the next business day.

All times in this module are naive wall-clock times. A date is the date that the schedule names in its own time zone, so
a run that a clock change shifts past midnight still belongs to its original date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from itertools import takewhile
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.instant import YEARS
from punctual.domain.schedules.cron_expression import HORIZON_YEARS

WEEKENDS = "weekends"
"""The built-in calendar: Saturdays and Sundays."""
MAX_SKIPPED_DATES = 1000

Calendars = Mapping[str, Collection[date]]
MatchesAfter = Callable[[datetime], Iterator[datetime]]
MatchBefore = Callable[[datetime], datetime | None]

_DAY, _RESOLUTION = timedelta(days=1), datetime.resolution
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class OnSkip(StrEnum):
    """The policy for runs on a skipped date."""

    SKIP = "skip"
    """Do not run. The default."""
    NEXT_BUSINESS_DAY = "next_business_day"
    """Run at the same local time on the next date that is not skipped. Runs at the same time become one run."""


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
        return day in self.dates or (day.weekday() >= 5 and WEEKENDS in self.entries)

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

    # In the methods below, ``after`` and ``before`` find the matches of the schedule without skipped dates.

    def walls_after(self, wall: datetime, after: MatchesAfter) -> Iterator[datetime]:
        """The times at which the schedule runs after ``wall``: ascending, without duplicates, up to the horizon."""
        find = self._moved_after if self.moves_runs else self._kept_after
        horizon = wall.year + HORIZON_YEARS
        return takewhile(lambda found: found.year <= horizon, find(wall, after, horizon))

    def wall_before(self, wall: datetime, before: MatchBefore) -> datetime | None:
        """The last time at which the schedule runs before ``wall``; None if there is none within the horizon."""
        horizon = wall.year - HORIZON_YEARS
        found = self._moved_before(wall, before) if self.moves_runs else self._kept_before(wall, before, horizon)
        return found if found is not None and found.year >= horizon else None

    def excluded_times(self, since: datetime, until: datetime, after: MatchesAfter) -> Iterator[datetime]:
        """The first match on each skipped date between ``since`` and ``until`` (exclusive)."""
        match = next(after(since), None)
        while match is not None and match < until:
            day = match.date()
            if self.covers(day):
                yield match
                match = next(after(_midnight(day + _DAY) - _RESOLUTION), None)
            else:
                covered = min(self._next_covered(day), default=None)
                match = None if covered is None else next(after(_midnight(covered) - _RESOLUTION), None)

    def intended_times(self, wall: datetime, after: MatchesAfter) -> tuple[datetime, datetime]:
        """The first and the last of the times that run at ``wall``: its own match, and matches that moved there."""
        sources = self._sources(wall, after) if self.moves_runs else ()
        times = [match for match, shift in sources if match + shift == wall]
        return (min(times), max(times)) if times else (wall, wall)

    def _kept_after(self, wall: datetime, after: MatchesAfter, horizon: int) -> Iterator[datetime]:
        matches = after(wall)
        while (found := next(matches, None)) is not None and found.year <= horizon:
            if self.covers(found.date()):  # jump over the whole date: it may have thousands of matches
                matches = after(_midnight(self.next_open(found.date())) - _RESOLUTION)
            else:
                yield found

    def _moved_after(self, wall: datetime, after: MatchesAfter, horizon: int) -> Iterator[datetime]:
        day = self.next_open(wall.date())
        wall = max(wall, _midnight(day) - _RESOLUTION)
        while day.year <= horizon:
            while (found := self._next_on(day, wall, after)) is not None:
                yield found
                wall = found
            match = next(after(_midnight(day + _DAY) - _RESOLUTION), None)
            if match is None:
                return
            day = self.next_open(match.date())
            wall = _midnight(day) - _RESOLUTION

    def _next_on(self, day: date, wall: datetime, after: MatchesAfter) -> datetime | None:
        """The next time after ``wall`` on ``day``: a match on that date, or a match that moved there."""
        start = max(wall, _midnight(day) - _RESOLUTION)
        return min((match + shift for match, shift in self._sources(start + _RESOLUTION, after, day)), default=None)

    def _sources(
        self, wall: datetime, after: MatchesAfter, day: date | None = None
    ) -> Iterator[tuple[datetime, timedelta]]:
        """For ``day`` and each skipped date directly before it: the first match from that time on, and its shift.

        ``day`` defaults to the date of ``wall``.
        """
        day = day or wall.date()
        source = day
        while source == day or self.covers(source):
            shift = _midnight(day) - _midnight(source)
            match = next(after(wall - shift - _RESOLUTION), None)
            if match is not None and match.date() == source:
                yield match, shift
            source -= _DAY

    def _kept_before(self, wall: datetime, before: MatchBefore, horizon: int) -> datetime | None:
        found = before(wall)
        while found is not None and found.year >= horizon and self.covers(found.date()):
            found = before(_midnight(self._first_of_closure(found.date())))
        return found

    def _moved_before(self, wall: datetime, before: MatchBefore) -> datetime | None:
        day = wall.date()
        if not self.covers(day) and (found := self._last_on(day, wall, before)) is not None:
            return found
        match = before(_midnight(self._first_of_closure(day)))
        if match is None:
            return None
        day = self.next_open(match.date())
        return self._last_on(day, _midnight(day + _DAY), before)

    def _last_on(self, day: date, wall: datetime, before: MatchBefore) -> datetime | None:
        """The last time before ``wall`` on ``day``: a match on that date, or a match that moved there."""
        found: list[datetime] = []
        source = day
        while source == day or self.covers(source):
            shift = _midnight(day) - _midnight(source)
            match = before(wall - shift)
            if match is not None and match.date() == source:
                found.append(match + shift)
            source -= _DAY
        return max(found, default=None)

    def _first_of_closure(self, day: date) -> date:
        """The first of the skipped dates directly before ``day``, or ``day`` if there are none."""
        while self.covers(day - _DAY):
            day -= _DAY
        return day

    def _next_covered(self, day: date) -> Iterator[date]:
        """Skipped dates after ``day``, in any order and including the next. ``day`` itself must not be skipped."""
        if WEEKENDS in self.entries:
            yield day + _DAY * (5 - day.weekday())
        yield from (skipped for skipped in self.dates if skipped > day)


def parse_skip(entries: object, on_skip: object, calendars: Callable[[], Calendars] = dict) -> Skip | None:
    """Parse the API's representation. ``calendars`` returns the calendars by name.

    Raises ``Invalid``, naming the field.
    """
    if entries is None:
        if on_skip is not None:
            remedy = "name dates or calendars in schedule.skip, or omit it"
            raise Invalid("schedule.on_skip", f"requires schedule.skip: {remedy}")
        return None
    if not isinstance(entries, list | tuple) or not entries:
        raise Invalid("schedule.skip", 'must be a non-empty list, such as ["weekends", "2026-12-25"]')
    dates = frozenset(day for number, entry in enumerate(entries) for day in _dates_of(number, entry, calendars))
    if len(dates) > MAX_SKIPPED_DATES:
        raise Invalid(
            "schedule.skip", f"has {len(dates):,} dates; the limit is {MAX_SKIPPED_DATES:,}: remove past dates"
        )
    return Skip(tuple(dict.fromkeys(entries)), dates, _policy(on_skip))


def check_calendar(name: str, dates: Iterable[str]) -> frozenset[date]:
    """Parse the dates of a declared calendar. Raises ``ValueError`` for an invalid name or date."""
    if not re.fullmatch(r"[a-z][a-z0-9._-]{0,63}", name):
        raise ValueError(
            f"{name!r} is not a valid calendar name: use lower-case letters, digits, '.', '_' and '-', a letter first"
        )
    if name == WEEKENDS:
        raise ValueError(f"{name!r} is the name of a built-in calendar: use another name")
    wrong = [text for text in dates if _read_date(text) is None]
    if wrong:
        raise ValueError(f"{wrong[0]!r} in the calendar {name!r} is not a date: write it like 2026-12-25")
    return frozenset(day for text in dates if (day := _read_date(text)) is not None)


def _dates_of(number: int, entry: object, calendars: Callable[[], Calendars]) -> Collection[date]:
    field = f"schedule.skip.{number}"
    if not isinstance(entry, str):
        raise Invalid(field, 'must be text: a date such as "2026-12-25", or the name of a calendar')
    if entry == WEEKENDS:
        return ()
    if entry[:1].isdigit():
        day = _read_date(entry)
        if day is None:
            span = f"from {YEARS.start} to {YEARS.stop - 1}"
            raise Invalid(field, f"{entry[:64]!r} is not a date {span}: write it like 2026-12-25")
        return (day,)
    known = calendars()
    if entry not in known:
        names = ", ".join([WEEKENDS, *sorted(known)])
        raise Invalid(field, f"there is no calendar {entry[:64]!r}; use one of {names}, or a date such as 2026-12-25")
    return known[entry]


def _read_date(text: object) -> date | None:
    try:
        day = date.fromisoformat(text) if isinstance(text, str) and _DATE.fullmatch(text) else None
    except ValueError:
        return None
    return day if day is not None and day.year in YEARS else None


def _policy(value: object) -> OnSkip:
    try:
        return OnSkip.SKIP if value is None else OnSkip(value)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid("schedule.on_skip", f"{str(value)[:64]!r} is not one of {', '.join(OnSkip)}") from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())
