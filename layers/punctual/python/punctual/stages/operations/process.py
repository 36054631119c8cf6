"""Process: carry out a bulk operation, step by step. docs/bulk.md specifies the steps and what a crash leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.operations.operation import ItemOutcome, ItemResult, Operation

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.operations import OperationQueue, Operations
    from punctual.stages.operations.act import Actor

MAX_STEPS = 40
"""Steps per invocation: 1,000 items."""
MAX_PROCESS_TIME = timedelta(seconds=25)
"""The time after which an invocation begins no further step."""


class ProcessOutcome(StrEnum):
    """How an invocation ended."""

    CONTINUED = "continued"
    """Another message was sent for the rest."""
    ENDED = "ended"
    """The operation has ended."""
    OVERTAKEN = "overtaken"
    """Another process has stored the step, and continues."""


@dataclass(frozen=True)
class OperationProcessor:
    operations: Operations
    queue: OperationQueue
    actor: Actor
    clock: Clock
    is_of_aws: Callable[[Exception], bool]
    """Whether an error is a fault of AWS, after which the step is repeated."""
    warn: Callable[[str], None]

    def process(self, operation_id: str) -> ProcessOutcome:
        """Carry out the next steps of the operation. Idempotent, also if several processes do so concurrently.

        A crash leaves at most one step to repeat. The message is delivered again, or the monitor sends another one.
        """
        began = self.clock()
        for _ in range(MAX_STEPS):
            operation = self.operations.get(operation_id)
            if operation is None or not operation.is_running:
                return ProcessOutcome.ENDED
            if not self._step(operation):
                return ProcessOutcome.OVERTAKEN
            if self.clock() - began > MAX_PROCESS_TIME:
                break
        self.queue.send(operation_id)
        return ProcessOutcome.CONTINUED

    def _step(self, operation: Operation) -> bool:
        """Carry out one step and store its result; ``False`` if another process has stored it."""
        if operation.abort_requested_at is not None:
            return self.operations.advance(operation, operation.aborted(self.clock()), [])
        ids = self.operations.items(operation)
        if not ids:
            return self.operations.advance(operation, operation.without_items(self.clock()), [])
        results = [self._act(operation, item_id) for item_id in ids]
        return self.operations.advance(operation, operation.after(results, self.clock()), results)

    def _act(self, operation: Operation, item_id: str) -> ItemResult:
        try:
            return self.actor.act(operation, item_id)
        except Exception as error:
            if self.is_of_aws(error):
                raise
            self.warn(f"the action on {item_id} failed: {type(error).__name__}: {error}")
            return ItemResult(item_id, ItemOutcome.FAILED, f"internal error: {type(error).__name__}")
