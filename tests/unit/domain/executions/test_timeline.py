from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from punctual.domain.executions.execution import Attempt, Execution, GateWait, Outcome
from punctual.domain.executions.timeline import MAX_EVENTS, EventKind, timeline_of
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.part_timeline import events_of_parts
from punctual.domain.status import Status

DUE = datetime(2026, 11, 16, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return DUE + timedelta(seconds=seconds)


def execution(**fields: object) -> Execution:
    one = Execution(
        job_id="job", execution_id="one", owner="team", task="echo", scheduled_at=DUE, status=Status.SUCCEEDED
    )
    return replace(one, **fields)  # type: ignore[arg-type]


def attempt(number: int, started: float, ended: float, outcome: Outcome = Outcome.FAILED) -> Attempt:
    return Attempt(number=number, outcome=outcome, started_at=at(started), ended_at=at(ended))


def part(name: str, **fields: object) -> Part:
    one = Part(
        execution_id="one",
        name=name,
        job_id="job",
        owner="team",
        status=Status.SUCCEEDED,
        cpu=1024,
        memory_mb=2048,
        latest_start=DUE,
        expected_seconds=60,
    )
    return replace(one, **fields)  # type: ignore[arg-type]


def test_each_wait_at_a_gate_splits_the_wait_for_an_attempt() -> None:
    shown = execution(
        queued_at=at(-30),
        gate_waits=(GateWait(at(0.5), "waits for one"), GateWait(at(50), "")),
        attempts=(attempt(1, 1, 10), attempt(2, 52, 60)),
        ended_at=at(60),
    )
    waits = [(one.at, one.until, one.reason) for one in timeline_of(shown, at(99)) if one.kind is EventKind.WAITED]
    assert waits == [
        (DUE, at(0.5), "waits for one"),
        (at(0.5), at(1), "for a worker"),
        (at(10), at(50), "for other executions of its job or of its concurrency key"),
        (at(50), at(52), "for the next attempt: backoff, and a worker"),
    ]


def test_an_execution_that_was_queued_again_for_a_retry_waited_for_its_first_worker_since_it_was_due() -> None:
    shown = execution(queued_at=at(100), attempts=(attempt(1, 4, 10),), status=Status.QUEUED)
    first, queued = timeline_of(shown, at(120))[1], timeline_of(shown, at(120))[-1]
    assert (first.kind, first.at, first.until) == (EventKind.WAITED, DUE, at(4))
    assert (queued.kind, queued.at) == (EventKind.QUEUED, at(100))


def test_a_deferred_message_waits_for_its_job_until_it_is_queued_again_or_ends() -> None:
    kept = execution(status=Status.SCHEDULED, queued_at=at(1), deferred_at=at(2))
    assert waits_of(kept) == [("for its job to be resumed", at(2), None)]
    cancelled = replace(kept, status=Status.CANCELLED, ended_at=at(9))
    assert waits_of(cancelled) == [("for its job to be resumed", at(2), at(9))]
    resumed = replace(kept, status=Status.SUCCEEDED, queued_at=at(60), attempts=(attempt(1, 62, 70),), ended_at=at(70))
    assert waits_of(resumed) == [("for its job to be resumed", at(2), at(60)), ("for a worker", at(60), at(62))]
    retried = replace(resumed, attempts=(*resumed.attempts, attempt(2, 1005, 1010)), queued_at=at(1000))
    assert waits_of(retried)[0] == ("for its job to be resumed", at(2), at(62))


def waits_of(shown: Execution) -> list[tuple[str | None, datetime | None, datetime | None]]:
    return [(one.reason, one.at, one.until) for one in timeline_of(shown, at(2000)) if one.kind is EventKind.WAITED]


def test_a_part_that_waits_again_waits_since_its_last_attempt_ended() -> None:
    waiting = part("0001", status=Status.WAITING, requested_at=at(1), attempts=(attempt(1, 5, 20, Outcome.PREEMPTED),))
    shown = timeline_of(execution(lane=Lane.LONG, status=Status.WAITING), at(60), events_of_parts([waiting]))
    periods = [(one.kind, one.at, one.until) for one in shown[1:]]
    assert periods == [
        (EventKind.WAITED, at(1), at(5)),
        (EventKind.ATTEMPT, at(5), at(20)),
        (EventKind.PREEMPTED, at(20), None),
        (EventKind.WAITED, at(20), None),
    ]


def test_the_timeline_of_many_parts_keeps_its_beginning_and_its_end() -> None:
    parts = [
        part(f"{number:04d}", requested_at=DUE, attempts=tuple(attempt(n, n, n + 1) for n in range(1, 10)))
        for number in range(200)
    ]
    shown = timeline_of(execution(lane=Lane.LONG, ended_at=at(99)), at(100), events_of_parts(parts))
    assert len(shown) == MAX_EVENTS
    assert (shown[0].kind, shown[-1].kind) == (EventKind.DUE, EventKind.ENDED)
