"""Calendars: dates under a name, which a schedule can list in ``skip``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from punctual.domain.errors import Invalid
from punctual.domain.instant import YEARS
from punctual.domain.suggestion import one_of

WEEKENDS = "weekends"
"""The built-in calendar: Saturdays and Sundays."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Calendars:
    """The declared calendars."""

    dates: Mapping[str, Collection[date]] = field(default_factory=dict)
    """By name."""
    broken_modules: str = ""
    """The modules that cannot be imported, each with its reason: they may declare further calendars."""


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


def dates_of(field: str, entry: object, calendars: Callable[[], Calendars]) -> Collection[date]:
    """The dates that an entry of a list of skipped dates stands for; none for the weekends.

    Raises ``Invalid`` for ``field``. If there is no such calendar, it lists the modules that may declare it but cannot
    be imported.
    """
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
    declared = calendars()
    if entry not in declared.dates:
        names = one_of([WEEKENDS, *sorted(declared.dates)], entry)
        message = f"there is no calendar {entry[:64]!r}; use a date such as 2026-12-25, or one of {names}"
        broken = declared.broken_modules
        reason = f"; the calendars of these modules are unavailable, because they cannot be imported: {broken}"
        raise Invalid(field, message + (reason if broken else ""))
    return declared.dates[entry]


def _read_date(text: object) -> date | None:
    try:
        day = date.fromisoformat(text) if isinstance(text, str) and _DATE.fullmatch(text) else None
    except ValueError:
        return None
    return day if day is not None and day.year in YEARS else None
