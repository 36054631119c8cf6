"""Yield: ask a preemptible execution of the long lane to release its slots at its next checkpoint.

It uses the mechanism of a preemption: the reason is recorded with each running part, its container reads it with the
next heartbeat or checkpoint, and the attempt ends as ``preempted``, which is not counted. The free slot goes to the
first part in the order of admission. The execution then requests a slot again and resumes from its checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution
from punctual.domain.lane import Lane
from punctual.domain.long_lane.laxity import LaneLimits, Occupancy
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.slot_order import next_grants
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.keyed_request import KeyedRequest
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Slots
    from punctual.ports.monitoring import PartReader
    from punctual.stages.api.find import Finder

MAX_CANDIDATES = 100
"""Waiting parts that a dry run reads."""


@dataclass(frozen=True)
class YieldedSlots:
    execution: Execution
    parts: tuple[Part, ...]
    """The parts that release their slots."""
    next_parts: tuple[Part, ...] = ()
    """Of a dry run: the waiting parts that would get these slots now, in the order of admission."""


@dataclass(frozen=True)
class YieldSlot:
    find: Finder
    parts: PartReader
    slots: Slots
    limits: LaneLimits
    clock: Clock

    def release(self, execution_id: str, caller: Caller, keyed: KeyedRequest | None = None) -> YieldedSlots:
        """Ask each running part of an execution to stop at its next checkpoint.

        Idempotent as long as the same attempts run. A repeated ``keyed`` request leaves later attempts alone. After a
        crash some parts are not asked: repeat the request. Raises ``NotFound``, ``Forbidden`` or ``Conflict``.
        """
        execution = self._find(execution_id, caller)
        before = keyed.at if keyed and keyed.is_repeated else None
        running = self._running_parts(execution, before)
        reason = f"released by {caller.subject}"
        now = self.clock()
        asked = tuple(part for part in running if part.preempt_reason or self.slots.preempt(part, reason, now))
        if running and not asked:
            raise Conflict("it stopped running during this request: read it to see how", field="execution_id")
        return YieldedSlots(execution, asked)

    def preview(self, execution_id: str, caller: Caller) -> YieldedSlots:
        """Dry run of ``release``."""
        execution = self._find(execution_id, caller)
        parts = self._running_parts(execution)
        free: Occupancy = reduce(lambda seen, part: seen.minus(part.cpu), parts, self.slots.occupancy())
        waiting = islice(self.slots.waiting(), MAX_CANDIDATES)
        return YieldedSlots(execution, tuple(parts), tuple(next_grants(waiting, free, self.limits)))

    def _find(self, execution_id: str, caller: Caller) -> Execution:
        execution = self.find.execution_to_manage(execution_id, caller)
        if (obstacle := _obstacle(execution)) is not None:
            raise Conflict(obstacle, field="execution_id")
        return execution

    def _running_parts(self, execution: Execution, started_before: datetime | None = None) -> Sequence[Part]:
        """The parts that can be asked to stop. ``started_before``: of a repeated request, which may have had its
        effect: only parts whose attempt had started by then."""
        parts = [part for part in self.parts.of(execution.execution_id) if part.status is Status.RUNNING]
        if not parts and started_before is None:
            raise Conflict("none of its parts is running: it holds no slot that it could release", field="execution_id")
        return [part for part in parts if not started_before or (part.started_at or started_before) <= started_before]


def _obstacle(execution: Execution) -> str | None:
    if execution.lane is not Lane.LONG:
        return "it runs in the short lane, which has no slots"
    if execution.status in FINAL:
        return f"it has already ended as {execution.status}"
    if execution.batch is None or not execution.batch.preemptible:
        return "it is not preemptible: set preemptible of its job, and use context.checkpoint in its task"
    if execution.cancel_at is not None:
        return "it was asked to stop, which releases its slot"
    return None
