"""Forecasts when the parts that wait in the long lane get a slot. The monitor computes it once a minute.

The forecast for one waiting part depends on all parts ahead of it. Instead of computing it for each part, the monitor
simulates the lane once and stores a curve: a part with this latest start will start at about that time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, slack, time_left
from punctual.domain.long_lane.part import Part

MAX_POINTS = 40
ONE_VCPU = 1024

T = TypeVar("T")


@dataclass(frozen=True)
class StartForecast:
    """A part with this ``latest_start`` is forecast to start at about ``start_at``."""

    latest_start: datetime
    start_at: datetime


@dataclass(frozen=True)
class HeldSlots:
    """Slots that become free at about the same time."""

    until: datetime
    tasks: int
    cpu: int
    """Of all of them together."""


@dataclass(frozen=True)
class WaitingSlots:
    """Waiting parts that are neighbours in the order of admission."""

    latest_start: datetime
    seconds: int
    """The expected run time of each of them."""
    tasks: int
    cpu: int
    """Of all of them together."""


@dataclass(frozen=True)
class PlannedSlots:
    """Slots that an execution will request at about ``at``."""

    at: datetime
    latest_start: datetime
    seconds: int
    """The expected run time of each of its parts."""
    tasks: int
    cpu: int
    """Of all of them together."""
    execution_id: str


@dataclass(frozen=True, kw_only=True)
class LaneOutlook:
    at: datetime
    first_free: datetime
    """When a part ahead of all others would get a slot."""
    taken_cpu: int = 0
    taken_tasks: int = 0
    waiting: int = 0
    """The number of parts that wait for a slot. In a very long queue only the first parts are counted."""
    waiting_cpu: int = 0
    starts: tuple[StartForecast, ...] = ()
    """In admission order."""
    holding: tuple[HeldSlots, ...] = ()
    """By the time at which they become free."""
    demand: tuple[WaitingSlots, ...] = ()
    """In admission order."""
    planned: tuple[PlannedSlots, ...] = ()
    """By the time at which they are requested: the first of them, and only executions that have no parts yet."""
    laxest: str | None = None
    """The id of the execution that has the most slack of all slot holders."""

    def start_of(self, latest_start: datetime, now: datetime) -> datetime:
        """Forecast the start of a part with this ``latest_start`` that is already waiting, or requests a slot now."""
        ahead = [start.start_at for start in self.starts if start.latest_start <= latest_start]
        return max([now, self.first_free, *ahead])

    def ahead_of(self, latest_start: datetime) -> int:
        """Estimate how many waiting parts are ahead of a part with this ``latest_start``."""
        points_ahead = sum(start.latest_start < latest_start for start in self.starts)
        return round(points_ahead * self.waiting / len(self.starts)) if self.starts else 0


def lane_outlook(
    holders: Sequence[Part],
    waiting: Iterable[Part],
    limits: LaneLimits,
    now: datetime,
    planned: tuple[PlannedSlots, ...] = (),
) -> LaneOutlook:
    """Simulate the lane: as slots become free, waiting parts take them in admission order."""
    tasks, cpu = len(holders), sum(part.cpu for part in holders)
    is_free = limits.allow(Occupancy(tasks, cpu).plus(ONE_VCPU)) or not holders
    first_free = now if is_free else min(expected_release(part, now) for part in holders)
    queue = list(waiting)
    expected = expected_starts(holders, queue, limits, now)
    starts = [StartForecast(part.latest_start, at) for part, at in zip(queue, expected, strict=True)]
    return LaneOutlook(
        at=now,
        first_free=first_free,
        taken_tasks=tasks,
        taken_cpu=cpu,
        waiting=len(queue),
        waiting_cpu=sum(part.cpu for part in queue),
        starts=_sample(starts),
        holding=tuple(_holding(holders, now)),
        demand=tuple(_demand(queue)),
        planned=planned,
        laxest=max(holders, key=lambda part: slack(part, now)).execution_id if holders else None,
    )


def expected_starts(
    holders: Sequence[Part], waiting: Iterable[Part], limits: LaneLimits, now: datetime
) -> list[datetime]:
    """When each of ``waiting`` is expected to get a slot."""
    releases = [(expected_release(part, now), number, part.cpu) for number, part in enumerate(holders)]
    heapq.heapify(releases)
    tasks, cpu = len(holders), sum(part.cpu for part in holders)
    starts: list[datetime] = []
    at = now
    for number, part in enumerate(waiting, start=len(holders)):
        while releases and not limits.allow(Occupancy(tasks, cpu).plus(part.cpu)):
            freed_at, _, freed_cpu = heapq.heappop(releases)
            at, tasks, cpu = max(at, freed_at), tasks - 1, cpu - freed_cpu
        heapq.heappush(releases, (at + timedelta(seconds=part.expected_seconds), number, part.cpu))
        tasks, cpu = tasks + 1, cpu + part.cpu
        starts.append(at)
    return starts


def expected_release(part: Part, now: datetime) -> datetime:
    """When a part that holds a slot is expected to release it."""
    return now + max(time_left(part, now), timedelta())


def _holding(holders: Sequence[Part], now: datetime) -> Iterator[HeldSlots]:
    by_release = sorted((expected_release(part, now), part.cpu) for part in holders)
    for group in _groups(by_release):
        yield HeldSlots(group[len(group) // 2][0], len(group), sum(cpu for _, cpu in group))


def _demand(queue: Sequence[Part]) -> Iterator[WaitingSlots]:
    for group in _groups(queue):
        seconds = sum(part.expected_seconds for part in group) // len(group)
        yield WaitingSlots(group[-1].latest_start, seconds, len(group), sum(part.cpu for part in group))


def _groups(sequence: Sequence[T]) -> Iterator[Sequence[T]]:
    """Divide ``sequence`` into at most ``MAX_POINTS`` groups of neighbours, to bound the stored record."""
    size = -(-len(sequence) // MAX_POINTS)
    return (sequence[start : start + size] for start in range(0, len(sequence), max(size, 1)))


def _sample(starts: list[StartForecast]) -> tuple[StartForecast, ...]:
    """Choose at most ``MAX_POINTS`` of ``starts``, evenly spaced and including the last, to bound the stored record."""
    if len(starts) <= MAX_POINTS:
        return tuple(starts)
    step = len(starts) / MAX_POINTS
    return tuple(starts[min(round((n + 1) * step) - 1, len(starts) - 1)] for n in range(MAX_POINTS))
