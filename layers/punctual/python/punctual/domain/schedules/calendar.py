"""Dates on which a schedule does not run, and what becomes of what would have been due on them.

Everything here is about naive wall-clock times: a date is the one that the schedule itself names, on the calendar of
its time zone. So a run that the clocks shift over midnight counts for the date that it was meant for.
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
"""The calendar that is always there: Saturdays and Sundays."""
MOST_DATES = 1000

Calendars = Mapping[str, Collection[date]]
MatchesAfter = Callable[[datetime], Iterator[datetime]]
MatchBefore = Callable[[datetime], datetime | None]

_DAY, _MOMENT = timedelta(days=1), datetime.resolution
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class OnSkip(StrEnum):
    """What becomes of a time on a date that is skipped."""

    SKIP = "skip"
    """It does not run. The default."""
    NEXT_BUSINESS_DAY = "next_business_day"
    """It runs at the same local time on the next date that is not skipped, together with what is due there anyway."""


@dataclass(frozen=True)
class Skip:
    """The dates that are skipped. Build one from outside with ``parse_skip``; the constructor trusts."""

    named: tuple[str, ...]
    """As a person wrote them: dates, and names of calendars."""
    dates: frozenset[date]
    """What they stood for when they were read, but for the weekends."""
    on_skip: OnSkip = OnSkip.SKIP

    def to_spec(self) -> dict[str, Any]:
        return {"skip": list(self.named), "on_skip": self.on_skip.value}

    def to_stored(self) -> dict[str, Any]:
        return {**self.to_spec(), "dates": sorted(day.isoformat() for day in self.dates)}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Skip:
        dates = frozenset(map(date.fromisoformat, stored["dates"]))
        return cls(tuple(stored["skip"]), dates, OnSkip(stored["on_skip"]))

    @property
    def moves(self) -> bool:
        return self.on_skip is OnSkip.NEXT_BUSINESS_DAY

    def covers(self, day: date) -> bool:
        return day in self.dates or (day.weekday() >= 5 and WEEKENDS in self.named)

    def next_open(self, day: date) -> date:
        """The first date from ``day`` on that is not skipped."""
        while self.covers(day):
            day += _DAY
        return day

    def longest_closure(self) -> tuple[date, date] | None:
        """The longest run of skipped dates: its first, and the first after it. None when only weekends are skipped."""
        firsts = {self._first_of_closure(day) for day in self.dates if day - _DAY not in self.dates}
        return max(((day, self.next_open(day)) for day in firsts), key=lambda run: run[1] - run[0], default=None)

    # In what follows ``after`` and ``before`` find the matches of a schedule that knows nothing of skipped dates.

    def walls_after(self, wall: datetime, after: MatchesAfter) -> Iterator[datetime]:
        """The times at which it runs, later than ``wall``, in order and each once. Ends with the horizon."""
        find = self._moved_after if self.moves else self._kept_after
        horizon = wall.year + HORIZON_YEARS
        return takewhile(lambda found: found.year <= horizon, find(wall, after, horizon))

    def wall_before(self, wall: datetime, before: MatchBefore) -> datetime | None:
        """The last time at which it runs before ``wall``; None when there is none within the horizon."""
        horizon = wall.year - HORIZON_YEARS
        found = self._moved_before(wall, before) if self.moves else self._kept_before(wall, before, horizon)
        return found if found is not None and found.year >= horizon else None

    def left_out(self, since: datetime, until: datetime, after: MatchesAfter) -> Iterator[datetime]:
        """Of each date between that is skipped and would have had a run, the first time that it would have had."""
        match = next(after(since), None)
        while match is not None and match < until:
            day = match.date()
            if self.covers(day):
                yield match
                match = next(after(_midnight(day + _DAY) - _MOMENT), None)
            else:
                beyond = min(self._next_covered(day), default=None)
                match = None if beyond is None else next(after(_midnight(beyond) - _MOMENT), None)

    def meant(self, wall: datetime, after: MatchesAfter) -> tuple[datetime, datetime]:
        """The first and the last of the times that the run at ``wall`` stands for: it itself, or what moved there."""
        sources = self._sources(wall, after) if self.moves else ()
        times = [match for match, shift in sources if match + shift == wall]
        return (min(times), max(times)) if times else (wall, wall)

    def _kept_after(self, wall: datetime, after: MatchesAfter, horizon: int) -> Iterator[datetime]:
        matches = after(wall)
        while (found := next(matches, None)) is not None and found.year <= horizon:
            if self.covers(found.date()):  # not one by one: there may be thousands on a day
                matches = after(_midnight(self.next_open(found.date())) - _MOMENT)
            else:
                yield found

    def _moved_after(self, wall: datetime, after: MatchesAfter, horizon: int) -> Iterator[datetime]:
        day = self.next_open(wall.date())
        wall = max(wall, _midnight(day) - _MOMENT)
        while day.year <= horizon:
            while (found := self._next_on(day, wall, after)) is not None:
                yield found
                wall = found
            match = next(after(_midnight(day + _DAY) - _MOMENT), None)
            if match is None:
                return
            day = self.next_open(match.date())
            wall = _midnight(day) - _MOMENT

    def _next_on(self, day: date, wall: datetime, after: MatchesAfter) -> datetime | None:
        """The next time after ``wall`` on ``day``, its own or one that moved there."""
        start = max(wall, _midnight(day) - _MOMENT)
        return min((match + shift for match, shift in self._sources(start + _MOMENT, after, day)), default=None)

    def _sources(
        self, wall: datetime, after: MatchesAfter, day: date | None = None
    ) -> Iterator[tuple[datetime, timedelta]]:
        """Of ``day`` and each skipped date right before it: the first match from that time on, and how far it moves."""
        day = day or wall.date()
        source = day
        while source == day or self.covers(source):
            shift = _midnight(day) - _midnight(source)
            match = next(after(wall - shift - _MOMENT), None)
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
        """The last time before ``wall`` on ``day``, its own or one that moved there."""
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
        """``day``, or the first of the skipped dates right before it."""
        while self.covers(day - _DAY):
            day -= _DAY
        return day

    def _next_covered(self, day: date) -> Iterator[date]:
        """Dates after ``day``, which is not skipped, and among them the next that is."""
        if WEEKENDS in self.named:
            yield day + _DAY * (5 - day.weekday())
        yield from (one for one in self.dates if one > day)


def parse_skip(entries: object, on_skip: object, calendars: Callable[[], Calendars] = dict) -> Skip | None:
    """From the API's form. ``calendars`` are those that a name can mean. Raises ``Invalid`` that names the field."""
    if entries is None:
        if on_skip is not None:
            remedy = "name dates or calendars in schedule.skip, or leave it out"
            raise Invalid("schedule.on_skip", f"only goes with schedule.skip: {remedy}")
        return None
    if not isinstance(entries, list | tuple) or not entries:
        raise Invalid("schedule.skip", 'must be a list with something in it, such as ["weekends", "2026-12-25"]')
    dates = frozenset(day for number, entry in enumerate(entries) for day in _dates_of(number, entry, calendars))
    if len(dates) > MOST_DATES:
        raise Invalid(
            "schedule.skip", f"means {len(dates):,} dates; the limit is {MOST_DATES:,}: leave out the past ones"
        )
    return Skip(tuple(dict.fromkeys(entries)), dates, _policy(on_skip))


def check_calendar(name: str, dates: Iterable[str]) -> frozenset[date]:
    """The dates of a calendar that a team declares. Raises ``ValueError`` for what cannot be used."""
    if not re.fullmatch(r"[a-z][a-z0-9._-]{0,63}", name):
        raise ValueError(
            f"{name!r} cannot name a calendar: use small letters, digits, '.', '_' and '-', a letter first"
        )
    if name == WEEKENDS:
        raise ValueError(f"{name!r} is always there: take another name")
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
        there_are = ", ".join([WEEKENDS, *sorted(known)])
        raise Invalid(
            field, f"there is no calendar {entry[:64]!r}; there are: {there_are}; or write a date: 2026-12-25"
        )
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
