"""Watch: once a minute, find containers that fell silent, and wake their state machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.death import LOST
from punctual.domain.instant import to_text
from punctual.domain.part import Part

if TYPE_CHECKING:
    from punctual.ports import Callbacks, Clock, Containers, Slots


@dataclass(frozen=True)
class Watch:
    slots: Slots
    containers: Containers
    callbacks: Callbacks
    clock: Clock

    def tick(self) -> list[Part]:
        """The parts whose lease has lapsed. Their state machines settle the attempt, which frees the slot."""
        lapsed = [part for part in self.slots.holders() if self._has_lapsed(part)]
        for part in lapsed:
            assert part.lease_until is not None
            silent = f"the container has not been heard of: its lease ended at {to_text(part.lease_until)}"
            if part.task_arn:
                self.containers.stop(part.task_arn, "it fell silent")
            self.callbacks.fail(part.token or "", LOST, silent)
        return lapsed

    def _has_lapsed(self, part: Part) -> bool:
        return part.lease_until is not None and part.lease_until < self.clock()
