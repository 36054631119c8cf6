"""The five fields of a cron expression: parsed strictly, and expanded for croniter, which finds the matches.

All times in this module are naive wall-clock times; ``cron`` maps them to instants of a time zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import product
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.suggestion import one_of

HORIZON_YEARS = 50  # the rarest date, a given fifth weekday of February, recurs within 40
MAX_EXPRESSION_LENGTH = 500


def matches_after(pattern: str, wall: datetime) -> Iterator[datetime]:
    """The matches later than ``wall``, ascending, until there is none within the horizon."""
    matcher = copy(_matcher(pattern))
    try:
        matcher.set_current(wall)
        while True:
            yield matcher.get_next(datetime)
    except (ValueError, OverflowError):  # no match within the horizon, or the end of the calendar
        return


def match_before(pattern: str, wall: datetime) -> datetime | None:
    """The last match before ``wall``; None if there is none within the horizon."""
    try:
        found: datetime = copy(_matcher(pattern)).get_prev(datetime, start_time=wall)
    except (ValueError, OverflowError):
        return None
    return found


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> Any:
    """The parsed pattern, cached. Callers copy it, because it keeps its position."""
    from croniter import croniter  # slow to import, and not needed to parse a schedule

    # day_or=False: a pattern that restricts both day fields needs a date that matches both
    return croniter(pattern, 0.0, max_years_between_matches=HORIZON_YEARS, day_or=False)


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def invalid(self, item: str) -> Invalid:
        hint = f"use numbers from {self.low} to {self.high}"
        if self.names:
            hint += f" or names from {self.names[0]} to {self.names[-1]}"
        if item[:1] in ("H", "R"):
            hint = "hashed (H) and random (R) values are not supported, give a number"
        if item == "?":
            hint = "write * for any"
        return Invalid("schedule.cron", f"{item!r} is not a valid {self.name}: {hint}")


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
_ANY_START = datetime(2000, 1, 1)  # noqa: DTZ001 - a wall-clock time
_ITEM = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,3}))?", re.ASCII)
_NTH_WEEKDAY = re.compile(r"(?P<day>\w+)#(?P<nth>[1-5])", re.ASCII)
_LAST_WEEKDAY = re.compile(r"L(?P<after>[0-7]|[A-Z]{3})|(?P<before>[0-7]|[A-Z]{3})L", re.ASCII)


@lru_cache(maxsize=1024)
def patterns(expression: str) -> tuple[str, ...]:
    """Expand ``expression`` to plain croniter patterns, whose union it is. Raises ``Invalid``."""
    minute, hour, day, month, weekday = _five_fields(expression)
    minutes, hours = _text(_MINUTES, _values(_MINUTES, minute)), _text(_HOURS, _values(_HOURS, hour))
    months = _values(_MONTHS, month)
    days, weekdays = _days_of_month(day, months), _days_of_week(weekday)
    if "*" in (day[0], weekday[0]):
        rules = list(product(days, weekdays))
    else:
        rules = [(rule, "*") for rule in days] + [("*", rule) for rule in weekdays]
    if not rules:
        raise Invalid(
            "schedule.cron", f"never matches: none of these months has day {day}; use L for a month's last day"
        )
    found = [(rule, f"{minutes} {hours} {rule[0]} {_text(_MONTHS, months)} {rule[1]}") for rule in rules]
    possible = tuple(pattern for rule, pattern in found if "*" in rule or _is_possible(pattern))
    if not possible:
        both = "a day of month or day of week that starts with * requires a date that matches both"
        raise Invalid("schedule.cron", f"never matches: no day {day} of a month is also {weekday}; {both}")
    return possible


def runs_at_fixed_times(expression: str) -> bool:
    """Whether neither the minute nor the hour is a wildcard, such as ``*`` or ``*/30``. Raises ``Invalid``."""
    minute, hour, *_ = _five_fields(expression)
    return "*" not in (minute[0], hour[0])


def _is_possible(pattern: str) -> bool:
    return next(matches_after(pattern, _ANY_START), None) is not None


def _five_fields(expression: str) -> list[str]:
    text = expression.upper()
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise Invalid("schedule.cron", f"is {len(text)} characters long; the limit is {MAX_EXPRESSION_LENGTH}")
    if text.startswith("@") and text not in _SHORTHANDS:
        raise Invalid(
            "schedule.cron", f"{expression!r} is not one of {one_of(map(str.lower, _SHORTHANDS), expression)}"
        )
    fields = _SHORTHANDS.get(text, text).split()
    if len(fields) != len(_FIELDS):
        wanted = ", ".join(field.name for field in _FIELDS)
        hint = "seconds and years are not supported" if len(fields) > len(_FIELDS) else 'such as "0 2 * * SUN"'
        raise Invalid("schedule.cron", f"has {len(fields)} fields; five are needed: {wanted}; {hint}")
    return fields


def _days_of_month(text: str, months: set[int]) -> list[str]:
    """Patterns for the day of month; empty if it never matches."""
    if text in _ANY:
        return ["*"]
    plain = [item for item in text.split(",") if item != "L"]
    days = _values(_DAYS, ",".join(plain)) if plain else set()
    if len(plain) < len(text.split(",")):
        return [",".join([*map(str, sorted(days)), "L"])]
    return [_text(_DAYS, days)] if min(days) <= max(_LONGEST_MONTHS[month - 1] for month in months) else []


def _days_of_week(text: str) -> list[str]:
    """Patterns for the day of week: plain and counted weekdays apart, because croniter cannot mix them."""
    if text in _ANY:
        return ["*"]
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
        raise field.invalid(item)
    first, last, step = match["first"], match["last"], int(match["step"] or 1)
    if not 1 <= step <= field.size:
        hint = "for a longer interval use every_seconds"
        raise Invalid("schedule.cron", f"{item!r}: a step of {field.name} must be from 1 to {field.size}; {hint}")
    low = field.low if first is None else _number(field, first)
    high = field.high if first is None or (match["step"] and not last) else _number(field, last or first)
    span = high - low if high >= low else high - low + field.size
    return ((low - field.low + offset) % field.size + field.low for offset in range(0, span + 1, step))


def _number(field: _Field, text: str) -> int:
    if text in field.names:
        return field.low + field.names.index(text)
    highest = 7 if field is _WEEKDAYS else field.high
    if not text.isdigit() or not field.low <= int(text) <= highest:
        raise field.invalid(text)
    return int(text)


def _text(field: _Field, values: set[int]) -> str:
    return "*" if len(values) == field.size else ",".join(map(str, sorted(values)))
