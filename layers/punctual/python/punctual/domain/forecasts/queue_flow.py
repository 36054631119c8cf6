"""What moves through a queue, counted by those who move it.

Each process counts in its memory and tells the queue's record now and then. So a count may come seconds late, twice
after a request that was answered too late, or never from a process that ends before it told: these are statistics, and
nothing but forecasts and pictures is made of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.instant import EPOCH, MILLISECOND, from_text, to_text

INTAKE = "intake"
LONG = "long"
"""Not a queue of messages, but counted like one: what ends in the long lane."""

PACE = timedelta(seconds=5)
"""How often a process tells what it has counted, at most."""

BOUNDS = (0.25, 0.5, 1, 2, 5, 15, 60, 300, 1800, math.inf)
"""Seconds: a start counts in the first of these that it was not later than."""

_NUMBERS = ("started", "finished", "failed", "passed", "busy_ms")
_LATE = tuple("late_inf" if math.isinf(bound) else f"late_{bound * 1000:.0f}" for bound in BOUNDS)


@dataclass(frozen=True)
class Flow:
    """What was counted of one queue: since ever, or in an interval."""

    started: int = 0
    finished: int = 0
    """Attempts that ended, whichever way."""
    failed: int = 0
    """Those of them that did not succeed."""
    passed: int = 0
    """Messages that came to nothing: someone else ran the attempt, or it was withdrawn."""
    busy_ms: int = 0
    """Time in the tasks that ended."""
    late: tuple[int, ...] = (0,) * len(BOUNDS)
    """First attempts by how late they started, one number for each of ``BOUNDS``."""
    last_wait_ms: int | None = None
    """How long the one that started last had waited, and when that was."""
    last_started_at: datetime | None = None

    @property
    def done(self) -> int:
        """Messages that left the queue for good."""
        return self.finished + self.passed

    def plus(self, other: Flow) -> Flow:
        newest = max(other, self, key=lambda one: one.last_started_at or EPOCH)
        return replace(
            newest,
            **{name: getattr(self, name) + getattr(other, name) for name in _NUMBERS},
            late=tuple(a + b for a, b in zip(self.late, other.late, strict=True)),
        )

    def since(self, earlier: Flow) -> Flow:
        """What came after ``earlier``. Where any count has shrunk, they began anew: then all of it did."""
        grown = {name: getattr(self, name) - getattr(earlier, name) for name in _NUMBERS}
        late = tuple(now - then for now, then in zip(self.late, earlier.late, strict=True))
        return self if min(*grown.values(), *late) < 0 else replace(self, **grown, late=late)

    def to_fields(self) -> dict[str, Any]:
        """As it is stored, without what is nothing."""
        counts = {name: getattr(self, name) for name in _NUMBERS} | dict(zip(_LATE, self.late, strict=True))
        last = {} if self.last_started_at is None else {"last_started_at": to_text(self.last_started_at)}
        waited = {} if self.last_wait_ms is None else {"last_wait_ms": self.last_wait_ms}
        return {name: count for name, count in counts.items() if count} | waited | last


def flow_of(fields: Mapping[str, Any]) -> Flow:
    """From the stored form; whatever is not there is nothing."""
    last = fields.get("last_started_at")
    return Flow(
        **{name: int(fields.get(name, 0)) for name in _NUMBERS},
        late=tuple(int(fields.get(name, 0)) for name in _LATE),
        last_wait_ms=fields.get("last_wait_ms"),
        last_started_at=None if last is None else from_text(last),
    )


def late_quantile(late: Sequence[int], share: float) -> float | None:
    """Seconds that this share of the starts was not later than, evenly spread within a bucket; ``None`` without any.

    The last bucket has no end: what lies in it was at least as late as it begins.
    """
    rank, below, low = share * sum(late), 0, 0.0
    for bound, count in zip(BOUNDS, late, strict=True):
        if count and below + count >= rank:
            return low if math.isinf(bound) else low + (bound - low) * (rank - below) / count
        below, low = below + count, bound
    return None


def mean_late(late: Sequence[int], longest: float) -> float | None:
    """How many seconds late starts were on average, none taken for later than ``longest``; ``None`` without any."""
    lows = (0.0, *BOUNDS[:-1])
    middles = [low if math.isinf(bound) else (low + bound) / 2 for low, bound in zip(lows, BOUNDS, strict=True)]
    capped = (min(middle, longest) * count for middle, count in zip(middles, late, strict=True))
    return sum(capped) / sum(late) if any(late) else None


class Tally:
    """What one process has counted and not told yet."""

    def __init__(self) -> None:
        self._untold: dict[str, Flow] = {}
        self._tried_at: datetime | None = None

    def started(self, queue: str, due: datetime, now: datetime, *, first: bool = True) -> None:
        """An attempt begins ``now`` that could have begun when it was ``due``. Retries are not counted as late."""
        wait = max(now - due, timedelta())
        late = next(place for place, bound in enumerate(BOUNDS) if wait.total_seconds() <= bound)
        self._count(
            queue,
            Flow(
                started=1,
                late=tuple(int(first and place == late) for place in range(len(BOUNDS))),
                last_wait_ms=wait // MILLISECOND,
                last_started_at=now,
            ),
        )

    def ended(self, queue: str, busy: timedelta, *, succeeded: bool) -> None:
        busy_ms = max(busy // MILLISECOND, 0)
        self._count(queue, Flow(finished=1, failed=int(not succeeded), busy_ms=busy_ms))

    def passed(self, queue: str) -> None:
        self._count(queue, Flow(passed=1))

    def tell(self, add: Callable[[str, Flow], None], now: datetime, warn: Callable[[str], None]) -> None:
        """Add what was counted to the record of the queue that has waited for it the longest; never more than one.

        Called at the end of an invocation, when the work is settled; it may fail, and is tried again at the end of one
        after ``PACE``. A Lambda that is frozen in between tells when it is next thawed.
        """
        if not self._untold or (self._tried_at is not None and timedelta() <= now - self._tried_at < PACE):
            return
        self._tried_at = now
        queue = next(iter(self._untold))
        try:
            add(queue, self._untold[queue])
        except Exception as error:
            warn(f"what was counted of {queue} could not be told: {type(error).__name__}: {error}")
        else:
            del self._untold[queue]

    def _count(self, queue: str, more: Flow) -> None:
        self._untold[queue] = self._untold.get(queue, Flow()).plus(more)
