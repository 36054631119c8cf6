"""Partitions: how an execution is cut into pieces that run side by side."""

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

if TYPE_CHECKING:
    from punctual.domain.schedules.schedule import Schedule

MOST_PARTITIONS = 200

_FORMS = ("count", "by", "of")
_KEYS = (*_FORMS, "at_once")


class PartitionUnit(StrEnum):
    """Where a window is cut, on the calendar of the schedule's time zone."""

    DAY = "day"
    HOUR = "hour"


@dataclass(frozen=True)
class Partition:
    """One piece: which of how many, and what it is about."""

    number: int
    count: int
    value: Any = None
    """Its element, when the job lists its partitions."""
    window: DataWindow | None = None
    """Its slice, when the window is cut; else the whole window."""

    @property
    def name(self) -> str:
        """``0003``. Sorts as text in the order of numbers."""
        return f"{self.number:04d}"


@dataclass(frozen=True)
class Partitions:
    """So many, one for each day or hour of the window, or one for each element of a list: one of these."""

    count: int | None = None
    by: PartitionUnit | None = None
    of: tuple[Any, ...] | None = None
    at_once: int | None = None
    """How many run at the same time; None for all."""

    def to_spec(self) -> dict[str, Any]:
        """As the API takes and shows it; ``parse_partitions`` reads it back."""
        spec = {
            "count": self.count,
            "by": self.by.value if self.by else None,
            "of": None if self.of is None else list(self.of),
            "at_once": self.at_once,
        }
        return {key: value for key, value in spec.items() if value is not None}

    def split(self, window: DataWindow | None, timezone: str) -> list[Partition]:
        """The partitions of the execution that answers for ``window``; ``timezone`` says when its days begin.

        Cut by day or hour, the slices join exactly; the first and the last may be partial. Raises ``Invalid`` when
        there is no window to cut, or when it makes too many.
        """
        if self.by is not None:
            slices = cut(window, self.by, timezone)
            return [Partition(number, len(slices), None, piece) for number, piece in enumerate(slices)]
        values = (None,) * (self.count or 0) if self.of is None else self.of
        return [Partition(number, len(values), value, window) for number, value in enumerate(values)]


def parse_partitions(spec: object) -> Partitions | None:
    """From the API's form: ``7``, ``["a", "b"]``, or an object with one of ``count``, ``by`` and ``of``.

    An object may say ``at_once``. Raises ``Invalid`` that names the field.
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
            raise Invalid(f"partitions.{key}", f"is not known here; use {', '.join(_KEYS)}")
    forms = [form for form in _FORMS if spec.get(form) is not None]
    if not forms:
        raise Invalid("partitions", f"needs one of {', '.join(_FORMS)}; leave partitions out to run in one piece")
    if len(forms) > 1:
        raise Invalid("partitions", f"has {' and '.join(forms)}, which exclude each other: keep one")
    match forms[0]:
        case "count":
            count = _parse_count("partitions.count", spec["count"])
            return Partitions(count=count, at_once=_parse_at_once(spec, count))
        case "by":
            return Partitions(by=_parse_by(spec["by"]), at_once=_parse_at_once(spec, MOST_PARTITIONS))
        case _:
            of = _parse_of("partitions.of", spec["of"])
            return Partitions(of=of, at_once=_parse_at_once(spec, len(of)))


def _parse_count(field: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_PARTITIONS:
        raise Invalid(field, f"must be a whole number from 1 to {MOST_PARTITIONS}")
    return count


def _parse_by(unit: object) -> PartitionUnit:
    try:
        return PartitionUnit(unit)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid("partitions.by", f"{str(unit)[:64]!r} is not one of {', '.join(PartitionUnit)}") from None


def _parse_of(field: str, of: object) -> tuple[Any, ...]:
    if not isinstance(of, list | tuple):
        raise Invalid(field, 'must be a list, such as ["north", "south"]')
    if not 1 <= len(of) <= MOST_PARTITIONS:
        raise Invalid(field, f"has {len(of):,} elements; from 1 to {MOST_PARTITIONS} can be used")
    check_parameters(field, {"of": of})
    return tuple(of)


def _parse_at_once(spec: Mapping[str, Any], most: int) -> int | None:
    at_once = spec.get("at_once")
    if at_once is None:
        return None
    if isinstance(at_once, bool) or not isinstance(at_once, int) or not 1 <= at_once <= most:
        raise Invalid("partitions.at_once", f"must be a whole number from 1 to {most}; leave it out to run all at once")
    return at_once


def cut(window: DataWindow | None, unit: PartitionUnit, timezone: str) -> Sequence[DataWindow]:
    if window is None:
        raise Invalid("partitions.by", f"there is no data window to cut by {unit}: give count or of instead")
    slices = list(islice(window.split(WindowUnit(unit.value), timezone), MOST_PARTITIONS + 1))
    if len(slices) > MOST_PARTITIONS:
        stretch = f"the window from {to_text(window.start)} to {to_text(window.end)}"
        remedy = "cut it by day" if unit is PartitionUnit.HOUR else "give count or of instead"
        raise Invalid("partitions.by", f"{stretch} has more {unit}s than the {MOST_PARTITIONS} allowed: {remedy}")
    return slices


def check_partitions(partitions: Partitions, schedule: Schedule, unit: WindowUnit | None) -> None:
    """Raise ``Invalid`` for ``by`` on a job without data windows, or with windows that make too many partitions."""
    # imported here: workers read partitions and have no use for schedules
    from punctual.domain.schedules.due_window import longest_window, zone_of
    from punctual.domain.schedules.schedule import Queue

    if partitions.by is None:
        return
    if not schedule.recurring:
        job = "a queue job" if isinstance(schedule, Queue) else "a one-time job"
        raise Invalid("partitions.by", f"{job} has no data window to cut: give count or of instead")
    window = longest_window(schedule, unit)
    if window is not None:
        cut(window, partitions.by, zone_of(schedule))
