"""Cron, evaluated on the wall clock of a time zone and mapped to instants under stated policies.

An expression has five fields: minute, hour, day of month, month, day of week. Each takes numbers, names
(``JAN``, ``MON``), ranges that may wrap (``FRI-MON``), steps and lists. Sunday is 0 or 7. ``L`` is the last
day of the month, ``L5`` or ``5L`` its last Friday, ``2#3`` its third Tuesday. ``@hourly``, ``@daily``,
``@midnight``, ``@weekly``, ``@monthly``, ``@yearly`` and ``@annually`` are short for the usual five fields.
When day of month and day of week are both restricted (anything but ``*``), either one is enough.

Where the clocks change, wall time and real time part, and two policies say what runs: ``Gap`` and ``Fold``.
They hold for every wall time alike, so a schedule of every five minutes pauses in the second pass of a
repeated hour unless it says ``fold: both``. A shifted run that falls on a regular one is one run, not two.

croniter only ever sees naive wall-clock times, and only expressions that ``_patterns`` has spelt out: left
alone it reads ``5-5`` as "all", fails on ``2#3`` with a day of month, and guesses at changes of the clocks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from heapq import heappop, heappush, merge
from itertools import groupby, takewhile
from typing import Any, ClassVar, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from punctual.domain.errors import Invalid

HORIZON_YEARS = 50  # the rarest date there is, a fifth weekday of February, comes back within 40
LONGEST_EXPRESSION = 500
_YEARS = range(1850, 9900)  # beyond, arithmetic on dates overflows
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Gap(StrEnum):
    """What becomes of a local time that does not exist, because the clocks jumped over it."""

    SHIFT = "shift"
    """It runs later by the length of the gap: 02:30 at what the clocks call 03:30. The default."""
    SKIP = "skip"
    """It does not run."""


class Fold(StrEnum):
    """When to run at a local time that happens twice, because the clocks were set back."""

    FIRST = "first"
    """The first time only. The default."""
    LAST = "last"
    """The second time only."""
    BOTH = "both"
    """Both times: what a schedule of every few minutes wants."""


class Oddity(StrEnum):
    """Why an occurrence deserves a second look."""

    SHIFTED = "shifted"
    """Its local time does not exist; it runs later by the length of the gap."""
    SKIPPED = "skipped"
    """Its local time does not exist; it does not run."""
    REPEATED = "repeated"
    """Its local time happens twice; the policy chose this one, or both."""


@dataclass(frozen=True)
class Occurrence:
    """One match of a schedule: the wall time it names, and the instant it runs at, if it does."""

    local: datetime
    at: datetime | None
    oddity: Oddity | None = None


_Policy = TypeVar("_Policy", Gap, Fold)
_Waiting = tuple[datetime, bool, datetime, Occurrence]


@dataclass(frozen=True)
class Cron:
    """A cron expression in a time zone. Build one from outside with ``parse``; the constructor trusts."""

    expression: str
    timezone: str = "UTC"
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST

    kind: ClassVar[str] = "cron"
    recurring: ClassVar[bool] = True

    @classmethod
    def parse(cls, expression: str, timezone: str = "UTC", gap: str = "shift", fold: str = "first") -> Cron:
        """Raises ``Invalid``, naming the field, for what cannot be read or would never happen."""
        if not isinstance(expression, str):
            raise Invalid("schedule.cron", 'must be text, such as "0 2 * * SUN"')
        tidy = " ".join(expression.split())
        _patterns(tidy)
        _check_zone(timezone)
        return cls(tidy, timezone, _choice(Gap, gap, "gap"), _choice(Fold, fold, "fold"))

    def to_spec(self) -> dict[str, Any]:
        """As the API takes and shows it."""
        return {
            "cron": self.expression,
            "timezone": self.timezone,
            "gap": self.gap.value,
            "fold": self.fold.value,
        }

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.to_spec()}

    def next_after(self, instant: datetime) -> datetime | None:
        """The first run strictly after ``instant``; None when there is none within the horizon."""
        return next((found.at for found in self.occurrences(instant) if found.at is not None), None)

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last run strictly before ``instant``; None when there is none within the horizon."""
        if instant.year not in _YEARS:
            return None
        zone = ZoneInfo(self.timezone)
        latest = instant.astimezone(zone).replace(tzinfo=None)
        back, wall = _HOUR, self._wall_before(latest)
        while wall is not None and wall.year >= latest.year - HORIZON_YEARS:
            # Going forward misses nothing, whatever the clocks did: only where to start is a guess.
            start = min(_readings(wall, zone)) - datetime.resolution
            passed = takewhile(
                lambda found: found.local <= latest if found.at is None else found.at < instant,
                self.occurrences(start),
            )
            runs = deque((found.at for found in passed if found.at is not None), maxlen=1)
            if runs:
                return runs[0]
            back, wall = back * 2, self._wall_before(min(wall, latest - back))
        return None

    def occurrences(self, after: datetime) -> Iterator[Occurrence]:
        """All that run later than ``after``, by instant, each instant once; the skipped ones in their place.

        Nothing is lost or repeated when ``after`` is inside a gap or a fold. Ends with the horizon.
        """
        if after.year not in _YEARS:
            return
        wall = after.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)
        last = after
        for occurrence in self._by_instant(after):
            if occurrence.local.year > after.year + HORIZON_YEARS:
                return
            if occurrence.at is None and occurrence.local > wall:
                yield occurrence
            elif occurrence.at is not None and occurrence.at > last:
                last = occurrence.at
                yield occurrence

    def _by_instant(self, after: datetime) -> Iterator[Occurrence]:
        """Matches come by the wall clock: each waits here until no later match can precede its instant."""
        zone = ZoneInfo(self.timezone)
        waiting: list[_Waiting] = []
        for local in self._walls_after(_earliest_wall(after, zone)):
            for found in self._placed(local, zone):
                if found.at is None:
                    yield from _drained(waiting)
                    yield found
                else:  # at the same instant the regular one comes first, so that it is the one that stays
                    heappush(waiting, (found.at, found.oddity is Oddity.SHIFTED, local, found))
            yield from _drained(waiting, before=min(_readings(local + _MINUTE, zone)))
        yield from _drained(waiting)

    def _placed(self, local: datetime, zone: ZoneInfo) -> Iterator[Occurrence]:
        """The occurrences that a wall time stands for, under the policies."""
        first, second = _readings(local, zone)
        if first == second:
            yield Occurrence(local, first)
        elif first > second and self.gap is Gap.SKIP:
            yield Occurrence(local, None, Oddity.SKIPPED)
        elif first > second:
            yield Occurrence(local, first, Oddity.SHIFTED)
        else:
            if self.fold is not Fold.LAST:
                yield Occurrence(local, first, Oddity.REPEATED)
            if self.fold is not Fold.FIRST:
                yield Occurrence(local, second, Oddity.REPEATED)

    def _walls_after(self, wall: datetime) -> Iterator[datetime]:
        matches = merge(*(_matches_after(pattern, wall) for pattern in _patterns(self.expression)))
        return (match for match, _ in groupby(matches))

    def _wall_before(self, wall: datetime) -> datetime | None:
        matches = (_match_before(pattern, wall) for pattern in _patterns(self.expression))
        return max((match for match in matches if match is not None), default=None)


