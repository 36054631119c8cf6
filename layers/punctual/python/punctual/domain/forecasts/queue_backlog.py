"""Backlog samples: depth, arrival rate and capacity of each queue, and a forecast at current rates.

A sample is computed from the previous one and the current readings. It never fails because of a reading: an unreadable
queue, a first sample, a clock that went back and counters that were reset leave figures out instead of producing wrong
ones.
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
    QueueMemory,
    capacity_of,
    updated_capacity,
    updated_run_seconds,
)
from punctual.domain.forecasts.queue_flow import INTAKE, LONG, Flow, flow_of, lateness_quantile
from punctual.domain.instant import from_text, to_text
from punctual.domain.lane import Lane
from punctual.domain.metrics import Metric

MIN_INTERVAL_SECONDS = 1.0
"""Two samples that are closer together have no rates."""

WARNED_MINUTES = 60.0
"""How long before it exceeds its limit a queue needs attention."""

MAX_DRAIN_MINUTES = 7 * 24 * 60.0
"""Upper bound of a drain time. It stands for infinity, which JSON lacks, when a queue does not drain at all."""


@dataclass(frozen=True, kw_only=True)
class BacklogLimits:
    """The size from which a backlog is too long, in minutes of work and in messages."""

    minutes: int
    messages: int


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """The state of one queue. ``None`` means unknown: no forecast is better than a wrong one."""

    depth: int | None
    """Messages that are due and waiting. This and the next two are unknown when the queue could not be read."""
    in_flight: int | None
    delayed: int | None
    arrival_per_minute: float | None
    finished_per_minute: float | None
    capacity_per_minute: float | None
    """Throughput of its workers under full load."""
    drain_minutes: float | None
    """Until the last message that is waiting now has started."""
    drains: bool | None
    """Whether the arrival rate is below the capacity."""
    oldest_seconds: float | None
    """An estimate. It may be too high by one run time, because a start is reported only when its task has ended."""
    minutes_until_breach: float | None
    """Until the first of the two limits is reached; also ``None`` when neither will be."""
    limit_minutes: int
    limit_messages: int

    @property
    def is_near_limit(self) -> bool:
        """Whether it exceeds a limit, or will within ``WARNED_MINUTES``."""
        return self.minutes_until_breach is not None and self.minutes_until_breach <= WARNED_MINUTES


@dataclass(frozen=True, kw_only=True)
class LaneFlow:
    """The work of a lane since the previous sample."""

    started: int
    finished: int
    failed: int
    busy_seconds: float
    """Total run time of its attempts."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """All queues at one moment, and the work done since the previous sample."""

    at: datetime
    seconds: float | None
    """Since the previous sample; ``None`` without one, or when the clock went back: then there are no rates."""
    queues: Mapping[str, Backlog]
    lanes: Mapping[str, LaneFlow]
    lateness_p99_seconds: float | None
    """Seconds from the due instant to the start of the short lane's first attempts; ``None`` when none started."""
    failure_percent: float | None
    """Percent of the short lane's attempts; ``None`` when none ended."""
    memory: Mapping[str, QueueMemory]

    @property
    def oldest_due(self) -> datetime | None:
        """The estimated due instant of the oldest message; ``None`` if it is unknown, or the queues are empty."""
        oldest = max((one.oldest_seconds or 0.0 for one in self.queues.values()), default=0.0)
        return self.at - timedelta(seconds=oldest) if oldest else None

    def to_fields(self) -> dict[str, Any]:
        """The stored form, as JSON types; ``read_sample`` is the inverse."""
        memory = {queue: _memory_fields(one) for queue, one in self.memory.items()}
        return asdict(self) | {"at": to_text(self.at), "memory": memory}

    def figures(self) -> dict[Metric, float]:
        """The metrics that alarms watch: the value of the worst queue, left out when unknown for all queues."""
        drain = [one.drain_minutes for one in self.queues.values() if one.drain_minutes is not None]
        depth = [one.depth for one in self.queues.values() if one.depth is not None]
        oldest = [one.oldest_seconds for one in self.queues.values() if one.oldest_seconds is not None]
        worst: dict[Metric, Sequence[float]] = {
            Metric.BACKLOG_DRAIN_MINUTES: drain,
            Metric.BACKLOG_MESSAGES: depth,
            Metric.OLDEST_MESSAGE_SECONDS: oldest,
        }
        return {metric: max(values) for metric, values in worst.items() if values} | {
            Metric.DISPATCH_LATENESS_P99: self.lateness_p99_seconds or 0.0,
            Metric.WORKER_FAILURE_RATE: self.failure_percent or 0.0,
        }


