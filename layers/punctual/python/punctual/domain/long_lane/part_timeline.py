"""The timeline of the parts of a long execution: their waits for slots, their attempts and preemptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from punctual.domain.executions.timeline import EventKind, TimelineEvent, attempt_events, wait
from punctual.domain.long_lane.part import Part
from punctual.domain.status import Status

FOR_SLOT = "for a slot and its container"


def events_of_parts(parts: Iterable[Part]) -> Iterator[TimelineEvent]:
    for part in parts:
        yield from _of_part(part)


def _of_part(part: Part) -> Iterator[TimelineEvent]:
    requested_at = part.requested_at
    for attempt in part.attempts:
        started = attempt.started_at or attempt.ended_at
        if requested_at is not None and requested_at < started:
            yield wait(FOR_SLOT, requested_at, started, part.name)
        yield from attempt_events(attempt, part.name)
        requested_at = attempt.ended_at
    if part.status is Status.RUNNING:
        if requested_at is not None and part.started_at is not None:
            yield wait(FOR_SLOT, requested_at, part.started_at, part.name)
        yield TimelineEvent(
            kind=EventKind.ATTEMPT,
            at=part.started_at,
            part=part.name,
            attempt=part.attempt,
            worker_id=part.worker_id,
        )
    elif part.status in (Status.WAITING, Status.STARTING):
        yield wait(FOR_SLOT, requested_at, None, part.name)
    if part.preempt_reason is not None:
        yield TimelineEvent(
            kind=EventKind.STOPPING, at=part.preempt_requested_at, part=part.name, reason=part.preempt_reason
        )