# -- wall time and instants ----------------------------------------------------------------------------------


def _readings(local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The instant of a wall time by the offset before and by the offset after a change of the clocks.

    Equal on an ordinary time. The second is later for a time that happens twice, earlier for one in a gap.
    """
    before, after = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return before, after


def _earliest_wall(after: datetime, zone: ZoneInfo) -> datetime:
    """The wall time up to which, inclusive, no wall time can still mean an instant later than ``after``.

    That is the time on the wall, unless the clocks are about to go back or have just jumped forward: then a
    second pass, or shifted times, are still to come from before it.
    """
    offset = lowest = _offset(after, zone)
    for direction in (-1, 1):
        change = offset - _offset(after + direction * _DAY, zone)
        if change > timedelta(0):
            lowest = min(lowest, _offset(after + direction * change, zone))
    return after.astimezone(UTC).replace(tzinfo=None) + lowest


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)


def _drained(waiting: list[_Waiting], before: datetime | None = None) -> Iterator[Occurrence]:
    while waiting and (before is None or waiting[0][0] < before):
        yield heappop(waiting)[-1]


# -- croniter ------------------------------------------------------------------------------------------------


def _matches_after(pattern: str, wall: datetime) -> Iterator[datetime]:
    matcher = copy(_matcher(pattern))
    try:
        matcher.set_current(wall)
        while True:
            yield matcher.get_next(datetime)
    except (ValueError, OverflowError):  # no match within the horizon, or the end of the calendar
        return


def _match_before(pattern: str, wall: datetime) -> datetime | None:
    try:
        found: datetime = copy(_matcher(pattern)).get_prev(datetime, start_time=wall)
    except (ValueError, OverflowError):
        return None
    return found


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> Any:
    """Parsed once, and copied for each use because it carries its position."""
    from croniter import croniter  # slow to import, and reading a schedule does without

    return croniter(pattern, 0.0, max_years_between_matches=HORIZON_YEARS)


# -- the expression ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def refused(self, item: str) -> Invalid:
        hint = f"use numbers from {self.low} to {self.high}"
        if self.names:
            hint += f" or names from {self.names[0]} to {self.names[-1]}"
        if item[:1] in ("H", "R"):
            hint = "hashed (H) and random (R) values are not supported, write the number you want"
        if item == "?":
            hint = "write * for any"
        return Invalid("schedule.cron", f"{item!r} does not work as {self.name}: {hint}")


_MONTH_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTH_NAMES),
    _Field("day of week", 0, 6, ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")),
)
_MINUTES, _HOURS, _DAYS, _MONTHS, _WEEKDAYS = _FIELDS
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHORTHANDS = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}
_ANY = ("*", "*/1")
_ITEM = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,3}))?", re.ASCII)
_NTH_WEEKDAY = re.compile(r"(?P<day>\w+)#(?P<nth>[1-5])", re.ASCII)
_LAST_WEEKDAY = re.compile(r"L(?P<after>[0-7]|[A-Z]{3})|(?P<before>[0-7]|[A-Z]{3})L", re.ASCII)


@lru_cache(maxsize=1024)
def _patterns(expression: str) -> tuple[str, ...]:
    """Plain expressions for croniter, whose union is ``expression``. Raises ``Invalid``."""
    minute, hour, day, month, weekday = _five_fields(expression)
    minutes, hours = _text(_MINUTES, _values(_MINUTES, minute)), _text(_HOURS, _values(_HOURS, hour))
    months = _values(_MONTHS, month)
    rules = [(days, "*") for days in _days_of_month(day, months)]
    rules += [("*", weekdays) for weekdays in _days_of_week(weekday)]
    if day in _ANY and weekday in _ANY:
        rules = [("*", "*")]
    if not rules:
        raise Invalid("schedule.cron", f"never happens: no such month has day {day}; L is a month's last day")
    return tuple(f"{minutes} {hours} {days} {_text(_MONTHS, months)} {weekdays}" for days, weekdays in rules)


def _five_fields(expression: str) -> list[str]:
    text = expression.upper()
    if len(text) > LONGEST_EXPRESSION:
        raise Invalid("schedule.cron", f"is {len(text)} characters long; the limit is {LONGEST_EXPRESSION}")
    if text.startswith("@") and text not in _SHORTHANDS:
        raise Invalid("schedule.cron", f"{expression!r} is not one of {', '.join(_SHORTHANDS).lower()}")
    fields = _SHORTHANDS.get(text, text).split()
    if len(fields) != len(_FIELDS):
        wanted = ", ".join(field.name for field in _FIELDS)
        hint = "there are no seconds and no years" if len(fields) > len(_FIELDS) else 'such as "0 2 * * SUN"'
        raise Invalid("schedule.cron", f"has {len(fields)} fields, not the five of cron: {wanted}; {hint}")
    return fields


def _days_of_month(text: str, months: set[int]) -> list[str]:
    """What to ask of the day of month; nothing when any day will do or none ever comes."""
    if text in _ANY:
        return []
    plain = [item for item in text.split(",") if item != "L"]
    days = _values(_DAYS, ",".join(plain)) if plain else set()
    if len(plain) < len(text.split(",")):
        return [",".join([*map(str, sorted(days)), "L"])]
    return [_text(_DAYS, days)] if min(days) <= max(_LONGEST_MONTHS[month - 1] for month in months) else []


def _days_of_week(text: str) -> list[str]:
    """What to ask of the day of week: plain days and counted ones apart, as croniter cannot mix them."""
    if text in _ANY:
        return []
    counted = {item: token for item in text.split(",") if (token := _counted_weekday(item))}
    plain = ",".join(item for item in text.split(",") if item not in counted)
    rules = [_text(_WEEKDAYS, _values(_WEEKDAYS, plain))] if plain else []
    return rules + ([",".join(counted.values())] if counted else [])


def _counted_weekday(item: str) -> str | None:
    """``2#3`` for the third Tuesday of a month, ``L5`` for its last Friday."""
    if match := _NTH_WEEKDAY.fullmatch(item):
        return f"{_number(_WEEKDAYS, match['day']) % 7}#{match['nth']}"
    if match := _LAST_WEEKDAY.fullmatch(item):
        return f"L{_number(_WEEKDAYS, match['after'] or match['before']) % 7}"
    return None


def _values(field: _Field, text: str) -> set[int]:
    return {value for item in text.split(",") for value in _item_values(field, item)}


def _item_values(field: _Field, item: str) -> Iterator[int]:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise field.refused(item)
    first, last, step = match["first"], match["last"], int(match["step"] or 1)
    if not 1 <= step <= field.size:
        hint = "for an interval across its end there is every_seconds"
        raise Invalid("schedule.cron", f"{item!r}: a step of {field.name} is 1 to {field.size}; {hint}")
    low = field.low if first is None else _number(field, first)
    high = field.high if first is None or (match["step"] and not last) else _number(field, last or first)
    span = high - low if high >= low else high - low + field.size
    return ((low - field.low + offset) % field.size + field.low for offset in range(0, span + 1, step))


def _number(field: _Field, text: str) -> int:
    if text in field.names:
        return field.low + field.names.index(text)
    highest = 7 if field is _WEEKDAYS else field.high
    if not text.isdigit() or not field.low <= int(text) <= highest:
        raise field.refused(text)
    return int(text)


def _text(field: _Field, values: set[int]) -> str:
    return "*" if len(values) == field.size else ",".join(map(str, sorted(values)))


# -- the other fields ----------------------------------------------------------------------------------------


def _check_zone(name: str) -> None:
    if not isinstance(name, str):
        raise Invalid("schedule.timezone", 'must be text, such as "Europe/Berlin"')
    try:
        known = bool(name) and not name.startswith(("posix", "right/", "local", "Factory")) and ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        known = False
    if not known:
        raise Invalid("schedule.timezone", f"{name[:64]!r} is not an IANA time zone{_suggestion(name[:64])}")


def _suggestion(name: str) -> str:
    from difflib import get_close_matches  # only ever needed to explain a mistake

    zones = {spelling.casefold(): zone for zone in _zones() for spelling in (zone.rpartition("/")[2], zone)}
    close = get_close_matches(name.replace(" ", "_").casefold(), zones, n=1, cutoff=0.7)
    return f"; did you mean {zones[close[0]]!r}?" if close else ': use a name such as "Europe/Berlin"'


@lru_cache(maxsize=1)
def _zones() -> list[str]:
    return sorted(available_timezones())


def _choice(policy: type[_Policy], value: str, name: str) -> _Policy:
    try:
        return policy(value)
    except ValueError:
        raise Invalid(f"schedule.{name}", f"{value!r} is not one of {', '.join(policy)}") from None
