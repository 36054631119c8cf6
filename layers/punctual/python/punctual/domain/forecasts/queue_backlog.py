"""How full the queues are, how fast they fill and drain, and what comes of that at present rates.

A sample is made of the one before it and what is read now. It never fails for what it reads: a queue that could not be
read, a first look, a clock that went back and counters that began anew leave figures out, and never make up wrong ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

from punctual.domain.forecasts.queue_capacity import (
    Depth,
    Interval,
    Memory,
    capacity_of,
    remembered_capacity,
    run_seconds,
)
from punctual.domain.forecasts.queue_flow import INTAKE, LONG, Flow, flow_of, late_quantile
from punctual.domain.instant import from_text, to_text
from punctual.domain.lane import Lane
from punctual.domain.metrics import Metric

SHORTEST = 1.0
"""Seconds. Between two looks that are closer there are no rates."""

NEVER = 7 * 24 * 60.0
"""Minutes: no drain time is longer. Where nothing is worked off at all, it stands for never, which JSON cannot say."""


@dataclass(frozen=True, kw_only=True)
class BacklogLimits:
    """When a backlog is too long."""

    minutes: int
    messages: int


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """One queue. ``None`` is unknown: no forecast is better than a wrong one."""

    depth: int | None
    """Messages that are due and wait. Unknown, as the next two, when the queue could not be read."""
    in_flight: int | None
    delayed: int | None
    arrival_per_minute: float | None
    finished_per_minute: float | None
    capacity_per_minute: float | None
    """What its workers can do when there is enough to do."""
    drain_minutes: float | None
    """Until the last of those that wait now has started."""
    drains: bool | None
    """Whether less arrives than can be done."""
    oldest_seconds: float | None
    """An estimate. It may be high by as long as tasks take, because a start is told when its task has ended."""
    minutes_until_breach: float | None
    """Until the first of the two limits is reached; also ``None`` when none will be."""
    limit_minutes: int
    limit_messages: int


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What a lane did since the sample before."""

    started: int
    finished: int
    failed: int
    busy_seconds: float
    """How long its attempts took, all together."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """All queues at one moment, and what happened since the moment before."""

    at: datetime
    seconds: float | None
    """Since the sample before; ``None`` without one, or when the clock went back: then there are no rates."""
    queues: Mapping[str, Backlog]
    lanes: Mapping[str, Moved]
    lateness_p99: float | None
    """Seconds from the due instant to the start, of the short lane's first attempts; ``None`` when none started."""
    failure_rate: float | None
    """Percent of the short lane's attempts; ``None`` when none ended."""
    memory: Mapping[str, Memory]

    def to_fields(self) -> dict[str, Any]:
        """As JSON has it."""
        memory = {queue: asdict(one) | {"flow": one.flow.to_fields()} for queue, one in self.memory.items()}
        return asdict(self) | {"at": to_text(self.at), "memory": memory}

    def figures(self) -> dict[Metric, float]:
        """What alarms watch: of each, the worst queue's. Left out where it is unknown of all queues."""
        drain = [one.drain_minutes for one in self.queues.values() if one.drain_minutes is not None]
        depth = [one.depth for one in self.queues.values() if one.depth is not None]
        oldest = [one.oldest_seconds for one in self.queues.values() if one.oldest_seconds is not None]
        worst: dict[Metric, Sequence[float]] = {
            Metric.BACKLOG_DRAIN_MINUTES: drain,
            Metric.BACKLOG_MESSAGES: depth,
            Metric.OLDEST_MESSAGE_SECONDS: oldest,
        }
        return {metric: max(values) for metric, values in worst.items() if values} | {
            Metric.DISPATCH_LATENESS_P99: self.lateness_p99 or 0.0,
            Metric.WORKER_FAILURE_RATE: self.failure_rate or 0.0,
        }


