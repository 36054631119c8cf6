"""The capacity of a queue's workers, measured between two samples of the queue.

Throughput shows the capacity only while messages wait for workers. It is measured then and remembered, so that the
drain time of the next backlog is known at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime

from punctual.domain.forecasts.queue_flow import Flow, mean_lateness

MEASURABLE_SECONDS = (20.0, 300.0)
"""Shortest and longest interval to measure. Counters are flushed every 5 seconds, so a shorter one is too inexact; in a
longer one the queue may have been empty in between."""

TRANSIT_SECONDS = 5.0
"""A message that is received sooner than this is in transit, not waiting."""

MIN_WAIT_SHARE = 0.4
"""Of the expected wait: messages that began to wait a moment ago have waited half as long, and some counts are late."""

HANDLING_SECONDS = 0.05
"""Time that a message takes besides its task: to be received, claimed and concluded."""

NOISE_FACTOR = 4
"""Counts may differ by this multiple of their square root by chance. A larger difference is a real change."""

REMEMBERED_RUNS_WEIGHT = 10
"""The weight of the remembered run time, in runs, against the runs that ended since."""


@dataclass(frozen=True, kw_only=True)
class Depth:
    """The message counts of a queue at one moment."""

    visible: int
    """Due and waiting for a worker."""
    in_flight: int
    delayed: int
    """Not due yet."""


@dataclass(frozen=True, kw_only=True)
class QueueMemory:
    """State of a queue that is carried from one sample to the next."""

    flow: Flow = field(default_factory=Flow)
    """Totals since counting began."""
    capacity: float | None = None
    """Messages per minute, as last measured while messages waited."""
    run_seconds: float | None = None
    """Mean run time of a task."""
    near_limit_since: datetime | None = None
    """Since when its backlog is near its limit; ``None`` unless it is."""


@dataclass(frozen=True)
class Interval:
    """The changes of a queue between two samples."""

    seconds: float
    before: Depth
    after: Depth
    flow: Flow
    concurrency: int
    """Maximum number of workers."""

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def workers(self) -> int:
        """Busy workers. In-flight messages beyond the concurrency are hidden after a failure."""
        return min(self.after.in_flight, self.concurrency)

    @property
    def _growth(self) -> int:
        return self.after.visible + self.after.in_flight - self.before.visible - self.before.in_flight

    @property
    def done(self) -> int:
        """Messages that left the queue: the counted ones, but at least as many as the queue shrank by."""
        return max(self.flow.done, -self._growth)

    @property
    def arrived(self) -> int:
        return self._growth + self.done

    @property
    def was_backlogged(self) -> bool:
        """Whether messages waited for workers throughout the interval.

        Waiting messages at both ends are not enough: jobs that are due on the minute, when samples are taken, wait in
        every sample and are gone a second later. So at least one message per worker must wait, more than are in
        transit, and the started ones must on average have waited as long as in a permanent backlog of this size.
        """
        waiting = min(self.before.visible, self.after.visible)
        if waiting < max(self.workers, 1):
            return False
        if not self.done:
            return True
        wait = waiting / self.done * self.seconds
        if wait < TRANSIT_SECONDS:
            return False
        expected = min(wait, self.seconds)
        waited = mean_lateness(self.flow.late, longest=expected)
        return waited is None or waited >= MIN_WAIT_SHARE * expected

    def capacity(self, memory: QueueMemory) -> float | None:
        """Messages per minute, for an interval that was backlogged.

        Each worker may hold one unfinished message, so the count is exact within one message per worker. That is
        negligible when many were done, but too coarse when tasks take as long as the interval: within these bounds the
        run time decides.
        """
        workers = self.workers
        least, most = (self.done - workers) / self.minutes, (self.done + workers) / self.minutes
        if workers and memory.run_seconds is not None:
            likely = _per_minute(workers, memory.run_seconds)
        elif memory.capacity is not None:
            likely = memory.capacity
        elif self.done or not workers:
            likely = self.done / self.minutes
        else:
            return None
        return min(max(likely, least), most)


def updated_run_seconds(remembered: float | None, since: Flow) -> float | None:
    """The mean run time, updated with the runs that ended since."""
    if not since.finished:
        return remembered
    mean = since.busy_ms / since.finished / 1000
    if remembered is None:
        return mean
    return remembered + (mean - remembered) * since.finished / (since.finished + REMEMBERED_RUNS_WEIGHT)


def updated_capacity(interval: Interval | None, memory: QueueMemory) -> float | None:
    """The measured capacity, updated with an interval."""
    if interval is None or not MEASURABLE_SECONDS[0] <= interval.seconds <= MEASURABLE_SECONDS[1]:
        return memory.capacity
    measured = interval.capacity(memory) if interval.was_backlogged else None
    if measured is not None:
        return _smoothed(memory.capacity, measured, interval.minutes)
    counted = interval.flow.done / interval.minutes
    if memory.capacity:
        return max(memory.capacity, counted)  # the capacity is at least the observed throughput
    return memory.capacity if interval.after.visible and not counted else None


def capacity_of(memory: QueueMemory, concurrency: int) -> float | None:
    """Messages per minute: as measured, but never more than all workers can do at the current run time."""
    if memory.run_seconds is None:
        return memory.capacity
    if memory.capacity is None:
        return _per_minute(concurrency, memory.run_seconds + HANDLING_SECONDS)
    return min(memory.capacity, _per_minute(concurrency, memory.run_seconds))


def _smoothed(remembered: float | None, measured: float, minutes: float) -> float:
    """The mean of both, unless the change is larger than chance explains or either is zero: then the measured one."""
    if not remembered or not measured:
        return measured
    noise = NOISE_FACTOR * math.sqrt(max(measured, remembered) / minutes)
    return measured if abs(measured - remembered) > noise else (measured + remembered) / 2


def _per_minute(workers: int, seconds: float) -> float:
    return 60 * workers / seconds if seconds else math.inf
