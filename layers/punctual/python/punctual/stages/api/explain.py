"""Explain: what an execution waits for, and how many are before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.work_order import aged
from punctual.domain.instant import to_text
from punctual.domain.jobs.gate import OF_KEY
from punctual.domain.lane import Lane, Priority
from punctual.domain.long_lane.part import Part
from punctual.domain.planning.upstreams import Answer, Upstream, ruling_of
from punctual.domain.status import NOT_STARTED, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gates
    from punctual.ports.monitoring import LaneOutlooks, Samples

RECENT = timedelta(minutes=2)
"""What was seen of a queue before that says nothing about now."""


@dataclass(frozen=True, kw_only=True)
class WaitingFor:
    what: str
    """``time``, ``rest``, ``rate``, ``executions``, ``key``, ``upstream``, ``worker`` or ``slot``."""
    detail: str
    ahead: int | None = None
    """How many go first, where that is known."""
    executions: tuple[str, ...] = ()
    """Those that have to end first, where it is those."""
    as_of: datetime | None = None
    """When ``ahead`` was counted, where that was not just now."""


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
        """``None`` for one that runs or has ended."""
        now = self.clock()
        if execution.waits_at is not None and execution.status is Status.WAITING:
            return self._at_gate(execution, execution.waits_at)
        if execution.status is Status.WAITING and execution.held:
            return self._for_upstreams(upstreams)
        if execution.status in (Status.SCHEDULED, Status.QUEUED) and execution.rate_at and execution.rate_at > now:
            return self._put_off(execution, execution.rate_at, now)
        if execution.status is Status.SCHEDULED or (execution.status is Status.QUEUED and execution.released_at > now):
            starts = to_text(execution.released_at)
            jitter = f"{to_text(execution.scheduled_at)}, and starts at {starts} by its jitter"
            return WaitingFor(what="time", detail=f"it is due at {jitter if execution.delay_seconds else starts}")
        on_its_way = execution.status in (Status.QUEUED, Status.RETRYING)
        if on_its_way and execution.retry_at and execution.retry_at > now:
            return WaitingFor(what="rest", detail=f"the next attempt is at {to_text(execution.retry_at)}")
        if on_its_way and execution.lane is Lane.SHORT:
            return self._in_queue(execution)
        if (on_its_way or execution.status in (Status.WAITING, Status.STARTING)) and execution.lane is Lane.LONG:
            return self._for_a_slot(execution, parts)
        return None

    def _at_gate(self, execution: Execution, gate: str) -> WaitingFor:
        """As it is now: whoever is inside or in line may have ended, and not have left yet."""
        inside = self.gates.inside(gate) - {execution.execution_id}
        before = self.gates.ahead_of(gate, execution.turn) if execution.turn else []
        in_line = set(before) - inside - {execution.execution_id}
        standing = self.executions.read_many([*inside, *in_line])
        live = {name for name, one in standing.items() if one.belongs_in(gate)}
        runs = tuple(sorted(inside & live))
        ahead = sum(standing[name].status in NOT_STARTED for name in in_line & live)
        of_key = gate.startswith(OF_KEY)
        detail = f"{len(runs)} of its key run already" if of_key else f"waits for {', '.join(runs)}"
        return WaitingFor(
            what="key" if of_key else "executions",
            detail=detail if runs else "its turn: there is room",
            ahead=ahead if execution.turn else None,
            executions=runs,
        )

    def _for_upstreams(self, upstreams: Sequence[Upstream]) -> WaitingFor:
        ahead, ruling = [one for one in upstreams if not one.ended], ruling_of(upstreams, self.clock())
        known = ruling.reason if upstreams and ruling.answer is Answer.NOT_YET else None
        return WaitingFor(
            what="upstream",
            detail=known or "all that it waits for has ended: it will be let go, or skipped, in a moment",
            ahead=len(ahead) if upstreams else None,
            executions=tuple(one.execution.execution_id for one in ahead if one.execution is not None),
        )

    def _put_off(self, execution: Execution, starts_at: datetime, now: datetime) -> WaitingFor:
        rate = next((gate.rate for gate in execution.gates if gate.rate), None)
        detail = f"{execution.reason}: it starts at {to_text(starts_at)}"
        return WaitingFor(what="rate", detail=detail, ahead=rate.before(starts_at, now) if rate else None)

    def _for_a_slot(self, execution: Execution, parts: Sequence[Part]) -> WaitingFor:
        lane = self.lane_outlooks.latest()
        asking = [part.latest_start for part in parts if part.status is Status.WAITING]
        ahead = lane.ahead_of(min(asking)) if lane and asking else None
        return WaitingFor(what="slot", detail=execution.reason or "a slot of the long lane", ahead=ahead)

    def _in_queue(self, execution: Execution) -> WaitingFor:
        queue, sample = _queue_of(execution), self.samples.latest()
        fresh = sample if sample and self.clock() - sample.at <= RECENT else None
        backlog = fresh.queues.get(queue) if fresh else None
        known = fresh is not None and backlog is not None and backlog.depth is not None
        return WaitingFor(
            what="worker",
            detail=f"a worker of the queue {queue}",
            ahead=backlog.depth if backlog else None,
            as_of=fresh.at if fresh and known else None,
        )


def _queue_of(execution: Execution) -> Priority:
    """Where its order lies: that was sent when it was queued, let in, or tried before."""
    tried = execution.attempts[-1].ended_at if execution.attempts else None
    sent_at = max(filter(None, (execution.queued_at, execution.woken_at, tried)), default=execution.released_at)
    return aged(execution.priority, execution.attempt, sent_at - execution.released_at)