def read_sample(text: str) -> Sample | None:
    """Parse a stored sample; ``None`` for one of another format, so that the next sample starts anew."""
    try:
        fields = json.loads(text)
        memory = {queue: _memory_of(one) for queue, one in fields["memory"].items()}
        return Sample(
            **fields
            | {
                "at": from_text(fields["at"]),
                "queues": {queue: Backlog(**one) for queue, one in fields["queues"].items()},
                "lanes": {lane: LaneFlow(**one) for lane, one in fields["lanes"].items()},
                "memory": memory,
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _memory_fields(memory: QueueMemory) -> dict[str, Any]:
    since = memory.near_limit_since
    return asdict(memory) | {"flow": memory.flow.to_fields(), "near_limit_since": to_text(since) if since else None}


def _memory_of(fields: Mapping[str, Any]) -> QueueMemory:
    since = fields.get("near_limit_since")
    parsed = {"flow": flow_of(fields["flow"]), "near_limit_since": from_text(since) if since else None}
    return QueueMemory(**{**fields, **parsed})


def sample_of(
    now: datetime,
    depths: Mapping[str, Depth],
    flows: Mapping[str, Flow],
    previous: Sample | None,
    *,
    concurrency: Mapping[str, int],
    limits: BacklogLimits,
) -> Sample:
    """Compute the sample after ``previous``. ``depths`` has the readable queues, ``concurrency`` has all."""
    seconds = _seconds(previous, now)
    memory, added = {}, {}
    for queue in (*concurrency, LONG):
        memory[queue], added[queue] = _update_memory(
            previous.memory.get(queue) if previous else None, flows.get(queue, Flow())
        )
    queues = {}
    for queue, workers in concurrency.items():
        earlier, depth = previous.queues.get(queue) if previous else None, depths.get(queue)
        interval = _interval(seconds, earlier, depth, added[queue], workers)
        memory[queue] = replace(memory[queue], capacity=updated_capacity(interval, memory[queue]))
        oldest = _oldest_seconds(now, seconds, earlier, depth, memory[queue].flow)
        queues[queue] = _backlog(depth, interval, capacity_of(memory[queue], workers), oldest, limits)
        since = (memory[queue].near_limit_since or now) if queues[queue].is_near_limit else None
        memory[queue] = replace(memory[queue], near_limit_since=since)
    short = reduce(Flow.plus, (added[queue] for queue in concurrency if queue != INTAKE), Flow())
    return Sample(
        at=now,
        seconds=seconds,
        queues=queues,
        lanes={Lane.SHORT: _lane_flow(short), Lane.LONG: _lane_flow(added[LONG])},
        lateness_p99_seconds=_rounded(lateness_quantile(short.late, 0.99)),
        failure_percent=_rounded(100 * short.failed / short.finished) if short.finished else None,
        memory=memory,
    )


def _update_memory(known: QueueMemory | None, flow: Flow) -> tuple[QueueMemory, Flow]:
    """Update a queue's memory and return it with the counts added since. A first sample has no added counts."""
    if known is None:
        return QueueMemory(flow=flow, run_seconds=updated_run_seconds(None, flow)), Flow()
    since = flow.since(known.flow)
    return replace(known, flow=flow, run_seconds=updated_run_seconds(known.run_seconds, since)), since


def _seconds(previous: Sample | None, now: datetime) -> float | None:
    seconds = (now - previous.at) / timedelta(seconds=1) if previous else 0.0
    return seconds if seconds >= MIN_INTERVAL_SECONDS else None


def _interval(
    seconds: float | None, earlier: Backlog | None, depth: Depth | None, added: Flow, concurrency: int
) -> Interval | None:
    if seconds is None or depth is None or earlier is None or earlier.depth is None:
        return None
    before = Depth(visible=earlier.depth, in_flight=earlier.in_flight or 0, delayed=earlier.delayed or 0)
    return Interval(seconds, before, depth, added, concurrency)


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
        minutes_until_breach=_rounded(_minutes_until_breach(depth.visible, arrival, finished, capacity, limits))
        if depth
        else None,
        limit_minutes=limits.minutes,
        limit_messages=limits.messages,
    )


def _drain_minutes(waiting: int, capacity: float | None) -> float | None:
    if not waiting:
        return 0.0
    if capacity is None:
        return None
    return min(waiting / capacity, MAX_DRAIN_MINUTES) if capacity else MAX_DRAIN_MINUTES


def _minutes_until_breach(
    waiting: int, arrival: float | None, finished: float | None, capacity: float | None, limits: BacklogLimits
) -> float | None:
    limit = limits.messages if capacity is None else min(limits.messages, limits.minutes * capacity)
    if waiting and waiting >= limit:
        return 0.0
    if arrival is None or finished is None:
        return None
    growth = arrival - (finished if capacity is None else capacity)
    return (limit - waiting) / growth if growth > 0 else None


def _oldest_seconds(
    now: datetime, seconds: float | None, earlier: Backlog | None, depth: Depth | None, flow: Flow
) -> float | None:
    """Estimate the age of the oldest message.

    Messages leave roughly in the order of arrival, so the oldest one has waited since about the due instant of the last
    start. The result is capped at the age in the previous sample plus the time since then: the last start may be long
    ago, and the messages that are waiting now may have arrived a moment ago.
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


def _lane_flow(flow: Flow) -> LaneFlow:
    return LaneFlow(started=flow.started, finished=flow.finished, failed=flow.failed, busy_seconds=flow.busy_ms / 1000)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)
