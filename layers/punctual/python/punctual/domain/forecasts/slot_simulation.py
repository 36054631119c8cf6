"""Simulates when the partitions of one execution get slots and end, given their run times.

All times are seconds from the instant of the forecast.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from math import inf
from typing import NamedTuple

from punctual.domain.long_lane.laxity import LaneLimits

OTHER = -1
"""Stands for the parts of other executions, where a number stands for a partition."""
COLLECTOR = -2


@dataclass(frozen=True)
class Held:
    """Slots of other executions that become free after ``seconds``."""

    seconds: float
    tasks: int
    cpu: int
    """Of all of them together."""


@dataclass(frozen=True)
class Waiting:
    """Waiting parts of other executions."""

    latest_start: float
    seconds: float
    """The run time of each of them."""
    tasks: int
    cpu: int
    """Of each of them."""


@dataclass(frozen=True)
class Planned:
    """Parts of other executions that request their slots after ``seconds``."""

    seconds: float
    parts: Waiting


@dataclass(frozen=True, kw_only=True)
class SlotPlan:
    """The slots that an execution needs, and the lane that provides them."""

    limits: LaneLimits
    held: tuple[Held, ...] = ()
    """By other executions."""
    waiting: tuple[Waiting, ...] = ()
    """Other executions. Those with an earlier latest start get slots first."""
    planned: tuple[Planned, ...] = ()
    """Other executions, by the time at which they request slots."""
    cpu: int
    """Of each part of the execution."""
    at_once: int
    """How many of its partitions may run concurrently."""
    latest_start: float = inf
    """Of its partitions."""
    collect_latest_start: float = inf

    @cached_property
    def slots(self) -> int:
        """How many parts of its size fit into the lane."""
        return min(self.limits.tasks, self.limits.cpu // self.cpu)

    def with_slots(self, slots: int) -> SlotPlan:
        """The plan in a lane that is raised to at least so many slots of this size."""
        limits = LaneLimits(max(self.limits.tasks, slots), max(self.limits.cpu, slots * self.cpu))
        return replace(self, limits=limits)

    def alone(self) -> SlotPlan:
        """The plan in a lane without other executions."""
        return replace(self, held=(), waiting=(), planned=())


class Scenario(NamedTuple):
    """One possible outcome of all run times."""

    running: Sequence[float]
    """Remaining seconds of the partitions that hold a slot."""
    pending: Sequence[tuple[float, float]]
    """For each partition without a slot, in the order in which they are started: the time before which it cannot
    request one, and its run time."""
    collect: float = 0.0
    """The run time of the collector; 0 without one."""
    stretch: float = 1.0
    """Other executions run longer than expected by this factor."""


def end_of(scenario: Scenario, plan: SlotPlan) -> float:
    """Return when the execution ends; infinite if it never gets the slots that it needs."""
    if not (plan.held or plan.waiting or plan.planned) and plan.slots > 0:
        return _end_when_alone(scenario, min(plan.at_once, plan.slots)) + scenario.collect
    return _Simulation(scenario, plan).run()


def spans_of(scenario: Scenario, plan: SlotPlan) -> dict[int, tuple[float, float]]:
    """Return the start and the end of each part that gets a slot, by its place in ``pending`` or as ``COLLECTOR``."""
    simulation = _Simulation(scenario, plan)
    simulation.run()
    return simulation.spans


def _end_when_alone(scenario: Scenario, slots: int) -> float:
    """The end of the last partition if a slot is free whenever one of these ``slots`` is."""
    busy = sorted(scenario.running)
    for not_before, seconds in scenario.pending:
        if len(busy) < slots:
            heapq.heappush(busy, not_before + seconds)
        else:
            heapq.heapreplace(busy, max(busy[0], not_before) + seconds)
    return max(busy, default=0.0)


@dataclass
class _Simulation:
    """Replays the lane event by event: a slot becomes free, or a part requests one."""

    scenario: Scenario
    plan: SlotPlan
    _tasks: int = 0
    _cpu: int = 0
    _events: list[tuple[float, int, int, int, int]] = field(default_factory=list)
    """Time, order, number of the partition, tasks and CPU units that become free; no tasks: a request."""
    _queue: list[tuple[float, int, int, int, int, float]] = field(default_factory=list)
    """Latest start, order, number of the partition, tasks, CPU units of each, run time."""
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Start and end of the parts of this execution that got a slot."""

    def __post_init__(self) -> None:
        self._order = count()
        self._unstarted = list(enumerate(self.scenario.pending))[::-1]
        self._planned = list(self.plan.planned)[::-1]
        self._live = len(self.scenario.running) + len(self.scenario.pending)
        for held in self.plan.held:
            self._take(held.seconds * self.scenario.stretch, OTHER, held.tasks, held.cpu)
        for number, seconds in enumerate(self.scenario.running):
            self._take(seconds, number, 1, self.plan.cpu)
        for one in self.plan.waiting:
            self._wait_for_others(one)
        for planned in self.plan.planned:
            heapq.heappush(self._events, (planned.seconds, next(self._order), OTHER, 0, 0))
        for _ in range(self.plan.at_once - len(self.scenario.running)):
            self._request_next(0.0)
        while self._events and self._events[0][0] <= 0 and not self._events[0][3]:
            self._wait_for(heapq.heappop(self._events)[2])
        if not self._live and self.scenario.collect:
            self._request_collector(0.0)

    def run(self) -> float:
        self._admit(0.0)
        while self._events:
            at, _, number, tasks, cpu = heapq.heappop(self._events)
            if not tasks:
                self._wait_for(number)
            elif self._release(at, number, tasks, cpu):
                return at
            self._admit(at)
        return inf if self._live else 0.0

    def _release(self, at: float, number: int, tasks: int, cpu: int) -> bool:
        """Free slots. Returns whether this was the last part of the execution.

        Parts that wait already get a free slot before the next partition has requested it.
        """
        self._tasks, self._cpu = self._tasks - tasks, self._cpu - cpu
        if number == OTHER:
            return False
        self._live -= 1
        self._request_next(at)
        if self._live == 0 and number != COLLECTOR and self.scenario.collect:
            self._request_collector(at)
            return False
        return self._live <= 0

    def _request_next(self, at: float) -> None:
        if self._unstarted:
            number, (not_before, _) = self._unstarted.pop()
            heapq.heappush(self._events, (max(at, not_before), next(self._order), number, 0, 0))

    def _request_collector(self, at: float) -> None:
        heapq.heappush(self._events, (at, next(self._order), COLLECTOR, 0, 0))

    def _wait_for(self, number: int) -> None:
        plan = self.plan
        if number == OTHER:
            self._wait_for_others(self._planned.pop().parts)
        elif number == COLLECTOR:
            self._wait(plan.collect_latest_start, number, 1, plan.cpu, self.scenario.collect)
        else:
            self._wait(plan.latest_start, number, 1, plan.cpu, self.scenario.pending[number][1])

    def _wait_for_others(self, one: Waiting) -> None:
        self._wait(one.latest_start, OTHER, one.tasks, one.cpu, one.seconds * self.scenario.stretch)

    def _wait(self, latest_start: float, number: int, tasks: int, cpu: int, seconds: float) -> None:
        heapq.heappush(self._queue, (latest_start, next(self._order), number, tasks, cpu, seconds))

    def _take(self, until: float, number: int, tasks: int, cpu: int) -> None:
        self._tasks, self._cpu = self._tasks + tasks, self._cpu + cpu
        heapq.heappush(self._events, (until, next(self._order), number, tasks, cpu))

    def _admit(self, at: float) -> None:
        """Give free slots to waiting parts in order. A part that does not fit blocks the parts behind it."""
        limits = self.plan.limits
        while self._queue:
            latest_start, order, number, tasks, cpu, seconds = self._queue[0]
            fitting = min(tasks, limits.tasks - self._tasks, (limits.cpu - self._cpu) // cpu)
            if fitting <= 0:
                return
            if fitting == tasks:
                heapq.heappop(self._queue)
            else:
                heapq.heapreplace(self._queue, (latest_start, order, number, tasks - fitting, cpu, seconds))
            self._take(at + seconds, number, fitting, fitting * cpu)
            if number != OTHER:
                self.spans[number] = (at, at + seconds)
