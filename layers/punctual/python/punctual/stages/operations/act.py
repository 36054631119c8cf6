"""Apply the action of an operation to one item.

Idempotent: ids of new executions are derived from the operation and the item, and all other actions set a state. A
repetition returns the same outcome, unless the item was changed in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict, Contention, Rejected, Stale
from punctual.domain.executions.lease import CANCEL_GRACE
from punctual.domain.identity import digest
from punctual.domain.jobs.job import JobState
from punctual.domain.operations.operation import BulkAction, ItemOutcome, ItemResult, Kind, Operation
from punctual.domain.requests.keyed_request import KeyedRequest
from punctual.domain.requests.rerun_request import RerunRequest

if TYPE_CHECKING:
    from punctual.stages.api.cancel import Cancel
    from punctual.stages.api.edit import Edit
    from punctual.stages.api.find import Finder
    from punctual.stages.api.job_state import JobStateChanger
    from punctual.stages.api.rerun import Rerun

MAX_ACTION_TRIES = 2

Act = Callable[[Operation, str], None]
"""Raises ``Conflict`` if the state of the item does not allow the action, and another ``Rejected`` if it is refused."""


@dataclass(frozen=True)
class Actor:
    find: Finder
    job_state: JobStateChanger
    edit: Edit
    rerun: Rerun
    cancel: Cancel

    def act(self, operation: Operation, item_id: str) -> ItemResult:
        """Apply the action. Raises only errors of AWS and defects."""
        apply = self._actions[operation.kind, operation.action]
        tries = MAX_ACTION_TRIES
        while True:
            tries -= 1
            try:
                apply(operation, item_id)
                return ItemResult(item_id, ItemOutcome.DONE)
            except (Contention, Conflict, Stale) as error:
                # a concurrent writer may be another process that repeats this step
                if not tries:
                    outcome = ItemOutcome.SKIPPED if isinstance(error, Conflict) else ItemOutcome.FAILED
                    return ItemResult(item_id, outcome, str(error))
            except Rejected as error:
                return ItemResult(item_id, ItemOutcome.FAILED, str(error))

    @property
    def _actions(self) -> Mapping[tuple[Kind, BulkAction], Act]:
        return {
            (Kind.JOBS, BulkAction.RUN): self._run,
            (Kind.JOBS, BulkAction.CANCEL): self._cancel_job,
            (Kind.JOBS, BulkAction.PAUSE): self._pause,
            (Kind.JOBS, BulkAction.RESUME): self._resume,
            (Kind.JOBS, BulkAction.PRIORITY): self._set_priority,
            (Kind.JOBS, BulkAction.DELETE): self._delete,
            (Kind.EXECUTIONS, BulkAction.CANCEL): self._cancel_execution,
            (Kind.EXECUTIONS, BulkAction.RETRY): self._retry,
        }

    def _run(self, operation: Operation, job_id: str) -> None:
        self.rerun.run(job_id, RerunRequest(), operation.created_by, _keyed(operation, job_id))

    def _retry(self, operation: Operation, execution_id: str) -> None:
        self.rerun.retry(execution_id, RerunRequest(), operation.created_by, _keyed(operation, execution_id))

    def _cancel_execution(self, operation: Operation, execution_id: str) -> None:
        given = operation.grace_seconds
        grace = CANCEL_GRACE if given is None else timedelta(seconds=given)
        self.cancel.cancel(execution_id, operation.created_by, grace)

    def _cancel_job(self, operation: Operation, job_id: str) -> None:
        self.job_state.change_state(job_id, JobState.CANCELLED, operation.created_by)

    def _delete(self, operation: Operation, job_id: str) -> None:
        job = self.find.job(job_id)
        if job.state is JobState.DELETED:  # deleting it again would be a conflict
            operation.created_by.require_can_manage(job)
            return
        self.job_state.change_state(job_id, JobState.DELETED, operation.created_by)

    def _pause(self, operation: Operation, job_id: str) -> None:
        job = self.job_state.change_state(
            job_id, JobState.PAUSED, operation.created_by, paused_by=operation.operation_id
        )
        if job.paused_by != operation.operation_id:
            raise Conflict("the job was paused already", field="job_id")

    def _resume(self, operation: Operation, job_id: str) -> None:
        self.job_state.change_state(job_id, JobState.ACTIVE, operation.created_by, paused_by=operation.undo_of)

    def _set_priority(self, operation: Operation, job_id: str) -> None:
        job = self.find.job(job_id)
        if job.priority is operation.priority:
            operation.created_by.require_can_manage(job)
            return
        self.edit.edit(job_id, {"priority": operation.priority}, None, operation.created_by)


def _keyed(operation: Operation, item_id: str) -> KeyedRequest:
    """Derive the ids of the new execution from the operation, the item and the beginning of the step."""
    request_id = digest(f"{operation.operation_id}\n{item_id}")
    return KeyedRequest(request_id=request_id, at=operation.step_at, is_repeated=True)
