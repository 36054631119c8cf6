"""Partitions: how an execution is split into pieces that run in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Invalid
from punctual.domain.instant import to_text
from punctual.domain.limits import check_parameters
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.suggestion import one_of

if TYPE_CHECKING:
    from punctual.domain.schedules.schedule import Schedule

MAX_PARTITIONS = 200
MAX_PARALLEL_PARTITIONS = 40
"""The limit of Step Functions for an inline ``Map`` state."""

_FORMS = ("count", "by", "of")
_KEYS = (*_FORMS, "at_once")


class PartitionUnit(StrEnum):
    """The calendar unit by which a data window is split, in the schedule's time zone."""

    DAY = "day"
    HOUR = "hour"


@dataclass(frozen=True)
class Partition:
    """One partition: its number, the total count, and the element or data window that it processes."""

    number: int
    count: int
    value: Any = None
    """Its element, if the job lists its partitions."""
    window: DataWindow | None = None
    """Its slice if the window is split; otherwise the whole window."""

    @property
    def name(self) -> str:
        """``0003``. The text order is the numeric order."""
        return f"{self.number:04d}"


@dataclass(frozen=True)
class Partitions:
    """Exactly one of: a fixed count, one per day or hour of the data window, or one per element of a list."""

    count: int | None = None
    by: PartitionUnit | None = None
    of: tuple[Any, ...] | None = None
    at_once: int | None = None
    """How many run concurrently; None for all."""

    def parallel(self, count: int) -> int:
        """How many of ``count`` partitions run concurrently, if there are slots for them."""
        return max(min(self.at_once or count, count, MAX_PARALLEL_PARTITIONS), 1)

    def to_spec(self) -> dict[str, Any]:
        """The API's representation; the inverse of ``parse_partitions``."""
        spec = {
            "count": self.count,
            "by": self.by.value if self.by else None,
            "of": None if self.of is None else list(self.of),
            "at_once": self.at_once,
        }
        return {key: value for key, value in spec.items() if value is not None}

    def split(self, window: DataWindow | None, timezone: str) -> list[Partition]:
        """The partitions of an execution with the data window ``window``.

        ``timezone`` determines where days and hours begin. Slices are contiguous; the first and the last may be
        partial. Raises ``Invalid`` if there is no window to split, or if it would make too many partitions.
        """
        if self.by is not None:
            slices = _split_window(window, self.by, timezone)
            return [Partition(number, len(slices), None, piece) for number, piece in enumerate(slices)]
        values = (None,) * (self.count or 0) if self.of is None else self.of
        return [Partition(number, len(values), value, window) for number, value in enumerate(values)]


def parse_partitions(spec: object) -> Partitions | None:
    """Parse the API's representation: ``7``, ``["a", "b"]``, or an object with one of ``count``, ``by`` and ``of``.

    An object may also have ``at_once``. Raises ``Invalid``, naming the field.
    """
    if spec is None:
        return None
    if isinstance(spec, Mapping):
        return _parse_object(spec)
    if isinstance(spec, list | tuple):
        return Partitions(of=_parse_of("partitions", spec))
    if isinstance(spec, bool) or not isinstance(spec, int):
        raise Invalid("partitions", 'must be a number such as 7, a list, or an object such as {"by": "day"}')
    return Partitions(count=_parse_count("partitions", spec))


def _parse_object(spec: Mapping[str, Any]) -> Partitions:
    for key in spec:
        if key not in _KEYS:
            raise Invalid(f"partitions.{key}", f"is not a known field; use {one_of(_KEYS, key)}")
    forms = [form for form in _FORMS if spec.get(form) is not None]
    if not forms:
        raise Invalid("partitions", f"needs one of {', '.join(_FORMS)}; omit partitions to run without splitting")
    if len(forms) > 1:
        raise Invalid("partitions", f"has {' and '.join(forms)}, which are mutually exclusive: keep one")
    match forms[0]:
        case "count":
            count = _parse_count("partitions.count", spec["count"])
            return Partitions(count=count, at_once=_parse_at_once(spec, count))
        case "by":
            return Partitions(by=_parse_by(spec["by"]), at_once=_parse_at_once(spec, MAX_PARTITIONS))
        case _:
            of = _parse_of("partitions.of", spec["of"])
            return Partitions(of=of, at_once=_parse_at_once(spec, len(of)))


def _parse_count(field: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_PARTITIONS:
        raise Invalid(field, f"must be a whole number from 1 to {MAX_PARTITIONS}")
    return count


def _parse_by(unit: object) -> PartitionUnit:
    try:
        return PartitionUnit(unit)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid("partitions.by", f"{str(unit)[:64]!r} is not one of {one_of(PartitionUnit, unit)}") from None


def _parse_of(field: str, of: object) -> tuple[Any, ...]:
    if not isinstance(of, list | tuple):
        raise Invalid(field, 'must be a list, such as ["north", "south"]')
    if not 1 <= len(of) <= MAX_PARTITIONS:
        raise Invalid(field, f"has {len(of):,} elements; give from 1 to {MAX_PARTITIONS}")
    check_parameters(field, {"of": of})
    return tuple(of)


def _parse_at_once(spec: Mapping[str, Any], maximum: int) -> int | None:
    at_once = spec.get("at_once")
    if at_once is None:
        return None
    if isinstance(at_once, bool) or not isinstance(at_once, int) or not 1 <= at_once <= maximum:
        raise Invalid("partitions.at_once", f"must be a whole number from 1 to {maximum}; omit it to run all at once")
    return at_once


def _split_window(window: DataWindow | None, unit: PartitionUnit, timezone: str) -> Sequence[DataWindow]:
    if window is None:
        raise Invalid("partitions.by", f"there is no data window to split by {unit}: give count or of instead")
    slices = list(islice(window.split(WindowUnit(unit.value), timezone), MAX_PARTITIONS + 1))
    if len(slices) > MAX_PARTITIONS:
        span = f"the window from {to_text(window.start)} to {to_text(window.end)}"
        remedy = "split it by day" if unit is PartitionUnit.HOUR else "give count or of instead"
        raise Invalid("partitions.by", f"{span} has more {unit}s than the {MAX_PARTITIONS} allowed: {remedy}")
    return slices


def check_partitions(partitions: Partitions, schedule: Schedule, unit: WindowUnit | None) -> None:
    """Raise ``Invalid`` for ``by`` on a job without data windows, or whose windows would make too many partitions."""
    # imported here: workers parse partitions but never need schedules
    from punctual.domain.schedules.due_window import longest_window, zone_of
    from punctual.domain.schedules.schedule import PerMessage

    if partitions.by is None:
        return
    if not schedule.recurring:
        job = "a queue job" if isinstance(schedule, PerMessage) else "a one-time job"
        raise Invalid("partitions.by", f"{job} has no data window to split: give count or of instead")
    window = longest_window(schedule, unit)
    if window is not None:
        _split_window(window, partitions.by, zone_of(schedule))
