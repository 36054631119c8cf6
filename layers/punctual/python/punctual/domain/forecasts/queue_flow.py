"""Throughput counters of a queue.

Each process counts in memory and flushes its counts to the queue's record from time to time. A count may arrive seconds
late, twice (after a request that succeeded but timed out), or never (from a process that ends before it flushes). These
are statistics: only forecasts and dashboards use them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.domain.instant import EPOCH, MILLISECOND, from_text, to_text
from punctual.domain.lane import Lane
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution

INTAKE = "intake"
LONG = "long"
"""Not an SQS queue, but counted like one: executions that end in the long lane."""

FLUSH_INTERVAL = timedelta(seconds=5)
"""Minimum time between two flushes of one process."""

LATENESS_BOUNDS = (0.25, 0.5, 1, 2, 5, 15, 60, 300, 1800, math.inf)
"""Upper bounds of the lateness buckets, in seconds. A start counts in the first bucket whose bound is not exceeded."""

_NUMBERS = ("started", "finished", "failed", "passed", "busy_ms")
_LATE = tuple("late_inf" if math.isinf(bound) else f"late_{bound * 1000:.0f}" for bound in LATENESS_BOUNDS)


@dataclass(frozen=True)
class Flow:
    """Counts of one queue: totals, or those of an interval."""

    started: int = 0
    finished: int = 0
    """Attempts that ended, with any outcome."""
    failed: int = 0
    """Finished attempts that did not succeed."""
    passed: int = 0
    """Discarded messages: another worker ran the attempt, or the execution was cancelled."""
    busy_ms: int = 0
    """Run time of the finished tasks."""
    late: tuple[int, ...] = (0,) * len(LATENESS_BOUNDS)
    """First attempts by lateness of their start, one count per bucket of ``LATENESS_BOUNDS``."""
    last_wait_ms: int | None = None
    """How long the last started attempt had waited."""
    last_started_at: datetime | None = None

    @property
    def done(self) -> int:
        """Messages that left the queue permanently."""
        return self.finished + self.passed

    def plus(self, other: Flow) -> Flow:
        newest = max(other, self, key=lambda one: one.last_started_at or EPOCH)
        return replace(
            newest,
            **{name: getattr(self, name) + getattr(other, name) for name in _NUMBERS},
            late=tuple(a + b for a, b in zip(self.late, other.late, strict=True)),
        )

    def since(self, earlier: Flow) -> Flow:
        """The counts added after ``earlier``. A smaller count means that the counters were reset: then all are new."""
        grown = {name: getattr(self, name) - getattr(earlier, name) for name in _NUMBERS}
        late = tuple(now - then for now, then in zip(self.late, earlier.late, strict=True))
        return self if min(*grown.values(), *late) < 0 else replace(self, **grown, late=late)

    def to_fields(self) -> dict[str, Any]:
        """The stored form, without zeros."""
        counts = {name: getattr(self, name) for name in _NUMBERS} | dict(zip(_LATE, self.late, strict=True))
        last = {} if self.last_started_at is None else {"last_started_at": to_text(self.last_started_at)}
        waited = {} if self.last_wait_ms is None else {"last_wait_ms": self.last_wait_ms}
        return {name: count for name, count in counts.items() if count} | waited | last


def flow_of(fields: Mapping[str, Any]) -> Flow:
    """Read the stored form; a missing field is zero."""
    last = fields.get("last_started_at")
    return Flow(
        **{name: int(fields.get(name, 0)) for name in _NUMBERS},
        late=tuple(int(fields.get(name, 0)) for name in _LATE),
        last_wait_ms=fields.get("last_wait_ms"),
        last_started_at=None if last is None else from_text(last),
    )


def lateness_quantile(late: Sequence[int], share: float) -> float | None:
    """The lateness in seconds that this share of the starts did not exceed; ``None`` without starts.

    Starts are assumed to be spread evenly within a bucket. The last bucket has no upper bound: its lower one is used.
    """
    rank, below, low = share * sum(late), 0, 0.0
    for bound, count in zip(LATENESS_BOUNDS, late, strict=True):
        if count and below + count >= rank:
            return low if math.isinf(bound) else low + (bound - low) * (rank - below) / count
        below, low = below + count, bound
    return None


def mean_lateness(late: Sequence[int], longest: float) -> float | None:
    """The mean lateness in seconds, with each start capped at ``longest``; ``None`` without starts."""
    lows = (0.0, *LATENESS_BOUNDS[:-1])
    middles = [
        low if math.isinf(bound) else (low + bound) / 2 for low, bound in zip(lows, LATENESS_BOUNDS, strict=True)
    ]
    capped = (min(middle, longest) * count for middle, count in zip(middles, late, strict=True))
    return sum(capped) / sum(late) if any(late) else None


class FlowCounter:
    """Counts of one process that are not flushed yet."""

    def __init__(self) -> None:
        self._pending: dict[str, Flow] = {}
        self._flushed_at: datetime | None = None

    def count_start(self, queue: str, due: datetime, now: datetime, *, first: bool = True) -> None:
        """Count an attempt that starts ``now`` and was ``due`` earlier. Only a ``first`` attempt counts as late."""
        wait = max(now - due, timedelta())
        late = next(place for place, bound in enumerate(LATENESS_BOUNDS) if wait.total_seconds() <= bound)
        self._add(
            queue,
            Flow(
                started=1,
                late=tuple(int(first and place == late) for place in range(len(LATENESS_BOUNDS))),
                last_wait_ms=wait // MILLISECOND,
                last_started_at=now,
            ),
        )

    def count_end(self, queue: str, busy: timedelta, *, succeeded: bool) -> None:
        busy_ms = max(busy // MILLISECOND, 0)
        self._add(queue, Flow(finished=1, failed=int(not succeeded), busy_ms=busy_ms))

    def count_long_execution(self, ended: Execution) -> None:
        """Count an ended execution of the long lane, start and end together. Others and unstarted ones do not count."""
        if ended.lane is Lane.LONG and ended.started_at and ended.ended_at:
            self.count_start(LONG, ended.earliest_start, ended.started_at)
            self.count_end(LONG, ended.ended_at - ended.started_at, succeeded=ended.status is Status.SUCCEEDED)

    def count_discard(self, queue: str) -> None:
        """Count a message that was deleted without running an attempt."""
        self._add(queue, Flow(passed=1))

    def flush(self, add: Callable[[str, Flow], None], now: datetime, warn: Callable[[str], None]) -> None:
        """Add the counts of one queue to its record: of the queue whose counts have been pending the longest.

        Called at the end of an invocation, when the work is done. Never raises: a failure is logged and retried at
        the end of an invocation after ``FLUSH_INTERVAL``. A frozen Lambda flushes when it is thawed.
        """
        if not self._pending or (
            self._flushed_at is not None and timedelta() <= now - self._flushed_at < FLUSH_INTERVAL
        ):
            return
        self._flushed_at = now
        queue = next(iter(self._pending))
        try:
            add(queue, self._pending[queue])
        except Exception as error:
            warn(f"flow counts of queue {queue} not saved, will retry: {type(error).__name__}: {error}")
        else:
            del self._pending[queue]

    def _add(self, queue: str, more: Flow) -> None:
        self._pending[queue] = self._pending.get(queue, Flow()).plus(more)
