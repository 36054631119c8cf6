"""Find, list and abort bulk operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict, Forbidden, NotFound
from punctual.domain.identity import is_job_id
from punctual.domain.instant import in_milliseconds
from punctual.domain.operations.operation import ItemOutcome, ItemResult, Operation, OperationState
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.page import Page, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.operations import Operations


@dataclass(frozen=True)
class OperationFinder:
    operations: Operations
    clock: Clock

    def get(self, operation_id: str) -> Operation:
        """Raises ``NotFound``."""
        operation = self.operations.get(operation_id) if is_job_id(operation_id) else None
        if operation is None:
            raise NotFound("operation", operation_id, field="operation_id")
        return operation

    def manageable(self, operation_id: str, caller: Caller) -> Operation:
        """Raises ``NotFound``, or ``Forbidden`` unless the caller may abort or undo the operation."""
        caller.require_role(Role.OPERATOR)
        operation = self.get(operation_id)
        if not operation.is_managed_by(caller):
            teams = operation.created_by.named_teams
            raise Forbidden(f"the operation was started by a member of {teams}; you are in none of these teams")
        return operation

    def newest_first(self, limit: int, cursor: str | None) -> Page[Operation]:
        """List operations, newest first. Raises ``Invalid`` for an unknown cursor."""
        pages = self.operations.newest_first(decode_cursor(cursor))
        found = list(islice(chain.from_iterable(pages), limit + 1))
        return Page(found[:limit], encode_cursor(found[limit - 1].operation_id) if len(found) > limit else None)

    def problems(self, operation: Operation, outcome: ItemOutcome) -> list[ItemResult]:
        """Return the first items that were skipped, or that failed, with the reasons."""
        has_some = operation.failed if outcome is ItemOutcome.FAILED else operation.skipped
        return self.operations.problems(operation.operation_id, outcome) if has_some else []

    def abort(self, operation_id: str, caller: Caller) -> Operation:
        """Have the operation end before its next step. Idempotent.

        Raises ``NotFound``, ``Forbidden``, or ``Conflict`` if it has ended otherwise.
        """
        operation = self.abortable(operation_id, caller)
        if not operation.is_running or operation.abort_requested_at is not None:
            return operation
        now = in_milliseconds(self.clock())
        if self.operations.request_abort(operation, caller.subject, now):
            return replace(operation, abort_requested_at=now, aborted_by=caller.subject)
        return self.abortable(operation_id, caller)

    def remaining(self, operation_id: str, caller: Caller) -> list[str]:
        """Dry run of ``abort``: the ids of the items that are not finished."""
        operation = self.abortable(operation_id, caller)
        return self.operations.all_items(operation)[operation.position :] if operation.is_running else []

    def abortable(self, operation_id: str, caller: Caller) -> Operation:
        operation = self.manageable(operation_id, caller)
        if operation.state in (OperationState.SUCCEEDED, OperationState.FAILED):
            raise Conflict(f"the operation has already ended: it {operation.state}", field="operation_id")
        return operation
