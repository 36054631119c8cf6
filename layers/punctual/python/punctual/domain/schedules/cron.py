"""Cron, evaluated on the wall clock of a time zone and mapped to instants under stated policies.

An expression has five fields: minute, hour, day of month, month, day of week. Each takes numbers, names
(``JAN``, ``MON``), ranges that may wrap (``FRI-MON``), steps and lists. Sunday is 0 or 7. ``L`` is the last
day of the month, ``L5`` or ``5L`` its last Friday, ``2#3`` its third Tuesday. ``@hourly``, ``@daily``,
``@midnight``, ``@weekly``, ``@monthly``, ``@yearly`` and ``@annually`` are short for the usual five fields.
When day of month and day of week are both restricted (anything but ``*``), either one is enough.

Where the clocks change, wall time and real time part, and two policies say what runs: ``Gap`` and ``Fold``.
They hold for every wall time alike, so a schedule of every five minutes pauses in the second pass of a
repeated hour unless it says ``fold: both``. A shifted run that falls on a regular one is one run, not two.

croniter only ever sees naive wall-clock times, and only expressions that ``cron_expression`` has spelt out: left
alone it reads ``5-5`` as "all", fails on ``2#3`` with a day of month, and guesses at changes of the clocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from heapq import heappop, heappush, merge
from itertools import groupby, takewhile
from typing import Any, ClassVar, TypeVar
from zoneinfo import ZoneInfo

from punctual.domain.errors import Invalid
from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron_expression import HORIZON_YEARS, match_before, matches_after, patterns
from punctual.domain.schedules.timezone import check_zone

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
    EXCLUDED = "excluded"
    """Its date is one that the schedule skips; neither it nor what follows on that date runs."""
    MOVED = "moved"
    """Its date is one that the schedule skips; it runs on the next that is not."""


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
    skip: Skip | None = None
    """The dates on which it does not run."""

    kind: ClassVar[str] = "cron"
    recurring: ClassVar[bool] = True
    jitter_seconds: ClassVar[int] = 0

    @classmethod
    def parse(cls, expression: str, timezone: str = "UTC", gap: str = "shift", fold: str = "first") -> Cron:
        """Raises ``Invalid``, naming the field, for what cannot be read or would never happen."""
        if not isinstance(expression, str):
            raise Invalid("schedule.cron", 'must be text, such as "0 2 * * SUN"')
        tidy = " ".join(expression.split())
        patterns(tidy)
        check_zone(timezone)
        return cls(tidy, timezone, _choice(Gap, gap, "gap"), _choice(Fold, fold, "fold"))

    def to_spec(self) -> dict[str, Any]:
        """As the API takes and shows it."""
        return {
            "cron": self.expression,
            "timezone": self.timezone,
            "gap": self.gap.value,
            "fold": self.fold.value,
            **(self.skip.to_spec() if self.skip else {}),
        }

    def to_stored(self) -> dict[str, Any]:
        plain = {"kind": self.kind, **replace(self, skip=None).to_spec()}
        return plain | ({"skip": self.skip.to_stored()} if self.skip else {})

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

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        """The wall times of the expression later than ``wall``, whatever is skipped and whatever the clocks do."""
        matches = merge(*(matches_after(pattern, wall) for pattern in patterns(self.expression)))
        return (match for match, _ in groupby(matches))

    def _match_before(self, wall: datetime) -> datetime | None:
        matches = (match_before(pattern, wall) for pattern in patterns(self.expression))
        return max((match for match in matches if match is not None), default=None)

    def _walls_after(self, wall: datetime) -> Iterator[datetime]:
        return self.skip.walls_after(wall, self.matches_after) if self.skip else self.matches_after(wall)

    def _wall_before(self, wall: datetime) -> datetime | None:
        return self.skip.wall_before(wall, self._match_before) if self.skip else self._match_before(wall)


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


def _choice(policy: type[_Policy], value: str, name: str) -> _Policy:
    try:
        return policy(value)
    except ValueError:
        raise Invalid(f"schedule.{name}", f"{value!r} is not one of {', '.join(policy)}") from None
