"""Cron expressions, evaluated in the wall-clock time of a time zone and mapped to instants.

An expression has five fields: minute, hour, day of month, month, day of week. Each takes numbers, names
(``JAN``, ``MON``), ranges that may wrap (``FRI-MON``), steps and lists. Sunday is 0 or 7. ``L`` is the last
day of the month, ``L5`` or ``5L`` its last Friday, ``2#3`` its third Tuesday. ``@hourly``, ``@daily``,
``@midnight``, ``@weekly``, ``@monthly``, ``@yearly`` and ``@annually`` are short for the usual five fields.
As in Vixie cron, a match of either day of month or day of week is enough if neither field starts with ``*``;
otherwise both have to match.

At a clock change (daylight saving time) a wall time may not exist or may occur twice. Two policies define what runs:
``Gap`` and ``Fold``. They apply to every wall time. A shifted run at the same instant as a regular run is one run, not
two.

croniter is only given naive wall-clock times, and only expressions that ``cron_expression`` has expanded: by itself it
reads ``5-5`` as "all", fails on ``2#3`` combined with a day of month, and handles clock changes unreliably.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from heapq import heappop, heappush, merge
from itertools import groupby, takewhile
from typing import Any, ClassVar, TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron_expression import (
    HORIZON_YEARS,
    match_before,
    matches_after,
    patterns,
    runs_at_fixed_times,
)
from punctual.domain.schedules.timezone import check_zone, zone_named
from punctual.domain.suggestion import one_of

_YEARS = range(1850, 9900)  # outside this range, date arithmetic overflows
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


class Gap(StrEnum):
    """The policy for a local time that does not exist, because the clocks were set forward."""

    SHIFT = "shift"
    """Run later by the length of the gap: 02:30 runs at 03:30. The default."""
    SKIP = "skip"
    """Do not run."""


class Fold(StrEnum):
    """The policy for a local time that occurs twice, because the clocks were set back."""

    FIRST = "first"
    """Run the first time only. The default for fixed times."""
    LAST = "last"
    """Run the second time only."""
    BOTH = "both"
    """Run both times. The default for a wildcard minute or hour, such as ``*`` or ``*/30``."""


class OccurrenceFlag(StrEnum):
    """Marks an occurrence affected by a clock change or a skipped date."""

    SHIFTED = "shifted"
    """Its local time does not exist; it runs later by the length of the gap."""
    SKIPPED = "skipped"
    """Its local time does not exist; it does not run."""
    REPEATED = "repeated"
    """Its local time occurs twice; the policy chose this occurrence, or both."""
    EXCLUDED = "excluded"
    """Its date is skipped; neither it nor any later time of that date runs."""
    MOVED = "moved"
    """Its date is skipped; it runs on the next date that is not."""


@dataclass(frozen=True)
class Occurrence:
    """One match of a schedule: its wall time, and the instant at which it runs; None if it does not run."""

    local: datetime
    at: datetime | None
    flag: OccurrenceFlag | None = None


_Policy = TypeVar("_Policy", Gap, Fold)
_Waiting = tuple[datetime, bool, datetime, Occurrence]


@dataclass(frozen=True)
class Cron:
    """A cron expression in a time zone. Parse user input with ``parse``; the constructor does not validate."""

    expression: str
    timezone: str = "UTC"
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST
    skip: Skip | None = None
    """The dates on which it does not run."""

    kind: ClassVar[str] = "cron"
    has_same_times: ClassVar[bool] = True
    recurring: ClassVar[bool] = True
    jitter_seconds: ClassVar[int] = 0

    @classmethod
    def parse(cls, expression: str, timezone: str = "UTC", gap: str = "shift", fold: str | None = None) -> Cron:
        """Parse an expression and its options; the default of ``fold`` depends on the expression.

        Raises ``Invalid``, naming the field, if one of them is malformed or the expression never matches.
        """
        if not isinstance(expression, str):
            raise Invalid("schedule.cron", 'must be text, such as "0 2 * * SUN"')
        tidy = " ".join(expression.split())
        patterns(tidy)
        check_zone(timezone)
        if fold is None:
            fold = Fold.FIRST if runs_at_fixed_times(tidy) else Fold.BOTH
        return cls(tidy, timezone, _parse_policy(Gap, gap, "gap"), _parse_policy(Fold, fold, "fold"))

    def to_spec(self) -> dict[str, Any]:
        """The API's representation."""
        return {
            "cron": self.expression,
            "timezone": self.timezone,
            "gap": self.gap.value,
            "fold": self.fold.value,
            **(self.skip.to_spec() if self.skip else {}),
        }

    def to_stored(self) -> dict[str, Any]:
        """The stored representation; ``schedule.from_stored`` parses it."""
        plain = {"kind": self.kind, **replace(self, skip=None).to_spec()}
        return plain | ({"skip": self.skip.to_stored()} if self.skip else {})

    def next_after(self, instant: datetime) -> datetime | None:
        """The first run strictly after ``instant``; None if there is none within the horizon."""
        return next((found.at for found in self.occurrences(instant) if found.at is not None), None)

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last run strictly before ``instant``; None if there is none within the horizon."""
        if instant.year not in _YEARS:
            return None
        zone = zone_named(self.timezone)
        latest = instant.astimezone(zone).replace(tzinfo=None)
        back, wall = _HOUR, self._wall_before(latest)
        while wall is not None and wall.year >= latest.year - HORIZON_YEARS:
            # Searching forward misses no run at a clock change; only the start of the search is a guess.
            start = min(_possible_instants(wall, zone)) - datetime.resolution
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
        """The occurrences later than ``after``, ordered by instant, without duplicates, including skipped ones.

        No occurrence is lost or repeated if ``after`` lies inside a gap or a fold. Ends at the horizon.
        """
        if after.year not in _YEARS:
            return
        wall = after.astimezone(zone_named(self.timezone)).replace(tzinfo=None)
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
        """Sort occurrences by instant.

        Matches arrive in wall-clock order. Each is held back until no later match can have an earlier instant.
        """
        zone = zone_named(self.timezone)
        waiting: list[_Waiting] = []
        for local in self._walls_after(_earliest_wall(after, zone)):
            for found in self._occurrences_at(local, zone):
                if found.at is None:
                    yield from _drain(waiting)
                    yield found
                else:  # at the same instant the regular run sorts first and is kept
                    heappush(waiting, (found.at, found.flag is OccurrenceFlag.SHIFTED, local, found))
            yield from _drain(waiting, before=min(_possible_instants(local + _MINUTE, zone)))
        yield from _drain(waiting)

    def _occurrences_at(self, local: datetime, zone: tzinfo) -> Iterator[Occurrence]:
        """The occurrences of a wall time under the gap and fold policies."""
        first, second = _possible_instants(local, zone)
        if first == second:
            yield Occurrence(local, first)
        elif first > second and self.gap is Gap.SKIP:
            yield Occurrence(local, None, OccurrenceFlag.SKIPPED)
        elif first > second:
            yield Occurrence(local, first, OccurrenceFlag.SHIFTED)
        else:
            if self.fold is not Fold.LAST:
                yield Occurrence(local, first, OccurrenceFlag.REPEATED)
            if self.fold is not Fold.FIRST:
                yield Occurrence(local, second, OccurrenceFlag.REPEATED)

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        """The wall times of the expression later than ``wall``, ignoring skipped dates and clock changes."""
        matches = merge(*(matches_after(pattern, wall) for pattern in patterns(self.expression)))
        return (match for match, _ in groupby(matches))

    def match_before(self, wall: datetime) -> datetime | None:
        """The last wall time of the expression before ``wall``; None if there is none within the horizon."""
        matches = (match_before(pattern, wall) for pattern in patterns(self.expression))
        return max((match for match in matches if match is not None), default=None)

    def _walls_after(self, wall: datetime) -> Iterator[datetime]:
        return self.skip.walls_after(wall, self) if self.skip else self.matches_after(wall)

    def _wall_before(self, wall: datetime) -> datetime | None:
        return self.skip.wall_before(wall, self) if self.skip else self.match_before(wall)


def _possible_instants(local: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """The instants of a wall time by the UTC offset before and by the UTC offset after a clock change.

    Equal for an ordinary time. The second is later for a time that occurs twice, and earlier for one in a gap.
    """
    before, after = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return before, after


def _earliest_wall(after: datetime, zone: tzinfo) -> datetime:
    """The latest wall time up to which (inclusive) no wall time maps to an instant later than ``after``.

    This is the current wall time, unless the clocks are about to be set back or have just been set forward: then
    earlier wall times still have a second pass, or shifted runs, after ``after``.
    """
    offset = lowest = _offset(after, zone)
    for direction in (-1, 1):
        change = offset - _offset(after + direction * _DAY, zone)
        if change > timedelta(0):
            lowest = min(lowest, _offset(after + direction * change, zone))
    return after.astimezone(UTC).replace(tzinfo=None) + lowest


def _offset(instant: datetime, zone: tzinfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)


def _drain(waiting: list[_Waiting], before: datetime | None = None) -> Iterator[Occurrence]:
    while waiting and (before is None or waiting[0][0] < before):
        yield heappop(waiting)[-1]


def _parse_policy(policy: type[_Policy], value: str, name: str) -> _Policy:
    try:
        return policy(value)
    except ValueError:
        raise Invalid(f"schedule.{name}", f"{value!r} is not one of {one_of(policy, value)}") from None
