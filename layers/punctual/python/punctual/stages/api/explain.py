"""Explain: what an execution waits for, and how many others go first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution, Outcome
from punctual.domain.executions.work_order import aged_priority
from punctual.domain.forecasts.queue_backlog import MAX_DRAIN_MINUTES, Backlog
from punctual.domain.instant import to_text
from punctual.domain.jobs.gate import OF_KEY, key_in_use
from punctual.domain.lane import Lane, Priority
from punctual.domain.long_lane.part import Part
from punctual.domain.planning.disposal import DEFERRED_REASON
from punctual.domain.planning.upstreams import Readiness, Upstream, decide_start
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gates
    from punctual.ports.long_lane import Slots
    from punctual.ports.monitoring import LaneOutlooks, Samples

MAX_SAMPLE_AGE = timedelta(minutes=2)
"""An older sample of a queue says nothing about its current depth."""
MAX_NAMED = 20
"""Executions ahead that are named."""
MAX_WAITERS_AHEAD = 200
"""Waiters at a gate that are read to count those ahead."""
MAX_PARTS_AHEAD = 100
"""Waiting parts that are read to find those ahead."""


@dataclass(frozen=True, kw_only=True)
class WaitingFor:
    what: str
    """``time``, ``rest``, ``rate``, ``executions``, ``key``, ``upstream``, ``worker``, ``slot`` or ``resume``."""
    detail: str
    until: datetime | None = None
    """When the wait ends, or is expected to end."""
    ahead: int | None = None
    """How many others go first; ``None`` if unknown."""
    executions_ahead: tuple[str, ...] = ()
    """The first of them, as far as they are known."""
    executions: tuple[str, ...] = ()
    """The executions that have to end first, for ``executions``, ``key`` and ``upstream``."""
    job_names: Mapping[str, str] = field(default_factory=dict)
    """The job names of these executions, for jobs that have one."""
    as_of: datetime | None = None
    """When ``ahead`` was counted; ``None`` if just now."""


@dataclass(frozen=True)
class Explain:
    gates: Gates
    executions: Executions
    samples: Samples
    lane_outlooks: LaneOutlooks
    slots: Slots
    clock: Clock

    def waiting_for(
        self, execution: Execution, parts: Sequence[Part] = (), upstreams: Sequence[Upstream] = ()
    ) -> WaitingFor | None:
        """Return what the execution waits for; ``None`` if it runs or has ended."""
        now = self.clock()
        if execution.waits_at is not None and execution.status is Status.WAITING:
            return self._at_gate(execution, execution.waits_at)
        if execution.status is Status.WAITING and execution.has_pending_upstreams:
            return self._for_upstreams(upstreams)
        if execution.status in (Status.SCHEDULED, Status.QUEUED) and execution.rate_at and execution.rate_at > now:
            return self._for_rate(execution, execution.rate_at, now)
        if execution.is_deferred:
            return WaitingFor(what="resume", detail=DEFERRED_REASON)
        if execution.status is Status.SCHEDULED or (
            execution.status is Status.QUEUED and execution.earliest_start > now
        ):
            starts = to_text(execution.earliest_start)
            jitter = f"{to_text(execution.scheduled_at)}, and starts at {starts} because of its jitter"
            detail = f"it is due at {jitter if execution.delay_seconds else starts}"
            return WaitingFor(what="time", detail=detail, until=execution.earliest_start)
        is_ready = execution.status in (Status.QUEUED, Status.RETRYING)
        if execution.status is Status.RETRYING and (blocked := _not_started(parts)):
            detail, until = blocked
            return WaitingFor(what="capacity", detail=detail, until=until)
        if is_ready and execution.retry_at and execution.retry_at > now:
            detail = f"the next attempt is at {to_text(execution.retry_at)}"
            return WaitingFor(what="rest", detail=detail, until=execution.retry_at)
        if is_ready and execution.lane is Lane.SHORT:
            return self._for_worker(execution)
        if (is_ready or execution.status in (Status.WAITING, Status.STARTING)) and execution.lane is Lane.LONG:
            return self._for_slot(execution, parts)
        return None

    @staticmethod
    def current_reason(execution: Execution, waiting_for: WaitingFor | None) -> str | None:
        """Return the reason of the current status. The stored reason of a dependant dates from when its wait began."""
        return waiting_for.detail if waiting_for and waiting_for.what == "upstream" else execution.reason

    def _at_gate(self, execution: Execution, gate: str) -> WaitingFor:
        """Explain a wait at a gate, without the holders and waiters that have ended but are still recorded there.

        An execution whose priority was edited keeps its former queue entry until the next grant: ``turn`` is the
        current one.
        """
        recorded = self.gates.state(gate).holders.keys() - {execution.execution_id}
        before = self.gates.ahead_of(gate, execution.turn, MAX_WAITERS_AHEAD) if execution.turn else []
        queued = set(before) - recorded - {execution.execution_id}
        existing = self.executions.read_many([*recorded, *queued])
        holders = tuple(sorted(name for name in recorded & existing.keys() if existing[name].may_hold(gate)))
        waiting = (existing[name] for name in queued & existing.keys() if existing[name].waits_at == gate)
        turns = {one.turn: one.execution_id for one in waiting if one.turn and one.turn < (execution.turn or "")}
        ahead = [turns[turn] for turn in sorted(turns)]
        is_key = gate.startswith(OF_KEY)
        detail = key_in_use(len(holders)) if is_key else f"waits for {', '.join(holders)}"
        return WaitingFor(
            what="key" if is_key else "executions",
            detail=detail if holders else "a place is free: it starts when its turn comes",
            ahead=len(ahead) if execution.turn else None,
            executions_ahead=tuple(ahead[:MAX_NAMED]),
            executions=holders,
            job_names=_names_of(existing[one] for one in (*ahead[:MAX_NAMED], *holders)),
        )

    def _for_upstreams(self, upstreams: Sequence[Upstream]) -> WaitingFor:
        ahead, decision = [one for one in upstreams if not one.ended], decide_start(upstreams, self.clock())
        known = decision.reason if upstreams and decision.readiness is Readiness.NOT_YET else None
        return WaitingFor(
            what="upstream",
            detail=known or "all upstream executions have ended: it will be queued or skipped in a moment",
            ahead=len(ahead) if upstreams else None,
            executions=tuple(one.execution.execution_id for one in ahead if one.execution is not None),
            job_names=_names_of(one.execution for one in ahead if one.execution is not None),
        )

    def _for_rate(self, execution: Execution, starts_at: datetime, now: datetime) -> WaitingFor:
        rate = next((gate.rate for gate in execution.gates if gate.rate), None)
        detail = f"{execution.reason}: it starts at {to_text(starts_at)}"
        ahead = rate.before(starts_at, now) if rate else None
        return WaitingFor(what="rate", detail=detail, until=starts_at, ahead=ahead)

    def _for_slot(self, execution: Execution, parts: Sequence[Part]) -> WaitingFor:
        lane = self.lane_outlooks.latest()
        latest_starts = [part.latest_start for part in parts if part.status is Status.WAITING]
        known = lane is not None and bool(latest_starts)
        before = self._parts_before(execution.execution_id) if latest_starts else None
        named = tuple(dict.fromkeys(part.execution_id for part in before or ()))[:MAX_NAMED]
        return WaitingFor(
            what="slot",
            detail=execution.reason or "waits for a slot of the long lane",
            until=lane.start_of(min(latest_starts), self.clock()) if lane and known else None,
            ahead=len(before) if before is not None else lane.ahead_of(min(latest_starts)) if lane and known else None,
            executions_ahead=named,
            job_names=_names_of(self.executions.read_many(named).values()),
        )

    def _parts_before(self, execution_id: str) -> list[Part] | None:
        """The waiting parts of other executions that go first; ``None`` if there are too many to read."""
        before: list[Part] = []
        for part in islice(self.slots.waiting(), MAX_PARTS_AHEAD):
            if part.execution_id == execution_id:
                return before
            before.append(part)
        return None

    def _for_worker(self, execution: Execution) -> WaitingFor:
        queue, sample = _queue_of(execution), self.samples.latest()
        fresh = sample if sample and self.clock() - sample.at <= MAX_SAMPLE_AGE else None
        backlog = fresh.queues.get(queue) if fresh else None
        known = fresh is not None and backlog is not None and backlog.depth is not None
        return WaitingFor(
            what="worker",
            detail=f"waits for a worker of the queue {queue}",
            until=_expected_start(backlog, fresh.at) if backlog and fresh else None,
            ahead=backlog.depth if backlog else None,
            as_of=fresh.at if fresh and known else None,
        )


def _names_of(executions: Iterable[Execution]) -> dict[str, str]:
    return {one.execution_id: one.job_name for one in executions if one.job_name}


def _expected_start(backlog: Backlog, at: datetime) -> datetime | None:
    """When all messages of a queue have started; ``None`` if its capacity is unknown."""
    if backlog.depth is None or not backlog.capacity_per_minute:
        return None
    return at + timedelta(minutes=min(backlog.depth / backlog.capacity_per_minute, MAX_DRAIN_MINUTES))


def _queue_of(execution: Execution) -> Priority:
    """Return the queue that holds its work order, sent when it was queued, admitted by a gate, or last retried."""
    last_ended = execution.attempts[-1].ended_at if execution.attempts else None
    sent_at = max(filter(None, (execution.queued_at, execution.woken_at, last_ended)), default=execution.earliest_start)
    return aged_priority(execution.priority, execution.attempt, sent_at - execution.earliest_start)


def _not_started(parts: Sequence[Part]) -> tuple[str, datetime | None] | None:
    """Why AWS does not start the containers of parts, and when the first of them is tried again."""
    waiting = [part for part in parts if part.status is Status.RETRYING and part.attempts]
    blocked = [part for part in waiting if part.attempts[-1].outcome is Outcome.NOT_STARTED]
    if not blocked:
        return None
    error = blocked[0].attempts[-1].error
    return error.message if error else "AWS started no container", min(
        part.retry_at for part in blocked if part.retry_at
    )
