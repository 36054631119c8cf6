"""A queue that is sampled repeatedly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from punctual.domain.forecasts.queue_backlog import Backlog, BacklogLimits, Sample, sample_of
from punctual.domain.forecasts.queue_capacity import Depth
from punctual.domain.forecasts.queue_flow import LATENESS_BOUNDS, Flow

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
WORKERS = 10
LIMITS = BacklogLimits(minutes=30, messages=100_000)
NO_FLOW = Flow()


def late(**by_bound: int) -> tuple[int, ...]:
    """Lateness counts: ``late(_60=3)`` is three starts in the bucket up to 60 seconds."""
    return tuple(by_bound.get(f"_{bound:g}".replace(".", "_"), 0) for bound in LATENESS_BOUNDS)


def depth(visible: int, in_flight: int = 0, delayed: int = 0) -> Depth:
    return Depth(visible=visible, in_flight=in_flight, delayed=delayed)


@dataclass
class SampledQueue:
    """One queue that is sampled repeatedly."""

    sample: Sample | None = None
    now: datetime = START
    flow: Flow = NO_FLOW
    limits: BacklogLimits = LIMITS
    workers: int = WORKERS

    def sample_after(
        self,
        visible: int | None,
        *,
        in_flight: int = 0,
        after: timedelta = MINUTE,
        waited: tuple[timedelta, timedelta] | None = None,
        **moved: Any,
    ) -> Backlog:
        """Sample the queue ``after`` some time, in which the counts ``moved`` were added.

        ``visible`` is ``None`` for an unreadable queue. ``waited`` is the wait of the last start, and how long ago that
        start was.
        """
        self.now += after
        self.flow = self.flow.plus(Flow(**moved))
        if waited is not None:
            wait, ago = waited
            self.flow = replace(
                self.flow, last_wait_ms=wait // timedelta(milliseconds=1), last_started_at=self.now - ago
            )
        depths = {} if visible is None else {"normal": depth(visible, in_flight)}
        self.sample = sample_of(
            self.now,
            depths,
            {"normal": self.flow},
            self.sample,
            concurrency={"normal": self.workers},
            limits=self.limits,
        )
        return self.sample.queues["normal"]


def backlogged(*, in_flight: int = WORKERS, done: int = 600, was: int = 6000) -> SampledQueue:
    """A permanently backlogged queue in which ``done`` messages were finished in the last minute."""
    queue = SampledQueue()
    queue.sample_after(was, in_flight=in_flight)
    queue.sample_after(was - done, in_flight=in_flight, finished=done, busy_ms=done * 1000, late=late(_60=done))
    return queue