def read_sample(text: str) -> Sample | None:
    """A stored sample; ``None`` for one of another form, so that the next is like the first."""
    try:
        fields = json.loads(text)
        memory = {queue: Memory(**one | {"flow": flow_of(one["flow"])}) for queue, one in fields["memory"].items()}
        return Sample(
            **fields
            | {
                "at": from_text(fields["at"]),
                "queues": {queue: Backlog(**one) for queue, one in fields["queues"].items()},
                "lanes": {lane: Moved(**one) for lane, one in fields["lanes"].items()},
                "memory": memory,
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def sample_of(
    now: datetime,
    depths: Mapping[str, Depth],
    flows: Mapping[str, Flow],
    before: Sample | None,
    *,
    concurrency: Mapping[str, int],
    limits: BacklogLimits,
) -> Sample:
    """The sample that follows ``before``. ``depths`` has the queues that could be read, ``concurrency`` has all."""
    seconds = _seconds(before, now)
    memory, moved = {}, {}
    for queue in (*concurrency, LONG):
        memory[queue], moved[queue] = _counted(before.memory.get(queue) if before else None, flows.get(queue, Flow()))
    queues = {}
    for queue, workers in concurrency.items():
        earlier, depth = before.queues.get(queue) if before else None, depths.get(queue)
        interval = _interval(seconds, earlier, depth, moved[queue], workers)
        memory[queue] = replace(memory[queue], capacity=remembered_capacity(interval, memory[queue]))
        oldest = _oldest(now, seconds, earlier, depth, memory[queue].flow)
        queues[queue] = _backlog(depth, interval, capacity_of(memory[queue], workers), oldest, limits)
    short = reduce(Flow.plus, (moved[queue] for queue in concurrency if queue != INTAKE), Flow())
    return Sample(
        at=now,
        seconds=seconds,
        queues=queues,
        lanes={Lane.SHORT: _moved(short), Lane.LONG: _moved(moved[LONG])},
        lateness_p99=_rounded(late_quantile(short.late, 0.99)),
        failure_rate=_rounded(100 * short.failed / short.finished) if short.finished else None,
        memory=memory,
    )


def _counted(known: Memory | None, flow: Flow) -> tuple[Memory, Flow]:
    """What is now known of a queue, and what has moved since: nothing, as far as a first look can tell."""
    if known is None:
        return Memory(flow=flow, run_seconds=run_seconds(None, flow)), Flow()
    since = flow.since(known.flow)
    return replace(known, flow=flow, run_seconds=run_seconds(known.run_seconds, since)), since


def _seconds(before: Sample | None, now: datetime) -> float | None:
    seconds = (now - before.at) / timedelta(seconds=1) if before else 0.0
    return seconds if seconds >= SHORTEST else None


def _interval(
    seconds: float | None, earlier: Backlog | None, depth: Depth | None, moved: Flow, concurrency: int
) -> Interval | None:
    if seconds is None or depth is None or earlier is None or earlier.depth is None:
        return None
    before = Depth(visible=earlier.depth, in_flight=earlier.in_flight or 0, delayed=earlier.delayed or 0)
    return Interval(seconds, before, depth, moved, concurrency)


def _backlog(
    depth: Depth | None, interval: Interval | None, capacity: float | None, oldest: float | None, limits: BacklogLimits
) -> Backlog:
    arrival = interval.arrived / interval.minutes if interval else None
    finished = interval.done / interval.minutes if interval else None
    return Backlog(
        depth=depth.visible if depth else None,
        in_flight=depth.in_flight if depth else None,
        delayed=depth.delayed if depth else None,
        arrival_per_minute=_rounded(arrival),
        finished_per_minute=_rounded(finished),
        capacity_per_minute=_rounded(capacity),
        drain_minutes=_rounded(_drain_minutes(depth.visible, capacity)) if depth else None,
        drains=None if arrival is None or capacity is None else arrival < capacity,
        oldest_seconds=_rounded(oldest),
        minutes_until_breach=_rounded(_breach(depth.visible, arrival, finished, capacity, limits)) if depth else None,
        limit_minutes=limits.minutes,
        limit_messages=limits.messages,
    )


def _drain_minutes(waiting: int, capacity: float | None) -> float | None:
    if not waiting:
        return 0.0
    if capacity is None:
        return None
    return min(waiting / capacity, NEVER) if capacity else NEVER


def _breach(
    waiting: int, arrival: float | None, finished: float | None, capacity: float | None, limits: BacklogLimits
) -> float | None:
    limit = limits.messages if capacity is None else min(limits.messages, limits.minutes * capacity)
    if waiting and waiting >= limit:
        return 0.0
    if arrival is None or finished is None:
        return None
    growth = arrival - (finished if capacity is None else capacity)
    return (limit - waiting) / growth if growth > 0 else None


def _oldest(
    now: datetime, seconds: float | None, earlier: Backlog | None, depth: Depth | None, flow: Flow
) -> float | None:
    """As messages leave about in the order they came, the oldest has waited since about when the last to start was due.

    But never longer than the oldest had at the look before, and since then: whoever started last may have done so long
    ago, and what waits now come a moment ago.
    """
    if depth is None or not depth.visible:
        return None if depth is None else 0.0
    before = earlier.oldest_seconds if earlier else None
    if seconds is None:
        return before
    longest = (before or 0.0) + seconds
    started, wait_ms = flow.last_started_at, flow.last_wait_ms
    if started is None or wait_ms is None or started <= now - timedelta(seconds=seconds):
        return longest
    waited = wait_ms / 1000 + max((now - started) / timedelta(seconds=1), 0.0)
    return waited if before is None else min(waited, longest)


def _moved(flow: Flow) -> Moved:
    return Moved(started=flow.started, finished=flow.finished, failed=flow.failed, busy_seconds=flow.busy_ms / 1000)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)
