"""Interval schedules: a job that is due every so many seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, ClassVar

from punctual.domain.errors import Invalid
from punctual.domain.instant import in_milliseconds, to_text
from punctual.domain.schedules.bounds import parse_start
from punctual.domain.schedules.calendar import Skip
from punctual.domain.schedules.cron import Occurrence

MAX_INTERVAL_SECONDS = 366 * 24 * 60 * 60


@dataclass(frozen=True)
class Every:
    """Due at ``anchor + seconds``, ``anchor + 2 * seconds`` and so on. A late run does not shift the next one."""

    seconds: int
    anchor: datetime
    skip: Skip | None = None
    """The UTC dates on which it is not due."""
    kind: ClassVar[str] = "every"
    has_same_times: ClassVar[bool] = False
    recurring: ClassVar[bool] = True
    jitter_seconds: ClassVar[int] = 0

    def next_after(self, instant: datetime) -> datetime | None:
        """The first due instant strictly after ``instant``; None if all within the horizon are skipped."""
        if self.skip is None:
            return self._due(self._number_after(instant))
        return next((found.at for found in self.occurrences(instant)), None)

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last due instant strictly before ``instant``; None if there is none."""
        if self.skip is None:
            return self._due_before(instant)
        wall = self.skip.wall_before(utc_wall_time(instant), self)
        return None if wall is None else wall.replace(tzinfo=UTC)

    def occurrences(self, after: datetime) -> Iterator[Occurrence]:
        """The occurrences later than ``after``, ascending. Infinite, but with skipped dates it ends at the horizon."""
        wall = utc_wall_time(after)
        walls = self.skip.walls_after(wall, self) if self.skip else self.matches_after(wall)
        return (Occurrence(wall, wall.replace(tzinfo=UTC)) for wall in walls)

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        """The UTC wall times of the interval later than ``wall``, including skipped dates."""
        first = self._number_after(wall.replace(tzinfo=UTC))
        return (utc_wall_time(self._due(number)) for number in count(first))

    def to_spec(self) -> dict[str, Any]:
        """The API's representation."""
        return {"every_seconds": self.seconds, **(self.skip.to_spec() if self.skip else {})}

    def to_stored(self) -> dict[str, Any]:
        """The stored representation; ``schedule.from_stored`` parses it."""
        stored = {"kind": self.kind, "anchor": to_text(self.anchor), "every_seconds": self.seconds}
        return stored | ({"skip": self.skip.to_stored()} if self.skip else {})

    @property
    def _interval(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    def _number_after(self, instant: datetime) -> int:
        return max((instant - self.anchor) // self._interval + 1, 1)

    def _due(self, number: int) -> datetime:
        return self.anchor + number * self._interval

    def _due_before(self, instant: datetime) -> datetime | None:
        number = -((self.anchor - instant) // self._interval) - 1
        return self._due(number) if number >= 1 else None

    def match_before(self, wall: datetime) -> datetime | None:
        due = self._due_before(wall.replace(tzinfo=UTC))
        return None if due is None else utc_wall_time(due)


def parse_every(spec: Mapping[str, Any], now: datetime) -> Every:
    """Parse the API's representation. Raises ``Invalid``, naming the field.

    The anchor is the submission instant ``now``, or lies so that the first due instant is ``starts_at``.
    """
    seconds, starts_at = _parse_interval(spec["every_seconds"]), parse_start(spec, now)
    return Every(seconds, in_milliseconds(now) if starts_at is None else starts_at - timedelta(seconds=seconds))


def _parse_interval(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise Invalid("schedule.every_seconds", "must be a whole number of seconds, such as 60")
    if not 1 <= seconds <= MAX_INTERVAL_SECONDS:
        raise Invalid("schedule.every_seconds", f"must be from 1 to {MAX_INTERVAL_SECONDS:,}, which is 366 days")
    return seconds


def utc_wall_time(instant: datetime) -> datetime:
    """The naive UTC time of an instant."""
    return instant.astimezone(UTC).replace(tzinfo=None)
