"""The timeline of one execution: what it waited for, its attempts and its end, derived from what its record stores.

Nothing is stored for it but the waits at gates, with the transition that ends each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, zip_longest

from punctual.domain.executions.execution import RETROACTIVE_ORIGINS, Attempt, Execution, Origin, Outcome
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, Status

MAX_EVENTS = 500
"""Of an execution with more events, the first half and the last half of this number are shown."""


class EventKind(StrEnum):
    """What happened to an execution."""

    REQUESTED = "requested"
    """A user requested it: a manual run, a manual retry or a backfill."""
    DUE = "due"
    """Its due instant."""
    QUEUED = "queued"
    """Its last work order was sent, or in the long lane its state machine run was started."""
    WAITED = "waited"
    """It waited from ``at`` to ``until``; ``until`` is empty while it does."""
    ATTEMPT = "attempt"
    """An attempt ran from ``at`` to ``until``; ``until`` is empty while it does."""
    PREEMPTED = "preempted"
    """An attempt was stopped at a checkpoint to release its slot."""
    STOPPING = "stopping"
    """It was asked to stop, and has time until ``until``."""
    ENDED = "ended"
    """It ended with its final status."""


@dataclass(frozen=True, kw_only=True)
class TimelineEvent:
    kind: EventKind
    at: datetime | None
    """``None`` for what began before the record keeps it."""
    until: datetime | None = None
    reason: str | None = None
    part: str | None = None
    attempt: int | None = None
    outcome: Outcome | None = None
    worker_id: str | None = None


FOR_RESUME = "for its job to be resumed"
FOR_UPSTREAMS = "for its upstream executions"
FOR_GATE = "for other executions of its job or of its concurrency key"
FOR_RATE = "for its rate limit"
FOR_WORKER = "for a worker"
FOR_BACKOFF = "for the next attempt: backoff, and a worker"


def timeline_of(execution: Execution, now: datetime, of_parts: Iterable[TimelineEvent] = ()) -> list[TimelineEvent]:
    """The events of an execution in chronological order. ``of_parts`` are those of its parts, in the long lane."""
    attempts = of_parts if execution.lane is Lane.LONG else _attempts(execution)
    events = chain(_beginning(execution, now), _waits(execution, now), attempts, _end(execution))
    in_order = sorted(events, key=lambda one: _period(one, now))  # stable: of equal periods, the cause comes first
    if len(in_order) <= MAX_EVENTS:
        return in_order
    return in_order[: MAX_EVENTS // 2] + in_order[-MAX_EVENTS // 2 :]


def _period(event: TimelineEvent, now: datetime) -> tuple[datetime, datetime]:
    begin = event.at or now
    lasts = event.kind in (EventKind.WAITED, EventKind.ATTEMPT)
    return begin, event.until or (max(begin, now) if lasts else begin)


def _beginning(execution: Execution, now: datetime) -> Iterator[TimelineEvent]:
    if execution.origin is Origin.RUN or (execution.origin in RETROACTIVE_ORIGINS and execution.queued_at):
        requested_at = execution.scheduled_at if execution.origin is Origin.RUN else execution.queued_at
        yield TimelineEvent(kind=EventKind.REQUESTED, at=requested_at, reason=execution.origin)
    elif execution.scheduled_at <= now:
        yield TimelineEvent(kind=EventKind.DUE, at=execution.scheduled_at)
    if execution.queued_at is not None and not execution.is_deferred:
        yield TimelineEvent(kind=EventKind.QUEUED, at=execution.queued_at)


def _waits(execution: Execution, now: datetime) -> Iterator[TimelineEvent]:
    """The waits for a paused job, for upstreams, at a gate, for a rate limit, and in the short lane for a worker."""
    start = execution.earliest_start
    for deferral in _deferrals(execution):
        yield deferral
        start = deferral.until or start
    if execution.depends_on and execution.is_cleared and execution.queued_at and execution.queued_at > start:
        yield wait(FOR_UPSTREAMS, start, execution.queued_at)
        start = execution.queued_at
    elif execution.has_pending_upstreams and execution.status is Status.WAITING:
        yield wait(execution.reason or FOR_UPSTREAMS, min(start, now), None)
    ends = [start, *(one.ended_at for one in execution.attempts), *(one.until for one in execution.gate_waits)]
    for past in execution.gate_waits:
        if past.until > start:
            yield wait(past.reason or FOR_GATE, max(end for end in ends if end < past.until), past.until)
    if execution.waits_at is not None and execution.status is Status.WAITING:
        yield wait(execution.reason or FOR_GATE, max(ends), None)
    if execution.rate_at is not None and execution.status in (Status.QUEUED, Status.RETRYING):
        yield wait(execution.reason or FOR_RATE, max(ends), execution.rate_at)
    if execution.lane is Lane.SHORT:
        yield from _waits_for_worker(execution, start)


def _deferrals(execution: Execution) -> Iterator[TimelineEvent]:
    """The wait of a message for its paused job, until it was queued again, or ended."""
    since, queued_at = execution.deferred_at, execution.queued_at
    if since is None or queued_at is None:
        return
    if execution.is_deferred or queued_at <= since:
        yield wait(FOR_RESUME, since, execution.ended_at)
    else:  # ``queued_at`` may be that of a later attempt
        yield wait(FOR_RESUME, since, min([queued_at, *_starts(execution)]))


def _starts(execution: Execution) -> list[datetime]:
    """The starts of its attempts in the short lane."""
    starts = [one.started_at for one in execution.attempts if one.started_at]
    if execution.status is Status.RUNNING and execution.started_at:
        starts.append(execution.started_at)
    return starts


def _waits_for_worker(execution: Execution, ready_at: datetime) -> Iterator[TimelineEvent]:
    """The waits before each attempt, without the wait for a place at a gate."""
    starts = _starts(execution)
    causes = [FOR_WORKER, *(FOR_BACKOFF for _ in execution.attempts)]
    since = max(ready_at, _unless_after(execution.queued_at, starts) or ready_at)
    for cause, started, ended in zip_longest(causes, starts, (one.ended_at for one in execution.attempts)):
        if started is None:
            return
        since = max((one.until for one in execution.gate_waits if since < one.until <= started), default=since)
        if since < started:
            yield wait(cause, since, started)
        since = ended or started


def _unless_after(queued_at: datetime | None, starts: Sequence[datetime]) -> datetime | None:
    """When it was queued for its first attempt, if it was not queued again since."""
    return queued_at if queued_at and starts and queued_at <= starts[0] else None


def _attempts(execution: Execution) -> Iterator[TimelineEvent]:
    """The attempts of an execution of the short lane."""
    for attempt in execution.attempts:
        yield from attempt_events(attempt)
    if execution.status is Status.RUNNING:
        yield TimelineEvent(
            kind=EventKind.ATTEMPT,
            at=execution.started_at,
            attempt=execution.attempt,
            worker_id=execution.worker_id,
        )


def attempt_events(attempt: Attempt, part: str | None = None) -> Iterator[TimelineEvent]:
    error = f"{attempt.error.type}: {attempt.error.message}" if attempt.error else None
    yield TimelineEvent(
        kind=EventKind.ATTEMPT,
        at=attempt.started_at or attempt.ended_at,
        until=attempt.ended_at,
        reason=error,
        part=part,
        attempt=attempt.number,
        outcome=attempt.outcome,
        worker_id=attempt.worker_id,
    )
    if attempt.outcome is Outcome.PREEMPTED:
        reason = attempt.error.message if attempt.error else None
        yield TimelineEvent(
            kind=EventKind.PREEMPTED, at=attempt.ended_at, reason=reason, part=part, attempt=attempt.number
        )


def _end(execution: Execution) -> Iterator[TimelineEvent]:
    if execution.cancel_at is not None:
        yield TimelineEvent(
            kind=EventKind.STOPPING,
            at=execution.stop_requested_at,
            until=execution.cancel_at,
            reason=execution.cancel_reason,
        )
    if execution.status in FINAL and execution.ended_at is not None:
        reason = f"{execution.status}: {execution.reason}" if execution.reason else str(execution.status)
        yield TimelineEvent(kind=EventKind.ENDED, at=execution.ended_at, reason=reason)


def wait(reason: str, at: datetime | None, until: datetime | None, part: str | None = None) -> TimelineEvent:
    return TimelineEvent(kind=EventKind.WAITED, at=at, until=until, reason=reason, part=part)
