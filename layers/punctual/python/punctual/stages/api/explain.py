"""Explain: what an execution waits for, and how many others go first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.work_order import aged_priority
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
    from punctual.ports.monitoring import LaneOutlooks, Samples

MAX_SAMPLE_AGE = timedelta(minutes=2)
"""An older sample of a queue says nothing about its current depth."""


@dataclass(frozen=True, kw_only=True)
class WaitingFor:
    what: str
    """``time``, ``rest``, ``rate``, ``executions``, ``key``, ``upstream``, ``worker``, ``slot`` or ``resume``."""
    detail: str
    ahead: int | None = None
    """How many others go first; ``None`` if unknown."""
    executions: tuple[str, ...] = ()
    """The executions that have to end first, for ``executions``, ``key`` and ``upstream``."""
    as_of: datetime | None = None
    """When ``ahead`` was counted; ``None`` if just now."""


@dataclass(frozen=True)
class Explain:
    gates: Gates
    executions: Executions
    samples: Samples
    lane_outlooks: LaneOutlooks
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
            return WaitingFor(what="time", detail=f"it is due at {jitter if execution.delay_seconds else starts}")
        is_ready = execution.status in (Status.QUEUED, Status.RETRYING)
        if is_ready and execution.retry_at and execution.retry_at > now:
            return WaitingFor(what="rest", detail=f"the next attempt is at {to_text(execution.retry_at)}")
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
        """Explain a wait at a gate, without the holders and waiters that have ended but are still recorded there."""
        recorded = self.gates.state(gate).holders.keys() - {execution.execution_id}
        before = self.gates.ahead_of(gate, execution.turn) if execution.turn else []
        queued = set(before) - recorded - {execution.execution_id}
        existing = self.executions.read_many([*recorded, *queued])
        holders = tuple(sorted(name for name in recorded & existing.keys() if existing[name].may_hold(gate)))
        ahead = sum(existing[name].waits_at == gate for name in queued & existing.keys())
        is_key = gate.startswith(OF_KEY)
        detail = key_in_use(len(holders)) if is_key else f"waits for {', '.join(holders)}"
        return WaitingFor(
            what="key" if is_key else "executions",
            detail=detail if holders else "a place is free: it starts when its turn comes",
            ahead=ahead if execution.turn else None,
            executions=holders,
        )

    def _for_upstreams(self, upstreams: Sequence[Upstream]) -> WaitingFor:
        ahead, decision = [one for one in upstreams if not one.ended], decide_start(upstreams, self.clock())
        known = decision.reason if upstreams and decision.readiness is Readiness.NOT_YET else None
        return WaitingFor(
            what="upstream",
            detail=known or "all upstream executions have ended: it will be queued or skipped in a moment",
            ahead=len(ahead) if upstreams else None,
            executions=tuple(one.execution.execution_id for one in ahead if one.execution is not None),
        )

    def _for_rate(self, execution: Execution, starts_at: datetime, now: datetime) -> WaitingFor:
        rate = next((gate.rate for gate in execution.gates if gate.rate), None)
        detail = f"{execution.reason}: it starts at {to_text(starts_at)}"
        return WaitingFor(what="rate", detail=detail, ahead=rate.before(starts_at, now) if rate else None)

    def _for_slot(self, execution: Execution, parts: Sequence[Part]) -> WaitingFor:
        lane = self.lane_outlooks.latest()
        latest_starts = [part.latest_start for part in parts if part.status is Status.WAITING]
        ahead = lane.ahead_of(min(latest_starts)) if lane and latest_starts else None
        return WaitingFor(what="slot", detail=execution.reason or "waits for a slot of the long lane", ahead=ahead)

    def _for_worker(self, execution: Execution) -> WaitingFor:
        queue, sample = _queue_of(execution), self.samples.latest()
        fresh = sample if sample and self.clock() - sample.at <= MAX_SAMPLE_AGE else None
        backlog = fresh.queues.get(queue) if fresh else None
        known = fresh is not None and backlog is not None and backlog.depth is not None
        return WaitingFor(
            what="worker",
            detail=f"waits for a worker of the queue {queue}",
            ahead=backlog.depth if backlog else None,
            as_of=fresh.at if fresh and known else None,
        )


def _queue_of(execution: Execution) -> Priority:
    """Return the queue that holds its work order, sent when it was queued, admitted by a gate, or last retried."""
    last_ended = execution.attempts[-1].ended_at if execution.attempts else None
    sent_at = max(filter(None, (execution.queued_at, execution.woken_at, last_ended)), default=execution.earliest_start)
    return aged_priority(execution.priority, execution.attempt, sent_at - execution.earliest_start)
