"""When a job is due: one of five kinds behind the same few names.

Every kind has ``kind``, ``recurring``, ``jitter_seconds``, ``next_after``, ``to_spec`` (what the API shows, and takes
in ``parse_schedule``) and ``to_stored`` (what ``from_stored`` turns into an equal schedule). The kind for cron is
``Cron`` itself. One that recurs also has ``previous_before`` and ``occurrences``; with a beginning, an end or jitter
it is wrapped in ``Bounded``, and what dates it skips it knows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count as counting
from itertools import islice
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.instant import MILLISECOND, from_text, in_milliseconds, parse, to_text
from punctual.domain.schedules.bounds import BOUNDS, Bounded, bounds_from_stored, parse_bounds, parse_start
from punctual.domain.schedules.calendar import Calendars, Skip, parse_skip
from punctual.domain.schedules.cron import Cron, Fold, Gap, Occurrence, Oddity

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
    jitter_seconds: ClassVar[int] = 0

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
    jitter_seconds: ClassVar[int] = 0

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
    skip: Skip | None = None
    """The dates on which it is not due, by UTC."""
    kind: ClassVar[str] = "every"
    recurring: ClassVar[bool] = True
    jitter_seconds: ClassVar[int] = 0

    def next_after(self, instant: datetime) -> datetime | None:
        if self.skip is None:
            return self._due(self._number_after(instant))
        return next((found.at for found in self.occurrences(instant)), None)

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last due instant strictly before ``instant``; None when there was none yet."""
        if self.skip is None:
            return self._due_before(instant)
        wall = self.skip.wall_before(_wall(instant), self._match_before)
        return None if wall is None else wall.replace(tzinfo=UTC)

    def occurrences(self, after: datetime) -> Iterator[Occurrence]:
        """All that are due later than ``after``, in order. Without end, unless all that come are skipped."""
        matches = self.matches_after
        walls = matches(_wall(after)) if self.skip is None else self.skip.walls_after(_wall(after), matches)
        return (Occurrence(wall, wall.replace(tzinfo=UTC)) for wall in walls)

    def matches_after(self, wall: datetime) -> Iterator[datetime]:
        """The times of the interval later than ``wall``, by UTC, whatever is skipped."""
        first = self._number_after(wall.replace(tzinfo=UTC))
        return (_wall(self._due(number)) for number in counting(first))

    def to_spec(self) -> dict[str, Any]:
        return {"every_seconds": self.seconds, **(self.skip.to_spec() if self.skip else {})}

    def to_stored(self) -> dict[str, Any]:
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

    def _match_before(self, wall: datetime) -> datetime | None:
        due = self._due_before(wall.replace(tzinfo=UTC))
        return None if due is None else _wall(due)


@dataclass(frozen=True)
class Queue:
    """Due whenever a message comes: never by the clock."""

    kind: ClassVar[str] = "queue"
    recurring: ClassVar[bool] = False
    jitter_seconds: ClassVar[int] = 0

    def next_after(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the same for every kind
        return None

    def to_spec(self) -> dict[str, Any]:
        return {"queue": True}

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind}


Schedule = Now | At | Cron | Every | Queue | Bounded

_KINDS = ("at", "cron", "every_seconds", "queue")
_RECURRING = ("cron", "every_seconds")
_CRON_OPTIONS = ("timezone", "gap", "fold")
_RULES = (*BOUNDS, "skip", "on_skip")
_KEYS = _KINDS + _CRON_OPTIONS + _RULES


def parse_schedule(
    spec: Mapping[str, Any] | None, *, now: datetime, calendars: Callable[[], Calendars] = dict
) -> Schedule:
    """From the API's form; None is ``Now``. ``now`` is the instant of submission, and anchors an interval.

    ``calendars`` are those that ``skip`` can name. Raises ``Invalid`` that names the field.
    """
    if spec is None:
        return Now(in_milliseconds(now))
    match _kind_of(spec):
        case "at":
            return At(_parse_at(spec["at"], now))
        case "cron":
            options = {name: spec[name] for name in _CRON_OPTIONS if name in spec}
            return _with_rules(Cron.parse(spec["cron"], **options), spec, now, calendars)
        case "every_seconds":
            return _with_rules(_parse_every(spec, now), spec, now, calendars)
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
            case "cron" | "every":
                return _recurring_from_stored(stored)
            case "queue":
                return Queue()
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"not a stored schedule: {stored!r}") from error
    raise Unreadable(f"not a kind of schedule: {stored['kind']!r}")


def base_of(schedule: Schedule) -> Schedule:
    """The schedule itself, without its bounds."""
    return schedule.base if isinstance(schedule, Bounded) else schedule


def last_due(schedule: Schedule) -> datetime | None:
    """The last of all its instants; None when it has none, or no end."""
    match schedule:
        case Now(at) | At(at):
            return at
        case Bounded() if schedule.until is not None:
            return schedule.previous_before(schedule.until + MILLISECOND)
        case _:
            return None


