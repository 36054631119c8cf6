"""Watch: once a minute, find containers that fell silent or did not stop, and wake their state machines."""

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
class Watch:
    slots: Slots
    containers: Containers
    callbacks: Callbacks
    clock: Clock

    def tick(self) -> list[Part]:
        """The parts that hold a slot in vain. Their state machines settle the attempt, which frees it."""
        now, given_up = self.clock(), []
        for part in self.slots.holders():
            if part.cancel_at is not None and part.cancel_at < now:
                self._give_up(part, CANCELLED, f"it was to stop by {to_text(part.cancel_at)}")
            elif part.lease_until is not None and part.lease_until < now:
                silent = f"the container has not been heard of: its lease ended at {to_text(part.lease_until)}"
                self._give_up(part, LOST, silent)
            else:
                continue
            given_up.append(part)
        return given_up

    def _give_up(self, part: Part, error: str, cause: str) -> None:
        if part.task_arn:
            self.containers.stop(part.task_arn, cause)
        self.callbacks.fail(part.token or "", error, cause)
