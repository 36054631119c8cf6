"""Response models of bulk operations."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from answers.page import CountedPage
from punctual.domain.lane import Priority
from punctual.domain.operations.operation import BulkAction, Kind, OperationState


class ItemProblem(BaseModel):
    """An item to which the action was not applied."""

    id: str
    reason: str


class Operation(BaseModel):
    """A bulk operation and its progress: `done + skipped + failed` of `total` items are finished."""

    operation_id: str
    kind: Kind = Field(description="What the items are.")
    action: BulkAction
    state: OperationState
    total: int
    done: int = Field(description="The action was applied, or its effect existed already.")
    skipped: int = Field(description="The state of the item does not allow the action.")
    failed: int = Field(description="The action was refused.")
    created_by: str
    created_at: str
    ended_at: str | None
    abort_requested_at: str | None = Field(description="It ends before its next 25 items.")
    aborted_by: str | None
    undo_of: str | None = Field(description="The bulk pause that it undoes.")
    filter: dict[str, Any] | None = Field(description="The filter that selected the items; null if they were named.")
    priority: Priority | None
    grace_seconds: int | None
    failures: list[ItemProblem] | None = Field(None, description="Only for a single operation: the first 100.")
    skips: list[ItemProblem] | None = Field(None, description="Only for a single operation: the first 100.")


class OperationPage(CountedPage):
    items: list[Operation]


class Selection(BaseModel):
    """The result of a dry run: the items that the request would change. Nothing was written."""

    dry_run: bool = True
    count: int
    ids: list[str] = Field(description="The first 100.")
