"""When those who wait in the long lane will get their slots: what the monitor works out once a minute.

A forecast for one who waits has to know who is before it. Instead of asking for each, the lane is played through once,
and what comes of it is kept as a line: who has to start by then, may start at about that time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, slack, time_left
from punctual.domain.long_lane.part import Part

MOST_POINTS = 40
ONE_VCPU = 1024


@dataclass(frozen=True)
class Start:
    """Whoever has to start by ``latest_start`` will start at about ``start_at``."""

    latest_start: datetime
    start_at: datetime


@dataclass(frozen=True, kw_only=True)
class LaneOutlook:
    at: datetime
    first_free: datetime
    """When somebody who is before all others gets a slot."""
    taken_cpu: int = 0
    taken_tasks: int = 0
    waiting: int = 0
    """How many ask for a slot; of very many only the first are counted."""
    waiting_cpu: int = 0
    starts: tuple[Start, ...] = ()
    """In the order of their turn."""
    laxest: str | None = None
    """The execution with a slot that has the most time to spare."""

    def start_of(self, latest_start: datetime, now: datetime) -> datetime:
        """When one that has to start by then will start, if it asks now or does so already."""
        ahead = [start.start_at for start in self.starts if start.latest_start <= latest_start]
        return max([now, self.first_free, *ahead])

    def ahead_of(self, latest_start: datetime) -> int:
        """How many of those who asked have their turn before one that has to start by then."""
        before = sum(start.latest_start < latest_start for start in self.starts)
        return round(before * self.waiting / len(self.starts)) if self.starts else 0


def lane_outlook(holders: Sequence[Part], waiting: Iterable[Part], limits: LaneLimits, now: datetime) -> LaneOutlook:
    """Play the lane through: as slots come free, those who wait take them in the order of their turn."""
    frees = [(now + max(time_left(part, now), timedelta()), number, part.cpu) for number, part in enumerate(holders)]
    heapq.heapify(frees)
    tasks, cpu = len(holders), sum(part.cpu for part in holders)
    first_free = now if limits.hold(Occupancy(tasks, cpu).plus(ONE_VCPU)) or not frees else frees[0][0]
    starts: list[Start] = []
    asking = list(waiting)
    at = now
    for number, part in enumerate(asking, start=len(holders)):
        while frees and not limits.hold(Occupancy(tasks, cpu).plus(part.cpu)):
            freed_at, _, freed_cpu = heapq.heappop(frees)
            at, tasks, cpu = max(at, freed_at), tasks - 1, cpu - freed_cpu
        heapq.heappush(frees, (at + timedelta(seconds=part.expected_seconds), number, part.cpu))
        tasks, cpu = tasks + 1, cpu + part.cpu
        starts.append(Start(part.latest_start, at))
    return LaneOutlook(
        at=now,
        first_free=first_free,
        taken_tasks=len(holders),
        taken_cpu=sum(part.cpu for part in holders),
        waiting=len(asking),
        waiting_cpu=sum(part.cpu for part in asking),
        starts=_fewer(starts),
        laxest=max(holders, key=lambda part: slack(part, now)).execution_id if holders else None,
    )


def _fewer(starts: list[Start]) -> tuple[Start, ...]:
    """As many as a record holds, evenly chosen, the last among them."""
    if len(starts) <= MOST_POINTS:
        return tuple(starts)
    step = len(starts) / MOST_POINTS
    return tuple(starts[min(round((n + 1) * step) - 1, len(starts) - 1)] for n in range(MOST_POINTS))
