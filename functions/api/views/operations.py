"""Convert bulk operations to the response models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from answers.operations import ItemProblem, Selection
from answers.operations import Operation as OperationAnswer

from punctual.domain.instant import to_text
from punctual.domain.operations.operation import ItemResult, Operation

SHOWN_IDS = 100


def operation_view(
    operation: Operation,
    failures: Iterable[ItemResult] | None = None,
    skips: Iterable[ItemResult] | None = None,
) -> OperationAnswer:
    return OperationAnswer(
        operation_id=operation.operation_id,
        kind=operation.kind,
        action=operation.action,
        state=operation.state,
        total=operation.total,
        done=operation.done,
        skipped=operation.skipped,
        failed=operation.failed,
        created_by=operation.created_by.subject,
        created_at=to_text(operation.created_at),
        ended_at=to_text(operation.ended_at) if operation.ended_at else None,
        abort_requested_at=to_text(operation.abort_requested_at) if operation.abort_requested_at else None,
        aborted_by=operation.aborted_by,
        undo_of=operation.undo_of,
        filter=dict(operation.selection) if operation.selection is not None else None,
        priority=operation.priority,
        grace_seconds=operation.grace_seconds,
        failures=_problem_views(failures),
        skips=_problem_views(skips),
    )


def selection_view(ids: Sequence[str]) -> Selection:
    return Selection(count=len(ids), ids=list(ids[:SHOWN_IDS]))


def _problem_views(problems: Iterable[ItemResult] | None) -> list[ItemProblem] | None:
    return None if problems is None else [ItemProblem(id=one.item_id, reason=one.reason) for one in problems]
