"""Revive bulk operations that no process continues, because one died before it sent the next message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.operations import OperationQueue, RunningOperations

STALLED_AFTER = timedelta(minutes=2)
"""A step takes seconds. An invocation that is still at it is harmless: only one of the two can store the step."""


@dataclass(frozen=True)
class OperationReviver:
    operations: RunningOperations
    queue: OperationQueue
    clock: Clock

    def tick(self) -> int:
        """Have each stalled operation continued. Returns how many. Idempotent."""
        stalled = self.operations.stalled(since=self.clock() - STALLED_AFTER)
        for operation_id in stalled:
            self.queue.send(operation_id)
        return len(stalled)
