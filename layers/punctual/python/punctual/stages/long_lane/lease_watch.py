"""Watch leases: once a minute, fail the attempts of containers that did not start, stopped renewing, or did not stop.

A part has a lease from when it gets its slot, so that a slot is never held without end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.instant import to_text
from punctual.domain.long_lane.container_death import CANCELLED, LOST, infer_result
from punctual.domain.long_lane.part import Part
from punctual.domain.long_lane.part_decision import decide_part

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, Containers, Parts, Slots


@dataclass(frozen=True)
class LeaseWatch:
    slots: Slots
    containers: Containers
    callbacks: Callbacks
    parts: Parts
    clock: Clock
    uniform: Callable[[float, float], float]

    def tick(self) -> list[Part]:
        """End the attempts whose lease has expired or whose time to stop is over, and return their parts.

        A container that claims its part or renews its lease meanwhile keeps its attempt, unless its time to stop is
        over. Idempotent. An ended attempt is not listed again: if the process dies after its end, its container is not
        stopped, and its state machine run continues when its own heartbeat timeout is over.
        """
        now, expired = self.clock(), []
        for part in self.slots.holders():
            if part.cancel_at is not None and part.cancel_at < now:
                cause = f"the container did not stop by {to_text(part.cancel_at)}, as the cancellation asked"
                has_ended = self._end(part, CANCELLED, cause)
            elif part.lease_until is not None and part.lease_until < now:
                missing = "it did not start" if part.started_at is None else "no heartbeat"
                cause = f"the container's lease expired at {to_text(part.lease_until)}: {missing}"
                has_ended = self._end(part, LOST, cause)
            else:
                continue
            if has_ended:
                expired.append(part)
        return expired

    def _end(self, part: Part, error: str, cause: str) -> bool:
        """End the attempt, which frees its slot, then stop its container and wake its state machine run."""
        result = infer_result(part, {"Error": error, "Cause": cause})
        after, decision = decide_part(part, result, now=self.clock(), uniform=self.uniform)
        if not self.parts.conclude(after, decision, self.clock(), unless_renewed=error == LOST):
            return False
        if part.task_arn:
            self.containers.stop(part.task_arn, cause)
        self.callbacks.fail(part.tokens, error, cause)
        return True