def check_comes_due(schedule: Schedule, now: datetime) -> None:
    """Raises ``Invalid`` for one that recurs and will never be due again, and says what keeps it from that."""
    since = now - MILLISECOND
    if not schedule.recurring or schedule.next_after(since) is not None:
        return
    base = base_of(schedule)
    plain = replace(base, skip=None) if isinstance(base, Cron | Every) else base
    if plain.next_after(since) is None:
        raise Invalid("schedule", "never comes due: each of its times falls where the clocks leave a gap")
    if base.next_after(since) is None:
        message = f"never comes due: each date that schedule.{_kind(base)} has is skipped"
        raise Invalid("schedule.skip", f"{message}; skip fewer, or change schedule.{_kind(base)}")
    until = f"{to_text(schedule.until)}" if isinstance(schedule, Bounded) and schedule.until else "its end"
    starts_at = schedule.starts_at if isinstance(schedule, Bounded) else None
    kind = _kind(base)
    bare = replace(schedule, base=plain) if isinstance(schedule, Bounded) and isinstance(plain, Cron | Every) else None
    if bare is not None and bare.next_after(since) is not None:
        message = f"never comes due: each date that schedule.{kind} has until schedule.ends_at, {until}, is skipped"
        raise Invalid("schedule.skip", f"{message}; skip fewer, or give a later end")
    first = f"schedule.{kind}, {base.to_spec()[kind]!r},"  # type: ignore[index]
    since_then = f" from schedule.starts_at, {to_text(starts_at)}, on" if starts_at and starts_at > now else ""
    message = f"never comes due before {until}: {first} has no time until then{since_then}"
    others = f"schedule.{kind} or schedule.starts_at" if since_then else f"schedule.{kind}"
    raise Invalid("schedule.ends_at", f"{message}; give a later one, leave it out, or change {others}")


def _kind(base: Schedule) -> str:
    return "cron" if isinstance(base, Cron) else "every_seconds"


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
    if isinstance(schedule, Cron | Every | Bounded):
        base = base_of(schedule)
        skip = base.skip if isinstance(base, Cron | Every) else None
        yield from schedule.occurrences(after) if skip is None else _with_skipped_dates(schedule, skip, after)
    elif (due := schedule.next_after(after)) is not None:
        yield Occurrence(_wall(due), due)


def _with_skipped_dates(schedule: Cron | Every | Bounded, skip: Skip, after: datetime) -> Iterator[Occurrence]:
    """Each date that is skipped once, between the runs; those that move where they run, if nothing else does there."""
    base = schedule.base if isinstance(schedule, Bounded) else schedule
    since = after.astimezone(ZoneInfo(getattr(schedule, "timezone", "UTC"))).replace(tzinfo=None)
    for found in schedule.occurrences(after):
        if skip.moves:
            meant = skip.meant(found.local, base.matches_after)[1]
            yield found if meant == found.local else Occurrence(meant, found.at, Oddity.MOVED)
        else:
            left_out = skip.left_out(since, found.local, base.matches_after)
            yield from (Occurrence(wall, None, Oddity.EXCLUDED) for wall in left_out)
            yield found
            since = found.local


def _with_rules(
    base: Cron | Every, spec: Mapping[str, Any], now: datetime, calendars: Callable[[], Calendars]
) -> Schedule:
    skip = parse_skip(spec.get("skip"), spec.get("on_skip"), calendars)
    return parse_bounds(spec, replace(base, skip=skip), in_milliseconds(now))


def _recurring_from_stored(stored: Mapping[str, Any]) -> Schedule:
    skip = Skip.from_stored(stored["skip"]) if "skip" in stored else None
    base: Cron | Every
    if stored["kind"] == "cron":
        base = Cron(stored["cron"], stored["timezone"], Gap(stored["gap"]), Fold(stored["fold"]), skip)
    else:
        base = Every(int(stored["every_seconds"]), from_text(stored["anchor"]), skip)
    return bounds_from_stored(base, stored["bounds"]) if "bounds" in stored else base


def _kind_of(spec: Mapping[str, Any]) -> str:
    """The one kind of schedule that ``spec`` names, once its keys are known to go together."""
    if not isinstance(spec, Mapping):
        raise Invalid("schedule", f"must be an object with one of {', '.join(_KINDS)}")
    for key in spec:
        if key not in _KEYS:
            raise Invalid(f"schedule.{key}", f"is not known here; use {', '.join(_KEYS)}")
    kinds = [kind for kind in _KINDS if kind in spec]
    rules = [rule for rule in _RULES if rule in spec]
    if rules and not kinds:
        raise Invalid(f"schedule.{rules[0]}", "only goes with cron or every_seconds: add one of them")
    if not kinds:
        raise Invalid("schedule", f"needs one of {', '.join(_KINDS)}; leave schedule out to run now")
    if len(kinds) > 1:
        raise Invalid("schedule", f"has {' and '.join(kinds)}, which exclude each other: keep one")
    for option in _CRON_OPTIONS:
        if option in spec and kinds != ["cron"]:
            raise Invalid(f"schedule.{option}", f"only goes with cron, not with {kinds[0]}: leave it out")
    if rules and kinds[0] not in _RECURRING:
        message = f"only goes with cron or every_seconds, not with {kinds[0]}: leave it out"
        raise Invalid(f"schedule.{rules[0]}", message)
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


def _parse_every(spec: Mapping[str, Any], now: datetime) -> Every:
    """Counted from the submission, or so that the first is due when the schedule starts."""
    seconds, starts_at = _parse_interval(spec["every_seconds"]), parse_start(spec, now)
    return Every(seconds, in_milliseconds(now) if starts_at is None else starts_at - timedelta(seconds=seconds))


def _parse_interval(seconds: object) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise Invalid("schedule.every_seconds", "must be a whole number of seconds, such as 60")
    if not 1 <= seconds <= LONGEST_INTERVAL:
        raise Invalid("schedule.every_seconds", f"must be from 1 to {LONGEST_INTERVAL:,}, which is 366 days")
    return seconds


def _wall(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(tzinfo=None)
