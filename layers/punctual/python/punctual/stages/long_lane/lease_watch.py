"""Watch leases: once a minute, fail the attempts of containers that stopped renewing, or that did not stop in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.instant import to_text
from punctual.domain.long_lane.container_death import CANCELLED, LOST
from punctual.domain.long_lane.part import Part

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.long_lane import Callbacks, Containers, Slots


@dataclass(frozen=True)
class LeaseWatch:
    slots: Slots
    containers: Containers
    callbacks: Callbacks
    clock: Clock

    def tick(self) -> list[Part]:
        """Stop the containers whose lease has expired or whose time to stop is over, and return their parts.

        The state machine run of each part is woken with an error: it concludes the attempt, which frees the slot.
        Idempotent: a part is returned at every tick until its slot is free.
        """
        now, expired = self.clock(), []
        for part in self.slots.holders():
            if part.cancel_at is not None and part.cancel_at < now:
                cause = f"the container did not stop by {to_text(part.cancel_at)}, as the cancellation asked"
                self._fail(part, CANCELLED, cause)
            elif part.lease_until is not None and part.lease_until < now:
                self._fail(part, LOST, f"the container's lease expired at {to_text(part.lease_until)}: no heartbeat")
            else:
                continue
            expired.append(part)
        return expired

    def _fail(self, part: Part, error: str, cause: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, cause)
        self.callbacks.fail(part.token or "", error, cause)
