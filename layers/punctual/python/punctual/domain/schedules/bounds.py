"""Bounds of a recurring schedule: its start, its end, its maximum number of runs and its jitter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, Any, ClassVar

from punctual.domain.errors import Invalid
from punctual.domain.instant import from_text, parse, to_text
from punctual.domain.schedules.cron import Occurrence
from punctual.domain.schedules.cron_expression import HORIZON_YEARS

if TYPE_CHECKING:
    from punctual.domain.schedules.cron import Cron
    from punctual.domain.schedules.every import Every

MAX_RUNS = 10_000
MAX_RUNS_OF_BATCH = 50_000
"""The total of ``max_runs`` in a batch. Finding the last run takes a step for each run."""
MAX_JITTER_SECONDS = 3600
MIN_CRON_GAP_SECONDS = 60
"""The shortest gap between two times of a cron expression."""
JITTER_CHECK_OCCURRENCES = 100
"""How many occurrences of a cron are checked for a gap that is shorter than its jitter."""
MAX_START_AHEAD = timedelta(days=3653)
BOUNDS = ("starts_at", "ends_at", "max_runs", "jitter_seconds")

_RESOLUTION = datetime.resolution


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """A recurring schedule with a start, an end or jitter. Its kind and time zone are those of ``base``."""

    base: Cron | Every
    starts_at: datetime | None = None
    """The first instant that may be due."""
    ends_at: datetime | None = None
    """The last instant that may be due."""
    max_runs: int | None = None
    """The number of due instants, counted from the submission."""
    last_at: datetime | None = None
    """The last of the ``max_runs`` due instants; None if it is beyond the horizon, or if ``ends_at`` comes first."""
    jitter_seconds: int = 0
    """The maximum delay of a start after its due instant: see ``jitter``. The due instant itself does not change."""
    recurring: ClassVar[bool] = True

    @property
    def kind(self) -> str:
        return self.base.kind

    @property
    def timezone(self) -> str:
        return getattr(self.base, "timezone", "UTC")

    @property
    def until(self) -> datetime | None:
        """The earlier of ``ends_at`` and ``last_at``: no instant is due after it."""
        return min((at for at in (self.ends_at, self.last_at) if at is not None), default=None)

    def next_after(self, instant: datetime) -> datetime | None:
        """The first due instant strictly after ``instant``; None if there is none."""
        if self.until is not None and instant >= self.until:
            return None
        due = self.base.next_after(self._not_before(instant))
        return due if due is not None and (self.until is None or due <= self.until) else None

    def previous_before(self, instant: datetime) -> datetime | None:
        """The last due instant strictly before ``instant``; None if there is none."""
        due = self.base.previous_before(instant if self.until is None else min(instant, self.until + _RESOLUTION))
        return due if due is not None and (self.starts_at is None or due >= self.starts_at) else None

    def occurrences(self, after: datetime) -> Iterator[Occurrence]:
        """The occurrences of ``base`` later than ``after`` and within the bounds."""
        until, found = self.until, self.base.occurrences(self._not_before(after))
        if until is None:
            return found
        return takewhile(lambda occurrence: occurrence.at is None or occurrence.at <= until, found)

    def to_spec(self) -> dict[str, Any]:
        """The API's representation."""
        bounds = {
            "starts_at": to_text(self.starts_at) if self.starts_at else None,
            "ends_at": to_text(self.ends_at) if self.ends_at else None,
            "max_runs": self.max_runs,
            "jitter_seconds": self.jitter_seconds or None,
        }
        return self.base.to_spec() | {name: value for name, value in bounds.items() if value is not None}

    def to_stored(self) -> dict[str, Any]:
        """The stored representation; ``bounds_from_stored`` parses its ``bounds``."""
        last = {"last_at": to_text(self.last_at)} if self.last_at else {}
        bounds = {name: value for name, value in self.to_spec().items() if name in BOUNDS}
        return {**self.base.to_stored(), "bounds": bounds | last}

    def _not_before(self, instant: datetime) -> datetime:
        return instant if self.starts_at is None else max(instant, self.starts_at - _RESOLUTION)


def bounds_from_stored(base: Cron | Every, stored: Mapping[str, Any]) -> Bounded:
    """Parse the ``bounds`` of a stored schedule."""
    instants = {name: from_text(stored[name]) for name in ("starts_at", "ends_at", "last_at") if name in stored}
    numbers = {name: int(stored[name]) for name in ("max_runs", "jitter_seconds") if name in stored}
    return Bounded(base=base, **instants, **numbers)  # type: ignore[arg-type]


