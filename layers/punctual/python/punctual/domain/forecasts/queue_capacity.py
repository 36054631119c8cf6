"""What the workers of a queue can do, told from two looks at the queue and from what was counted in between.

How fast work is done says what *can* be done only while work waits for workers. It is measured then and remembered:
when the next flood comes, its end is known at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from punctual.domain.forecasts.queue_flow import Flow, mean_late

SPAN_RELIED_ON = (20.0, 300.0)
"""Seconds. In less, counts that are told every five say little; in more, nobody knows whether work always waited."""

TRANSIT = 5.0
"""Seconds. What is picked up sooner than this is on its way, not waiting."""

WAITED = 0.4
"""Of what is expected: what waits since a moment ago has waited half as long, and some counts are told late."""

HANDLING = 0.05
"""Seconds that a message takes besides its task: to be fetched, claimed and settled."""

NOISE = 4
"""Times the square root of a count: by so much counts of the same thing differ. Beyond, something has changed."""

RUNS_REMEMBERED = 10
"""How many runs the remembered run time weighs against those that ended since."""


@dataclass(frozen=True, kw_only=True)
class Depth:
    """One look at a queue."""

    visible: int
    """Due, and waiting for a worker."""
    in_flight: int
    delayed: int
    """Not due yet."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What the next sample has to know of a queue."""

    flow: Flow = field(default_factory=Flow)
    """All that was ever counted."""
    capacity: float | None = None
    """A minute, as last measured while work waited."""
    run_seconds: float | None = None
    """How long tasks take, on average."""


@dataclass(frozen=True)
class Interval:
    """What happened to a queue between two looks at it."""

    seconds: float
    before: Depth
    after: Depth
    flow: Flow
    concurrency: int
    """How many workers there may be."""

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def workers(self) -> int:
        """Those at work. More than there may be in flight are held back after a failure."""
        return min(self.after.in_flight, self.concurrency)

    @property
    def _grown(self) -> int:
        return self.after.visible + self.after.in_flight - self.before.visible - self.before.in_flight

    @property
    def done(self) -> int:
        """Messages that left: as many as were counted, and no fewer than the queue has shrunk by, told or not."""
        return max(self.flow.done, -self._grown)

    @property
    def arrived(self) -> int:
        return self._grown + self.done

    @property
    def backlogged(self) -> bool:
        """Whether work waited for workers all the time.

        Waiting messages at both ends are not enough: jobs that are due on the minute, when the looks are taken, wait at
        every look and are gone a second later. So there must be one for each worker, more than are just on their way,
        and what started must on average have waited as long as it would where so many wait all the time.
        """
        waiting = min(self.before.visible, self.after.visible)
        if waiting < max(self.workers, 1):
            return False
        if not self.done:
            return True
        wait = waiting / self.done * self.seconds
        if wait < TRANSIT:
            return False
        expected = min(wait, self.seconds)
        waited = mean_late(self.flow.late, longest=expected)
        return waited is None or waited >= WAITED * expected

    def capacity(self, memory: Memory) -> float | None:
        """What can be done in a minute, for an interval that was backlogged.

        Each worker may have one in hand, so what was done is right within one per worker. That is next to nothing where
        many were done, and too coarse where tasks take as long as the interval: within it, the run time decides.
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


def run_seconds(remembered: float | None, since: Flow) -> float | None:
    """The mean run time, with what has ended since."""
    if not since.finished:
        return remembered
    mean = since.busy_ms / since.finished / 1000
    if remembered is None:
        return mean
    return remembered + (mean - remembered) * since.finished / (since.finished + RUNS_REMEMBERED)


def remembered_capacity(interval: Interval | None, memory: Memory) -> float | None:
    """The measured capacity after an interval."""
    if interval is None or not SPAN_RELIED_ON[0] <= interval.seconds <= SPAN_RELIED_ON[1]:
        return memory.capacity
    measured = interval.capacity(memory) if interval.backlogged else None
    if measured is not None:
        return _smoothed(memory.capacity, measured, interval.minutes)
    counted = interval.flow.done / interval.minutes
    if memory.capacity:
        return max(memory.capacity, counted)  # what was done can be done
    return memory.capacity if interval.after.visible and not counted else None


def capacity_of(memory: Memory, concurrency: int) -> float | None:
    """What can be done in a minute: as measured, but never more than all workers could at the present run time."""
    if memory.run_seconds is None:
        return memory.capacity
    if memory.capacity is None:
        return _per_minute(concurrency, memory.run_seconds + HANDLING)
    return min(memory.capacity, _per_minute(concurrency, memory.run_seconds))


def _smoothed(remembered: float | None, measured: float, minutes: float) -> float:
    """Halfway from the remembered one, unless it has changed by more than chance would have it, or all stands still."""
    if not remembered or not measured:
        return measured
    chance = NOISE * math.sqrt(max(measured, remembered) / minutes)
    return measured if abs(measured - remembered) > chance else (measured + remembered) / 2


def _per_minute(workers: int, seconds: float) -> float:
    return 60 * workers / seconds if seconds else math.inf
