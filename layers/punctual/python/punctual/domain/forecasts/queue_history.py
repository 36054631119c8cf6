"""The history of the queues: their depth and rates in intervals of five minutes, and their usual rates.

The monitor adds each of its samples to the point of the current interval. A sample that is added twice counts twice,
which changes a mean a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from punctual.domain.forecasts.queue_backlog import Backlog, Sample

INTERVAL = timedelta(minutes=5)
SHOWN_HISTORY = timedelta(hours=24)
DAY = timedelta(days=1)
COMPARED_DAYS = 7
"""The usual rate is that of the same hour on so many previous days."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A queue in one interval."""

    at: datetime
    """The beginning of the interval."""
    depth: int
    """The highest one."""
    samples: int = 0
    """The samples with known rates, whose sums are:"""
    arrived: float = 0.0
    finished: float = 0.0

    @property
    def arrival_per_minute(self) -> float | None:
        return self.arrived / self.samples if self.samples else None

    @property
    def finished_per_minute(self) -> float | None:
        return self.finished / self.samples if self.samples else None


Hour = Mapping[str, Sequence[Point]]
"""The points of an hour, by queue, in the order of time."""


@dataclass(frozen=True)
class QueueHistory:
    points: Sequence[Point]
    """Of the last 24 hours, oldest first."""
    usual_arrival_per_minute: float | None
    """``None`` if unknown."""
    usual_finished_per_minute: float | None


def hour_of(instant: datetime) -> datetime:
    """The beginning of the hour that contains ``instant``."""
    return instant.replace(minute=0, second=0, microsecond=0)


def hours_read(now: datetime) -> list[datetime]:
    """The hours that the history of the queues is read from: the last 24 and, earlier, the same hour of each day."""
    this = hour_of(now)
    last = [this - timedelta(hours=n) for n in range(SHOWN_HISTORY // timedelta(hours=1) + 1)]
    return last + [this - n * DAY for n in range(2, COMPARED_DAYS + 1)]


def with_sample(hour: Hour, sample: Sample) -> Hour:
    """Add a sample to the points of its hour. A queue that could not be read is left as it was."""
    at = sample.at.replace(minute=sample.at.minute // 5 * 5, second=0, microsecond=0)
    return {**hour, **{queue: _with(hour.get(queue, ()), at, one) for queue, one in sample.queues.items()}}


def _with(points: Sequence[Point], at: datetime, backlog: Backlog) -> Sequence[Point]:
    if backlog.depth is None:
        return points
    *earlier, last = points or [Point(at=at, depth=0)]
    if last.at != at:
        earlier, last = list(points), Point(at=at, depth=0)
    last = replace(last, depth=max(last.depth, backlog.depth))
    arrived, finished = backlog.arrival_per_minute, backlog.finished_per_minute
    if arrived is not None and finished is not None:
        last = replace(
            last, samples=last.samples + 1, arrived=last.arrived + arrived, finished=last.finished + finished
        )
    return (*earlier, last)


def history_of(queue: str, hours: Iterable[Hour], now: datetime) -> QueueHistory:
    """The history of one queue from the stored hours, in any order.

    The usual rate is the median of the same hour on the previous days; without those, of the last 24 hours.
    """
    points = sorted((point for hour in hours for point in hour.get(queue, ())), key=lambda point: point.at)
    shown = [point for point in points if point.at > now - SHOWN_HISTORY]
    this = hour_of(now)
    compared = [point for point in points if hour_of(point.at) < this and hour_of(point.at).hour == this.hour]
    usual = compared or shown
    return QueueHistory(
        points=shown,
        usual_arrival_per_minute=_median(point.arrival_per_minute for point in usual),
        usual_finished_per_minute=_median(point.finished_per_minute for point in usual),
    )


def _median(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return median(known) if known else None
