"""The operations table: bulk operations, the ids of their items, and the problems with them.

::

    all              <operation id>          the operation: what it does, its position, its counts, its state
    running          <operation id>          while it runs
    <operation id>   items#<number>          the ids of 250 items (JSON)
    <operation id>   failed#<position>       the items of one step that failed, with the reasons (JSON); so skipped#…

The ids are stored before the operation, which exists once its own item exists. A step is stored in one transaction on
the condition of the position, so its results count once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item, from_json, instant_of, instant_text, to_json
from punctual.aws.dynamodb.table import Table, recognise_own, transact
from punctual.domain.identity import BEYOND_ALL_IDS
from punctual.domain.instant import from_text
from punctual.domain.lane import Priority
from punctual.domain.operations.operation import (
    MAX_LISTED_PROBLEMS,
    STEP_SIZE,
    BulkAction,
    ItemOutcome,
    ItemResult,
    Kind,
    Operation,
    OperationState,
    chunks_of,
)
from punctual.domain.requests.caller import Caller, Role

ALL, RUNNING = "all", "running"
IDS_PER_CHUNK = 10 * STEP_SIZE
OPERATIONS_PER_PAGE = 100
_COUNTS = ("position", "done", "skipped", "failed")


@dataclass(frozen=True)
class DynamoOperations:
    table: Table
    retention: timedelta

    def add(self, operation: Operation, ids: Sequence[str]) -> Operation:
        expires = {"expires_at": int((operation.created_at + self.retention).timestamp())}
        chunks = enumerate(chunks_of(ids, IDS_PER_CHUNK))
        self.table.put_many(
            {**_chunk_key(operation.operation_id, number), "ids": to_json(chunk), **expires} for number, chunk in chunks
        )
        puts = [self.table.put_request(_to_item(operation) | expires, "attribute_not_exists(#entry)")]
        if operation.is_running:
            marker = {"operation": RUNNING, "entry": operation.operation_id, **expires}
            puts.append(self.table.put_request(marker, "attribute_not_exists(#entry)"))
        if all(transact(self.table.client, [{"Put": put} for put in puts])):
            return operation
        existing = self.get(operation.operation_id)
        assert existing is not None
        return existing

    def get(self, operation_id: str) -> Operation | None:
        item = self.table.get(_key(operation_id), consistent=True)
        return None if item is None else _to_operation(item)

    def newest_first(self, before: str | None) -> Iterator[list[Operation]]:
        condition, values = "#operation = :all AND #entry < :before", {"all": ALL, "before": before or BEYOND_ALL_IDS}
        for page in self.table.query(condition, values, descending=True, page_size=OPERATIONS_PER_PAGE):
            yield [_to_operation(item) for item in page]

    def items(self, operation: Operation) -> tuple[str, ...]:
        number, offset = divmod(operation.position, IDS_PER_CHUNK)
        chunk = self.table.get(_chunk_key(operation.items_of, number), consistent=True)
        ids: list[str] = from_json(chunk["ids"]) if chunk else []
        return tuple(ids[offset : offset + STEP_SIZE])

    def all_items(self, operation: Operation) -> list[str]:
        condition = "#operation = :operation AND #entry BETWEEN :low AND :high"
        values = {"operation": operation.items_of, "low": "items#", "high": f"items#{BEYOND_ALL_IDS}"}
        chunks = [from_json(item["ids"]) for page in self.table.query(condition, values) for item in page]
        return [item_id for chunk in chunks for item_id in chunk][: operation.total]

    def advance(self, before: Operation, after: Operation, results: Sequence[ItemResult]) -> bool:
        update = self.table.update_request(
            _key(before.operation_id),
            set={
                **{name: getattr(after, name) for name in _COUNTS},
                "state": str(after.state),
                "step_at": instant_text(after.step_at),
                "ended_at": instant_text(after.ended_at),
            },
            condition="#position = :before AND #state = :running",
            values={"before": before.position, "running": str(OperationState.RUNNING)},
        )
        writes: list[dict[str, Any]] = [{"Update": update}]
        if not after.is_running:
            marker = {"operation": RUNNING, "entry": before.operation_id}
            writes.append({"Delete": self.table.delete_request(marker, "attribute_exists(#entry)")})
        for outcome in (ItemOutcome.FAILED, ItemOutcome.SKIPPED):
            problems = [[one.item_id, one.reason] for one in results if one.outcome is outcome]
            if problems and getattr(before, outcome) < MAX_LISTED_PROBLEMS:
                writes.append({"Put": self._problems(before, outcome, problems)})
        return all(transact(self.table.client, writes))

    def request_abort(self, operation: Operation, by: str, now: datetime) -> bool:
        changes = {"abort_requested_at": instant_text(now), "aborted_by": by}
        written = self.table.update(
            _key(operation.operation_id),
            set=changes,
            condition="#state = :running AND attribute_not_exists(#abort_requested_at)",
            values={"running": str(OperationState.RUNNING)},
        )
        return recognise_own(written, changes).applied

    def problems(self, operation_id: str, outcome: ItemOutcome) -> list[ItemResult]:
        condition = "#operation = :operation AND #entry BETWEEN :low AND :high"
        values = {"operation": operation_id, "low": f"{outcome}#", "high": f"{outcome}#{BEYOND_ALL_IDS}"}
        found = [
            ItemResult(item_id, outcome, reason)
            for page in self.table.query(condition, values)
            for item in page
            for item_id, reason in from_json(item["problems"])
        ]
        return found[:MAX_LISTED_PROBLEMS]

    def stalled(self, since: datetime) -> list[str]:
        markers = [item for page in self.table.query("#operation = :running", {"running": RUNNING}) for item in page]
        items = self.table.get_many((_key(marker["entry"]) for marker in markers), consistent=True)
        return sorted(item["entry"] for item in items if from_text(item["step_at"]) < since)

    def _problems(self, operation: Operation, outcome: ItemOutcome, problems: list[list[str]]) -> dict[str, Any]:
        entry = f"{outcome}#{operation.position:06}"
        expires_at = int((operation.created_at + self.retention).timestamp())
        item = {"operation": operation.operation_id, "entry": entry, "problems": to_json(problems)}
        return self.table.put_request({**item, "expires_at": expires_at}, "attribute_not_exists(#entry)")


def _key(operation_id: str) -> Item:
    return {"operation": ALL, "entry": operation_id}


def _chunk_key(operation_id: str, number: int) -> Item:
    return {"operation": operation_id, "entry": f"items#{number:04}"}


def _to_item(operation: Operation) -> Item:
    return {
        **_key(operation.operation_id),
        "kind": str(operation.kind),
        "action": str(operation.action),
        "created_by": to_json(asdict(operation.created_by)),
        "created_at": instant_text(operation.created_at),
        "total": operation.total,
        "step_at": instant_text(operation.step_at),
        "priority": str(operation.priority) if operation.priority else None,
        "grace_seconds": operation.grace_seconds,
        "selection": to_json(operation.selection) if operation.selection is not None else None,
        "items_of": operation.items_of,
        "undo_of": operation.undo_of,
        **{name: getattr(operation, name) for name in _COUNTS},
        "state": str(operation.state),
        "ended_at": instant_text(operation.ended_at),
    }


def _to_operation(item: Item) -> Operation:
    caller = from_json(item["created_by"])
    return Operation(
        operation_id=item["entry"],
        kind=Kind(item["kind"]),
        action=BulkAction(item["action"]),
        created_by=Caller(caller["subject"], tuple(caller["teams"]), Role(caller["role"])),
        created_at=from_text(item["created_at"]),
        total=item["total"],
        step_at=from_text(item["step_at"]),
        priority=Priority(item["priority"]) if "priority" in item else None,
        grace_seconds=item.get("grace_seconds"),
        selection=from_json(item.get("selection")),
        items_of=item["items_of"],
        undo_of=item.get("undo_of"),
        **{name: item[name] for name in _COUNTS},
        state=OperationState(item["state"]),
        ended_at=instant_of(item.get("ended_at")),
        abort_requested_at=instant_of(item.get("abort_requested_at")),
        aborted_by=item.get("aborted_by"),
    )


if TYPE_CHECKING:
    from punctual.ports.operations import Operations, RunningOperations

    _operations: type[Operations] = DynamoOperations
    _running_operations: type[RunningOperations] = DynamoOperations
