"""Start a bulk operation, or undo a bulk pause: store it, and send its first message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain.errors import Conflict, Invalid, NotFound
from punctual.domain.identity import is_job_id, job_of, new_operation_id
from punctual.domain.instant import in_milliseconds
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Priority
from punctual.domain.operations.operation import MAX_IDS, BulkAction, Kind, Operation, OperationState
from punctual.domain.requests.caller import Caller, Role
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.job_filter import JobFilter
from punctual.domain.requests.keyed_request import KeyedRequest

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.operations import OperationQueue, Operations
    from punctual.stages.operations.find import OperationFinder
    from punctual.stages.operations.select import Selector


@dataclass(frozen=True, kw_only=True)
class BulkRequest:
    """A requested action and its items: those named by ``ids``, or those that match ``where``."""

    kind: Kind
    action: BulkAction
    ids: Sequence[str] | None = None
    where: JobFilter | ExecutionFilter | None = None
    priority: Priority | None = None
    grace_seconds: int | None = None

    def check(self) -> None:
        """Raises ``Invalid``, naming the field."""
        if (self.ids is None) == (self.where is None):
            raise Invalid("ids", f"give either ids, up to {MAX_IDS:,}, or a filter")
        if self.where is not None and not self.where.to_spec():
            raise Invalid("filter", "must have at least one field, so that not everything is selected by mistake")
        if (self.priority is None) == (self.action is BulkAction.PRIORITY):
            raise Invalid("priority", f"is for the action {BulkAction.PRIORITY}, which requires it")
        if self.grace_seconds is not None and (self.kind, self.action) != (Kind.EXECUTIONS, BulkAction.CANCEL):
            raise Invalid("grace_seconds", f"is only for the action {BulkAction.CANCEL} of executions: remove it")
        for number, one in enumerate(self.ids or ()):
            if not (is_job_id(one) if self.kind is Kind.JOBS else _is_execution_id(one)):
                raise Invalid(f"ids.{number}", f"{one[:100]!r} is not the id of one of the {self.kind}")


@dataclass(frozen=True)
class OperationStarter:
    operations: Operations
    find: OperationFinder
    jobs: Jobs
    queue: OperationQueue
    selector: Selector
    clock: Clock

    def start(self, request: BulkRequest, caller: Caller, keyed: KeyedRequest | None = None) -> Operation:
        """Store the operation with the ids of its items, and have it begun.

        A filter selects what exists now. If the process dies after the operation is stored, the monitor has it begun.
        Idempotent only with a ``keyed`` request. Raises ``Forbidden`` or ``Invalid``.
        """
        operation_id = self._new_id(keyed)
        stored = self.operations.get(operation_id) if keyed and keyed.is_repeated else None
        if stored is None:
            ids = self.select(request, caller)
            stored = self.operations.add(self._operation(operation_id, request, caller, len(ids)), ids)
        return self._begin(stored)

    def select(self, request: BulkRequest, caller: Caller) -> list[str]:
        """Return the ids of the items that the request would change."""
        caller.require_role(Role.OPERATOR)
        request.check()
        if request.where is not None:
            return self.selector.select(request.where, caller)
        return list(dict.fromkeys(request.ids or ()))

    def undo(self, operation_id: str, caller: Caller, keyed: KeyedRequest | None = None) -> Operation:
        """Resume the jobs that a bulk pause has paused and that were not changed since.

        Raises ``NotFound``, ``Forbidden``, or ``Conflict`` for another operation, or one that is running.
        """
        paused = self._find_undoable(operation_id, caller)
        now, own_id = in_milliseconds(self.clock()), self._new_id(keyed)
        return self._begin(
            self.operations.add(
                Operation(
                    operation_id=own_id,
                    kind=Kind.JOBS,
                    action=BulkAction.RESUME,
                    created_by=caller,
                    created_at=now,
                    total=paused.position,
                    step_at=now,
                    items_of=paused.operation_id,
                    undo_of=paused.operation_id,
                    **_state(paused.position, now),
                ),
                ids=[],
            )
        )

    def select_undo(self, operation_id: str, caller: Caller) -> list[str]:
        """Return the ids of the jobs that ``undo`` would resume."""
        paused = self._find_undoable(operation_id, caller)
        jobs = self.jobs.get_many(self.operations.all_items(paused))
        wanted = (JobState.PAUSED, operation_id)
        return sorted(job_id for job_id, job in jobs.items() if (job.state, job.paused_by) == wanted)

    def _find_undoable(self, operation_id: str, caller: Caller) -> Operation:
        operation = self.find.manageable(operation_id, caller)
        if operation.action is not BulkAction.PAUSE:
            raise Conflict(f"the operation is a {operation.action}: only a pause can be undone", field="operation_id")
        if operation.is_running:
            raise Conflict("the operation is running: wait until it has ended, or abort it", field="operation_id")
        return operation

    def _new_id(self, keyed: KeyedRequest | None) -> str:
        return new_operation_id(keyed.at, keyed.seed()) if keyed else new_operation_id(self.clock())

    def _begin(self, operation: Operation) -> Operation:
        if operation.is_running:
            self.queue.send(operation.operation_id)
        return operation

    def _operation(self, operation_id: str, request: BulkRequest, caller: Caller, total: int) -> Operation:
        now = in_milliseconds(self.clock())
        return Operation(
            operation_id=operation_id,
            kind=request.kind,
            action=request.action,
            created_by=caller,
            created_at=now,
            total=total,
            step_at=now,
            priority=request.priority,
            grace_seconds=request.grace_seconds,
            selection=request.where.to_spec() if request.where else None,
            items_of=operation_id,
            **_state(total, now),
        )


def _state(total: int, now: datetime) -> dict[str, Any]:
    """An operation without items has nothing to do."""
    return {} if total else {"state": OperationState.SUCCEEDED, "ended_at": now}


def _is_execution_id(text: str) -> bool:
    try:
        return bool(job_of(text))
    except NotFound:
        return False
