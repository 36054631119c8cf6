"""A bulk operation: one action on up to 10,000 jobs or executions, carried out step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from punctual.domain.lane import Priority
from punctual.domain.requests.caller import Caller, Role

MAX_IDS = 1000
"""Items that a request can name."""
MAX_ITEMS = 10_000
"""Items that a filter can select."""
STEP_SIZE = 25
"""Items per step. A step is repeated as a whole after a crash."""
MAX_LISTED_PROBLEMS = 100
"""Failures that are stored, and as many skips."""


class Kind(StrEnum):
    """What the items of an operation are."""

    JOBS = "jobs"
    EXECUTIONS = "executions"


class BulkAction(StrEnum):
    """What an operation does to each of its items."""

    RUN = "run"
    """Run the job now."""
    CANCEL = "cancel"
    """Cancel the job or the execution."""
    RETRY = "retry"
    """Retry the execution."""
    PAUSE = "pause"
    """Pause the job."""
    RESUME = "resume"
    """Resume the job."""
    PRIORITY = "priority"
    """Change the priority of the job."""
    DELETE = "delete"
    """Delete the job."""


class OperationState(StrEnum):
    """How far an operation is."""

    RUNNING = "running"
    """It has items left."""
    SUCCEEDED = "succeeded"
    """It has ended, and no item failed."""
    ABORTED = "aborted"
    """It has ended early, because a user aborted it. What it did before is not reverted."""
    FAILED = "failed"
    """It has ended, and at least one item failed."""


class ItemOutcome(StrEnum):
    """What became of one item."""

    DONE = "done"
    """The action was applied, or its effect existed already."""
    SKIPPED = "skipped"
    """The state of the item does not allow the action."""
    FAILED = "failed"
    """The action was refused: the item does not exist, belongs to another team, or is invalid."""


@dataclass(frozen=True)
class ItemResult:
    item_id: str
    outcome: ItemOutcome
    reason: str = ""
    """Why it was skipped or failed."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    operation_id: str
    kind: Kind
    action: BulkAction
    created_by: Caller
    """Its permissions apply to each item."""
    created_at: datetime
    total: int
    step_at: datetime
    """When the current step became the next one to do."""
    priority: Priority | None = None
    """The priority to set."""
    grace_seconds: int | None = None
    """How long a running task has to stop by itself."""
    selection: Mapping[str, Any] | None = None
    """The filter that selected the items; ``None`` if the request named them."""
    items_of: str = ""
    """The operation under which the ids of the items are stored: itself, or the operation that it undoes."""
    undo_of: str | None = None
    """The bulk pause that this operation undoes."""
    position: int = 0
    """How many items are finished: the steps before this position are done."""
    done: int = 0
    skipped: int = 0
    failed: int = 0
    state: OperationState = OperationState.RUNNING
    ended_at: datetime | None = None
    abort_requested_at: datetime | None = None
    aborted_by: str | None = None

    @property
    def is_running(self) -> bool:
        return self.state is OperationState.RUNNING

    def after(self, results: Iterable[ItemResult], now: datetime) -> Operation:
        """Return the operation after its current step."""
        outcomes = [one.outcome for one in results]
        moved = replace(
            self,
            position=self.position + len(outcomes),
            done=self.done + outcomes.count(ItemOutcome.DONE),
            skipped=self.skipped + outcomes.count(ItemOutcome.SKIPPED),
            failed=self.failed + outcomes.count(ItemOutcome.FAILED),
            step_at=now,
        )
        if moved.position < moved.total:
            return moved
        state = OperationState.FAILED if moved.failed else OperationState.SUCCEEDED
        return replace(moved, state=state, ended_at=now)

    def without_items(self, now: datetime) -> Operation:
        """Return the operation after the ids of its items have expired: the rest counts as failed."""
        failed = self.failed + self.total - self.position
        return replace(self, position=self.total, failed=failed, state=OperationState.FAILED, ended_at=now, step_at=now)

    def aborted(self, now: datetime) -> Operation:
        return replace(self, state=OperationState.ABORTED, ended_at=now, step_at=now)

    def is_managed_by(self, caller: Caller) -> bool:
        """Whether the caller may abort or undo it."""
        shares_a_team = bool(set(caller.teams) & set(self.created_by.teams))
        return caller.role is Role.ADMIN or (caller.role is Role.OPERATOR and shares_a_team)


def chunks_of(ids: Iterable[str], size: int) -> Iterable[tuple[str, ...]]:
    """Split the ids into chunks of ``size``."""
    ids = tuple(ids)
    return (ids[first : first + size] for first in range(0, len(ids), size))