def parse_start(spec: Mapping[str, Any], now: datetime) -> datetime | None:
    """Parse ``starts_at``. Raises ``Invalid``, naming the field."""
    starts_at = _parse_instant(spec, "starts_at")
    if starts_at is not None and starts_at > now + MAX_START_AHEAD:
        raise Invalid("schedule.starts_at", f"{to_text(starts_at)} is more than ten years ahead: give an earlier start")
    return starts_at


def parse_bounds(
    spec: Mapping[str, Any], base: Cron | Every, now: datetime, counted_after: datetime
) -> Cron | Every | Bounded:
    """Wrap ``base`` in the bounds that ``spec`` has, if any; ``now`` is the instant of submission.

    ``max_runs`` counts the due instants later than ``counted_after``. Raises ``Invalid``, naming the field.
    """
    if not any(name in spec for name in BOUNDS):
        return base
    starts_at, ends_at = parse_start(spec, now), _parse_instant(spec, "ends_at")
    if ends_at is not None and starts_at is not None and ends_at < starts_at:
        raise Invalid(
            "schedule.ends_at",
            f"{to_text(ends_at)} is before schedule.starts_at, {to_text(starts_at)}: change one of them",
        )
    if ends_at is not None and ends_at < now:
        raise Invalid("schedule.ends_at", f"{to_text(ends_at)} is in the past: give a later end, or omit it")
    bounded = Bounded(
        base=base,
        starts_at=starts_at,
        ends_at=ends_at,
        max_runs=_parse_number(spec, "max_runs", 1, MAX_RUNS),
        jitter_seconds=_parse_jitter(spec, base, max(now, starts_at or now)) or 0,
    )
    return bounded if bounded.max_runs is None else _with_last_run(bounded, counted_after)


def check_total_runs(specs: Iterable[Mapping[str, Any]]) -> None:
    """Raise ``Invalid`` if the submissions of a batch have too many runs, naming the first over the limit."""
    total = 0
    for number, spec in enumerate(specs):
        total += spec.get("schedule", {}).get("max_runs", 0)
        if total > MAX_RUNS_OF_BATCH:
            message = f"brings the total of the batch to {total:,}; the limit is {MAX_RUNS_OF_BATCH:,}"
            raise Invalid(
                f"jobs.{number}.schedule.max_runs", f"{message}: lower max_runs, use ends_at, or send several batches"
            )


@lru_cache(maxsize=256)
def _with_last_run(bounded: Bounded, after: datetime) -> Bounded:
    """``bounded`` with its ``last_at``. Cached, because the jobs of a batch often share a schedule."""
    horizon = after.year + HORIZON_YEARS
    dues = (found.at for found in bounded.occurrences(after) if found.at is not None)
    runs = list(islice(takewhile(lambda due: due.year <= horizon, dues), bounded.max_runs))
    return replace(bounded, last_at=runs[-1] if len(runs) == bounded.max_runs else None)


def _parse_instant(spec: Mapping[str, Any], name: str) -> datetime | None:
    if name not in spec:
        return None
    if not isinstance(spec[name], str):
        raise Invalid(f"schedule.{name}", 'must be text, such as "2026-11-15T07:00:00Z"')
    return parse(f"schedule.{name}", spec[name])


def _parse_number(spec: Mapping[str, Any], name: str, low: int, high: int) -> int | None:
    number = spec.get(name)
    if name in spec and (isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high):
        raise Invalid(f"schedule.{name}", f"must be a whole number from {low} to {high:,}")
    return number


def _parse_jitter(spec: Mapping[str, Any], base: Cron | Every, after: datetime) -> int | None:
    jitter = _parse_number(spec, "jitter_seconds", 0, MAX_JITTER_SECONDS)
    if jitter is None:
        return None
    if base.kind == "every" and jitter > spec["every_seconds"]:
        interval = f"schedule.every_seconds, {spec['every_seconds']:,}"
        raise Invalid("schedule.jitter_seconds", f"{jitter:,} is longer than {interval}: give at most that")
    if base.kind == "cron" and jitter > MIN_CRON_GAP_SECONDS and (gap := _shortest_gap(base, after)) and jitter > gap:
        shortest = f"the shortest gap between two times of schedule.cron, {spec['cron']!r}, which is {gap:,}"
        raise Invalid("schedule.jitter_seconds", f"{jitter:,} is longer than {shortest}: give at most that")
    return jitter


@lru_cache(maxsize=256)
def _shortest_gap(base: Cron | Every, after: datetime) -> int | None:
    """The shortest gap in wall-clock seconds; skipped dates and clock changes are exceptions and do not count."""
    soon = takewhile(lambda found: found.local.year <= after.year + 1, replace(base, skip=None).occurrences(after))
    checked = islice(soon, JITTER_CHECK_OCCURRENCES)
    walls = [found.local for found in checked if found.at is not None and found.flag is None]
    return min((int((later - earlier).total_seconds()) for earlier, later in pairwise(walls)), default=None)
