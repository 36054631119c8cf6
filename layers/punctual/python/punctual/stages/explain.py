"""Explain: what an execution waits for, and how many are before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.execution import Execution
from punctual.domain.gate import OF_JOB
from punctual.domain.instant import to_text
from punctual.domain.lane import Lane
from punctual.domain.part import Part
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports import Clock, Gates, LaneOutlooks, Samples


@dataclass(frozen=True, kw_only=True)
class WaitingFor:
    what: str
    """``time``, ``rest``, ``rate``, ``executions``, ``key``, ``upstream``, ``worker`` or ``slot``."""
    detail: str
    ahead: int | None = None
    """How many go first, where that is known."""
    executions: tuple[str, ...] = ()
    """Those that have to end first, where it is those."""


@dataclass(frozen=True)
class Explain:
    gates: Gates
    samples: Samples
    lane_outlooks: LaneOutlooks
    clock: Clock

    def waiting_for(self, execution: Execution, parts: Sequence[Part] = ()) -> WaitingFor | None:
        """``None`` for one that runs or has ended."""
        now = self.clock()
        if execution.waits_at is not None and execution.status is Status.WAITING:
            return self._at_gate(execution, execution.waits_at)
        if execution.status is Status.WAITING and execution.held:
            return WaitingFor(what="upstream", detail=execution.reason or "what it depends on")
        if execution.status in (Status.SCHEDULED, Status.QUEUED) and execution.rate_at and execution.rate_at > now:
            return WaitingFor(what="rate", detail=f"{execution.reason}: it starts at {to_text(execution.rate_at)}")
        if execution.status is Status.SCHEDULED or (execution.status is Status.QUEUED and execution.released_at > now):
            starts = to_text(execution.released_at)
            jitter = f"{to_text(execution.scheduled_at)}, and starts at {starts} by its jitter"
            return WaitingFor(what="time", detail=f"it is due at {jitter if execution.delay_seconds else starts}")
        if execution.status is Status.RETRYING and execution.retry_at:
            return WaitingFor(what="rest", detail=f"the next attempt is at {to_text(execution.retry_at)}")
        if execution.status is Status.QUEUED and execution.lane is Lane.SHORT:
            return self._in_queue(execution)
        if execution.status in (Status.QUEUED, Status.WAITING, Status.STARTING) and execution.lane is Lane.LONG:
            return self._for_a_slot(execution, parts)
        return None

    def _at_gate(self, execution: Execution, gate: str) -> WaitingFor:
        inside = tuple(sorted(self.gates.inside(gate)))
        ahead = self.gates.ahead_of(gate, execution.turn) if execution.turn else None
        what = "executions" if gate.startswith(OF_JOB) else "key"
        return WaitingFor(what=what, detail=execution.reason or "its turn", ahead=ahead, executions=inside)

    def _for_a_slot(self, execution: Execution, parts: Sequence[Part]) -> WaitingFor:
        lane = self.lane_outlooks.latest()
        asking = [part.latest_start for part in parts if part.status is Status.WAITING]
        ahead = lane.ahead_of(min(asking)) if lane and asking else None
        return WaitingFor(what="slot", detail=execution.reason or "a slot of the long lane", ahead=ahead)

    def _in_queue(self, execution: Execution) -> WaitingFor:
        sample = self.samples.latest()
        backlog = sample.queues.get(execution.priority) if sample else None
        ahead = backlog.depth if backlog else None
        return WaitingFor(what="worker", detail=f"a worker of the queue {execution.priority}", ahead=ahead)
