"""When a job is due: one of five kinds behind the same few names.

Every kind has ``kind``, ``recurring``, ``next_after``, ``to_spec`` (what the API shows, and takes in
``parse_schedule``) and ``to_stored`` (what ``from_stored`` turns into an equal schedule). The kind for
cron is ``Cron`` itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, ClassVar

from punctual.domain.cron import Cron, Fold, Gap, Occurrence
from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.instant import from_text, in_milliseconds, parse, to_text

CLOCK_SKEW = timedelta(seconds=5)
FURTHEST_AT = timedelta(days=3653)
LONGEST_INTERVAL = 366 * 24 * 60 * 60
SKIPPED_LIMIT = 2_000  # more than a whole missing day of every minute


@dataclass(frozen=True)
class Now:
    """Due once, at the instant it was submitted."""

    at: datetime
    kind: ClassVar[str] = "now"
    recurring: ClassVar[bool] = False

    def next_after(self, instant: datetime) -> datetime | None:
        return self.at if self.at > instant else None

    def to_spec(self) -> None:
        """Nothing: a job without a schedule runs now."""
        return

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind, "at": to_text(self.at)}


@dataclass(frozen=True)
class At:
    """Due once, at a given instant."""

    at: datetime
    kind: ClassVar[str] = "at"
    recurring: ClassVar[bool] = False

    def next_after(self, instant: datetime) -> datetime | None:
        return self.at if self.at > instant else None

    def to_spec(self) -> dict[str, Any]:
        return {"at": to_text(self.at)}

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.to_spec()}


@dataclass(frozen=True)
class Every:
    """Due at ``anchor + seconds``, ``anchor + 2 * seconds`` and so on: a late run does not move the next."""

    seconds: int
    anchor: datetime
    kind: ClassVar[str] = "every"
    recurring: ClassVar[bool] = True

    def next_after(self, instant: datetime) -> datetime | None:
        return self._due(max((instant - self.anchor) // self._interval + 1, 1))

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last due instant strictly before ``instant``; None when there was none yet."""
        number = -((self.anchor - instant) // self._interval) - 1
        return self._due(number) if number >= 1 else None

    def to_spec(self) -> dict[str, Any]:
        return {"every_seconds": self.seconds}

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind, "anchor": to_text(self.anchor), **self.to_spec()}

    @property
    def _interval(self) -> timedelta:
        return timedelta(seconds=self.seconds)

    def _due(self, number: int) -> datetime:
        return self.anchor + number * self._interval


@dataclass(frozen=True)
class Queue:
    """Due whenever a message comes: never by the clock."""

    kind: ClassVar[str] = "queue"
    recurring: ClassVar[bool] = False

    def next_after(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the same for every kind
        return None

    def to_spec(self) -> dict[str, Any]:
        return {"queue": True}

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind}


Schedule = Now | At | Cron | Every | Queue

_KINDS = ("at", "cron", "every_seconds", "queue")
_CRON_OPTIONS = ("timezone", "gap", "fold")
_KEYS = _KINDS + _CRON_OPTIONS


def parse_schedule(spec: Mapping[str, Any] | None, *, now: datetime) -> Schedule:
    """From the API's form; None is ``Now``. ``now`` is the instant of submission, and anchors an interval.

    Raises ``Invalid`` that names the field.
    """
    if spec is None:
        return Now(in_milliseconds(now))
    match _kind_of(spec):
        case "at":
            return At(_parse_at(spec["at"], now))
        case "cron":
            options = {name: spec[name] for name in _CRON_OPTIONS if name in spec}
            return Cron.parse(spec["cron"], **options)
        case "every_seconds":
            return Every(_parse_interval(spec["every_seconds"]), in_milliseconds(now))
        case _:
            if spec["queue"] is not True:
                raise Invalid("schedule.queue", "can only be true; leave it out for another kind of schedule")
            return Queue()


def from_stored(stored: Mapping[str, Any]) -> Schedule:
    """The schedule that ``to_stored`` wrote. Raises ``Unreadable``."""
    try:
        match stored["kind"]:
            case "now":
                return Now(from_text(stored["at"]))
            case "at":
                return At(from_text(stored["at"]))
            case "cron":
                return Cron(stored["cron"], stored["timezone"], Gap(stored["gap"]), Fold(stored["fold"]))
            case "every":
                return Every(int(stored["every_seconds"]), from_text(stored["anchor"]))
            case "queue":
                return Queue()
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"not a stored schedule: {stored!r}") from error
    raise Unreadable(f"not a kind of schedule: {stored['kind']!r}")


def preview(schedule: Schedule, after: datetime, count: int) -> list[Occurrence]:
    """The next ``count`` occurrences that run, with the skipped ones among them listed in their place.

    Fewer when the schedule ends before, or when thousands are skipped.
    """
    found: list[Occurrence] = []
    left = count
    for occurrence in islice(_occurrences(schedule, after), count + SKIPPED_LIMIT if count > 0 else 0):
        found.append(occurrence)
        left -= occurrence.at is not None
        if not left:
            break
    return found


def _occurrences(schedule: Schedule, after: datetime) -> Iterator[Occurrence]:
    if isinstance(schedule, Cron):
        yield from schedule.occurrences(after)
        return
    due = schedule.next_after(after)
    while due is not None:
        yield Occurrence(due.astimezone(UTC).replace(tzinfo=None), due)
        due = schedule.next_after(due)


def _kind_of(spec: Mapping[str, Any]) -> str:
    """The one kind of schedule that ``spec`` names, once its keys are known to go together."""
    if not isinstance(spec, Mapping):
        raise Invalid("schedule", f"must be an object with one of {', '.join(_KINDS)}")
    for key in spec:
        if key not in _KEYS:
            raise Invalid(f"schedule.{key}", f"is not known here; use {', '.join(_KEYS)}")
    kinds = [kind for kind in _KINDS if kind in spec]
    if not kinds:
        raise Invalid("schedule", f"needs one of {', '.join(_KINDS)}; leave schedule out to run now")
    if len(kinds) > 1:
        raise Invalid("schedule", f"has {' and '.join(kinds)}, which exclude each other: keep one")
    for option in _CRON_OPTIONS:
        if option in spec and kinds != ["cron"]:
            raise Invalid(f"schedule.{option}", f"only goes with cron, not with {kinds[0]}: leave it out")
    return kinds[0]


def _parse_at(text: object, now: datetime) -> datetime:
    """What lies a moment back, as a client's own "now" does on arrival, is due at once."""
    if not isinstance(text, str):
        raise Invalid("schedule.at", 'must be text, such as "2026-11-15T07:00:00Z"')
    at = parse("schedule.at", text)
    if at < now - CLOCK_SKEW:
        raise Invalid("schedule.at", f"{to_text(at)} is past; leave schedule out to run now")
    if at > now + FURTHEST_AT:
        raise Invalid("schedule.at", f"{to_text(at)} is more than ten years ahead")
    return max(at, in_milliseconds(now))


def _parse_interval(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise Invalid("schedule.every_seconds", "must be a whole number of seconds, such as 60")
    if not 1 <= seconds <= LONGEST_INTERVAL:
        raise Invalid("schedule.every_seconds", f"must be from 1 to {LONGEST_INTERVAL:,}, which is 366 days")
    return seconds
