"""Schedules: when a job is due. There are five kinds with a common interface.

Every kind has ``kind``, ``recurring``, ``jitter_seconds``, ``next_after``, ``to_spec`` (the API's representation, which
``parse_schedule`` parses) and ``to_stored`` (the stored representation, from which ``from_stored`` builds an equal
schedule). The recurring kinds, ``Cron`` and ``Every``, also have ``previous_before``, ``occurrences`` and their skipped
dates (``skip``). A recurring schedule with a start, an end or jitter is wrapped in ``Bounded``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, ClassVar

from punctual.domain.errors import Invalid, Unreadable
from punctual.domain.instant import MILLISECOND, from_text, in_milliseconds, parse, to_text
from punctual.domain.schedules.bounds import BOUNDS, Bounded, bounds_from_stored, parse_bounds
from punctual.domain.schedules.calendar import Skip, parse_skip
from punctual.domain.schedules.cron import Cron, Fold, Gap, Occurrence, OccurrenceFlag
from punctual.domain.schedules.every import Every, parse_every, utc_wall_time
from punctual.domain.schedules.named_calendars import Calendars
from punctual.domain.schedules.timezone import zone_named
from punctual.domain.suggestion import one_of

CLOCK_SKEW = timedelta(seconds=5)
"""How far ``schedule.at`` may lie in the past, because the clocks of client and server differ."""
MAX_AT_AHEAD = timedelta(days=3653)
MAX_SKIPPED_IN_PREVIEW = 2_000  # more than one missing day of an every-minute schedule


@dataclass(frozen=True)
class Now:
    """Due once, at the instant of submission."""

    at: datetime
    kind: ClassVar[str] = "now"
    recurring: ClassVar[bool] = False
    jitter_seconds: ClassVar[int] = 0

    def next_after(self, instant: datetime) -> datetime | None:
        return self.at if self.at > instant else None

    def to_spec(self) -> None:
        """None: a job without a schedule runs now."""
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
class PerMessage:
    """Due whenever a message arrives in the job's queue; never due by time."""

    kind: ClassVar[str] = "queue"
    recurring: ClassVar[bool] = False
    jitter_seconds: ClassVar[int] = 0

    def next_after(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the common interface
        return None

    def to_spec(self) -> dict[str, Any]:
        return {"queue": True}

    def to_stored(self) -> dict[str, Any]:
        return {"kind": self.kind}


Schedule = Now | At | Cron | Every | PerMessage | Bounded

_KINDS = ("at", "cron", "every_seconds", "queue")
_CRON_OPTIONS = ("timezone", "gap", "fold")
_RULES = (*BOUNDS, "skip", "on_skip")
_KEYS = _KINDS + _CRON_OPTIONS + _RULES


def parse_schedule(
    spec: Mapping[str, Any] | None,
    *,
    now: datetime,
    calendars: Callable[[], Calendars] = Calendars,
    counted_after: datetime | None = None,
) -> Schedule:
    """Parse the API's representation; None is ``Now``. Raises ``Invalid``, naming the field.

    ``now`` is the instant of submission, from which an interval is counted. ``calendars`` returns the calendars that
    ``skip`` may name. ``max_runs`` counts the due instants later than ``counted_after``; by default those from ``now``.
    """
    if spec is None:
        return Now(in_milliseconds(now))
    match _kind_of(spec):
        case "at":
            return At(_parse_at(spec["at"], now))
        case "cron":
            options = {name: spec[name] for name in _CRON_OPTIONS if name in spec}
            return _with_rules(Cron.parse(spec["cron"], **options), spec, now, calendars, counted_after)
        case "every_seconds":
            return _with_rules(parse_every(spec, now), spec, now, calendars, counted_after)
        case _:
            if spec["queue"] is not True:
                raise Invalid("schedule.queue", "must be true; omit it for another kind of schedule")
            return PerMessage()


def from_stored(stored: Mapping[str, Any]) -> Schedule:
    """Parse the result of ``to_stored``. Raises ``Unreadable``."""
    try:
        match stored["kind"]:
            case "now":
                return Now(from_text(stored["at"]))
            case "at":
                return At(from_text(stored["at"]))
            case "cron" | "every":
                return _recurring_from_stored(stored)
            case "queue":
                return PerMessage()
    except (KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"not a stored schedule: {stored!r}") from error
    raise Unreadable(f"not a kind of schedule: {stored['kind']!r}")


def base_of(schedule: Schedule) -> Schedule:
    """The schedule without its bounds."""
    return schedule.base if isinstance(schedule, Bounded) else schedule


def last_due(schedule: Schedule) -> datetime | None:
    """The last due instant of a schedule; None if it has no end or no due instants."""
    match schedule:
        case Now(at) | At(at):
            return at
        case Bounded() if schedule.until is not None:
            return schedule.previous_before(schedule.until + MILLISECOND)
        case _:
            return None


def check_comes_due(schedule: Schedule, now: datetime) -> None:
    """Raise ``Invalid`` for a recurring schedule that is never due from ``now`` on. The message names the cause."""
    since = now - MILLISECOND
    if not schedule.recurring or schedule.next_after(since) is not None:
        return
    base = base_of(schedule)
    plain = replace(base, skip=None) if isinstance(base, Cron | Every) else base
    if plain.next_after(since) is None:
        raise Invalid(
            "schedule",
            "never comes due: each of its times falls into a clock-change gap; set gap to shift, or change the times",
        )
    if base.next_after(since) is None:
        message = f"never comes due: all dates of schedule.{_kind(base)} are skipped"
        raise Invalid("schedule.skip", f"{message}; skip fewer dates, or change schedule.{_kind(base)}")
    until = f"{to_text(schedule.until)}" if isinstance(schedule, Bounded) and schedule.until else "its end"
    starts_at = schedule.starts_at if isinstance(schedule, Bounded) else None
    kind = _kind(base)
    bare = replace(schedule, base=plain) if isinstance(schedule, Bounded) and isinstance(plain, Cron | Every) else None
    if bare is not None and bare.next_after(since) is not None:
        message = f"never comes due: all dates of schedule.{kind} until schedule.ends_at, {until}, are skipped"
        raise Invalid("schedule.skip", f"{message}; skip fewer dates, or give a later end")
    first = f"schedule.{kind}, {base.to_spec()[kind]!r},"  # type: ignore[index]
    since_then = f" from schedule.starts_at, {to_text(starts_at)}, on" if starts_at and starts_at > now else ""
    message = f"never comes due before {until}: {first} has no time until then{since_then}"
    others = f"schedule.{kind} or schedule.starts_at" if since_then else f"schedule.{kind}"
    raise Invalid("schedule.ends_at", f"{message}; give a later end, omit it, or change {others}")


def _kind(base: Schedule) -> str:
    return "cron" if isinstance(base, Cron) else "every_seconds"


def preview(schedule: Schedule, after: datetime, count: int) -> list[Occurrence]:
    """The next ``count`` occurrences that run, and in order between them the skipped ones.

    Returns fewer if the schedule ends earlier, or if more than ``MAX_SKIPPED_IN_PREVIEW`` are skipped.
    """
    found: list[Occurrence] = []
    remaining = count
    for occurrence in islice(_occurrences(schedule, after), count + MAX_SKIPPED_IN_PREVIEW if count > 0 else 0):
        found.append(occurrence)
        remaining -= occurrence.at is not None
        if not remaining:
            break
    return found


def occurrences_between(schedule: Schedule, after: datetime, until: datetime) -> Iterator[Occurrence]:
    """The occurrences later than ``after`` and before ``until``, in order, also those that do not run.

    Lazy: a caller has to limit their number. An occurrence that does not run counts at its local time.
    """
    zone = zone_named(getattr(schedule, "timezone", "UTC"))
    for found in _occurrences(schedule, after):
        if (found.at or found.local.replace(tzinfo=zone)) >= until:
            return
        yield found


def _occurrences(schedule: Schedule, after: datetime) -> Iterator[Occurrence]:
    if isinstance(schedule, Cron | Every | Bounded):
        base = base_of(schedule)
        skip = base.skip if isinstance(base, Cron | Every) else None
        yield from schedule.occurrences(after) if skip is None else _with_skipped_dates(schedule, skip, after)
    elif (due := schedule.next_after(after)) is not None:
        yield Occurrence(utc_wall_time(due), due)


def _with_skipped_dates(schedule: Cron | Every | Bounded, skip: Skip, after: datetime) -> Iterator[Occurrence]:
    """The runs, with each skipped date listed once between them.

    A moved run is listed where it runs, unless a regular run takes place at the same time.
    """
    base = schedule.base if isinstance(schedule, Bounded) else schedule
    since = after.astimezone(zone_named(getattr(schedule, "timezone", "UTC"))).replace(tzinfo=None)
    for found in schedule.occurrences(after):
        if skip.moves_runs:
            intended = skip.intended_times(found.local, base)[1]
            yield found if intended == found.local else Occurrence(intended, found.at, OccurrenceFlag.MOVED)
        else:
            excluded = skip.excluded_times(since, found.local, base)
            yield from (Occurrence(wall, None, OccurrenceFlag.EXCLUDED) for wall in excluded)
            yield found
            since = found.local


def _with_rules(
    base: Cron | Every,
    spec: Mapping[str, Any],
    now: datetime,
    calendars: Callable[[], Calendars],
    counted_after: datetime | None,
) -> Schedule:
    skip, now = parse_skip(spec.get("skip"), spec.get("on_skip"), calendars), in_milliseconds(now)
    return parse_bounds(spec, replace(base, skip=skip), now, counted_after or now - MILLISECOND)


def _recurring_from_stored(stored: Mapping[str, Any]) -> Schedule:
    skip = Skip.from_stored(stored["skip"]) if "skip" in stored else None
    base: Cron | Every
    if stored["kind"] == "cron":
        base = Cron(stored["cron"], stored["timezone"], Gap(stored["gap"]), Fold(stored["fold"]), skip)
    else:
        base = Every(int(stored["every_seconds"]), from_text(stored["anchor"]), skip)
    return bounds_from_stored(base, stored["bounds"]) if "bounds" in stored else base


def _kind_of(spec: Mapping[str, Any]) -> str:
    """The kind of schedule that ``spec`` names. Raises ``Invalid`` for unknown or conflicting keys."""
    if not isinstance(spec, Mapping):
        raise Invalid("schedule", f"must be an object with one of {', '.join(_KINDS)}")
    for key in spec:
        if key not in _KEYS:
            raise Invalid(f"schedule.{key}", f"is not a known field; use {one_of(_KEYS, key)}")
    kinds = [kind for kind in _KINDS if kind in spec]
    rules = [rule for rule in _RULES if rule in spec]
    if rules and not kinds:
        raise Invalid(f"schedule.{rules[0]}", "requires cron or every_seconds: add one of them")
    if not kinds:
        raise Invalid("schedule", f"needs one of {', '.join(_KINDS)}; omit schedule to run now")
    if len(kinds) > 1:
        raise Invalid("schedule", f"has {' and '.join(kinds)}, which are mutually exclusive: keep one")
    for option in _CRON_OPTIONS:
        if option in spec and kinds != ["cron"]:
            raise Invalid(f"schedule.{option}", f"requires cron and cannot be used with {kinds[0]}: omit it")
    if rules and kinds[0] not in ("cron", "every_seconds"):
        message = f"requires cron or every_seconds and cannot be used with {kinds[0]}: omit it"
        raise Invalid(f"schedule.{rules[0]}", message)
    return kinds[0]


def _parse_at(text: object, now: datetime) -> datetime:
    """Parse ``schedule.at``. An instant up to ``CLOCK_SKEW`` ago, such as a client's own "now", is due at once."""
    if not isinstance(text, str):
        raise Invalid("schedule.at", 'must be text, such as "2026-11-15T07:00:00Z"')
    at = parse("schedule.at", text)
    if at < now - CLOCK_SKEW:
        raise Invalid("schedule.at", f"{to_text(at)} is in the past; omit schedule to run now")
    if at > now + MAX_AT_AHEAD:
        raise Invalid("schedule.at", f"{to_text(at)} is more than ten years ahead: give an earlier instant")
    return max(at, in_milliseconds(now))
