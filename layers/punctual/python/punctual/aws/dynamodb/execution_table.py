"""The executions table: reads, and the conditional write through which every status changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from punctual.aws.dynamodb.execution_item import execution_to_item, item_to_execution
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.shards import DynamoShards
from punctual.aws.dynamodb.table import Table, WriteResult, recognise_own
from punctual.domain.executions.deadline_outlook import DeadlineState, danger_key
from punctual.domain.executions.execution import Execution, as_live
from punctual.domain.identity import job_of
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, LIVE_STATUSES, Status, sources_of

DEADLINE_ATTRIBUTES = ("check_shard", "check_at", "deadline_shard")
"""Removed when an execution ends: only live executions are checked against their deadline."""

UNSTARTED = frozenset({Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.STARTING})
"""A message whose execution is in one of these statuses, and has made no attempt, belongs to the backlog of its job."""

IS_HELD = "attribute_exists(#depends_on) AND attribute_not_exists(#is_cleared)"
"""Condition: the execution waits for its upstreams."""
IS_CLEARED = "(attribute_not_exists(#depends_on) OR attribute_exists(#is_cleared))"
"""Condition: the execution has no upstreams, or they have let it start."""


@dataclass(frozen=True)
class ExecutionTable:
    """Base class of the adapters of the executions table.

    Each change of an execution is one conditional write. Methods whose names end in ``_request`` only build one, for a
    transaction. The subclasses add no fields, so only this class is a dataclass: each dataclass adds to every cold
    start.
    """

    table: Table
    shards: DynamoShards
    retention: timedelta
    brief_retention: timedelta
    """Of executions that succeeded and needed no follow-up."""

    def get(self, job_id: str, execution_id: str) -> Execution | None:
        item = self.table.get({"job_id": job_id, "execution_id": execution_id}, consistent=True)
        return None if item is None else item_to_execution(item)

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        """Return the executions that exist, in any order. The ids are distinct; the read is eventually consistent."""
        keys = ({"job_id": job_of(one), "execution_id": one} for one in execution_ids)
        return [item_to_execution(item) for item in self.table.get_many(keys)]

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        """Return the executions that exist, by id. The read is strongly consistent."""
        keys = ({"job_id": job_of(one), "execution_id": one} for one in dict.fromkeys(execution_ids))
        items = self.table.get_many(keys, consistent=True)
        return {item["execution_id"]: item_to_execution(item) for item in items}

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._end_unstarted(key, Status.SKIPPED, {"reason": reason, "covered_by": covered_by}, now)

    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        removed = ["retry_at", "long_shard", "running_shard", "waits_at", "turn", *DEADLINE_ATTRIBUTES]
        sources = LIVE_STATUSES if execution.lane is Lane.LONG else LIVE_STATUSES - {Status.RUNNING}
        written = self._move(key_of(execution), Status.CANCELLED, ending, remove=removed, sources=sources)
        return item_to_execution(written.item) if written.applied else None

    def _end_unstarted(
        self, key: Item, status: Status, why: Item, now: datetime, unchanged: str = "", values: Item | None = None
    ) -> bool:
        also = " AND ".join(filter(None, ["#attempt = :none", unchanged]))
        ending = self._ending_of_unstarted(why, now)
        return self._move(key, status, also=also, values={"none": 0, **(values or {})}, **ending).applied

    def _end_unstarted_request(self, key: Item, status: Status, why: Item, now: datetime) -> dict[str, Any]:
        ending = self._ending_of_unstarted(why, now)
        return self._transition(key, status, also="#attempt = :none", values={"none": 0}, **ending)

    def _ending_of_unstarted(self, why: Item, now: datetime) -> dict[str, Any]:
        return {
            "changes": {**why, "ended_at": instant_text(now), "expires_at": self._expiry(now)},
            "remove": ["retry_at", "long_shard", "waits_at", "turn", "recheck_at", *DEADLINE_ATTRIBUTES],
        }

    def _mark_if_live(self, key: Item, mark: Item) -> WriteResult:
        return self.table.update(
            key,
            set=mark,
            condition=f"#status IN ({', '.join(f':{status}' for status in LIVE_STATUSES)})",
            values={str(status): str(status) for status in LIVE_STATUSES},
        )

    def _move(self, key: Item, target: Status, changes: Item, **conditions: Any) -> WriteResult:
        """Apply ``_transition`` as a single write. A write whose response was lost is recognised by its values."""
        written = self.table.apply(self._transition(key, target, changes, **conditions))
        return recognise_own(written, {"status": str(target), **changes})

    def _transition(
        self,
        key: Item,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        add: Mapping[str, int] = MappingProxyType({}),
        sources: Iterable[Status] | None = None,
        also: str = "",
        values: Item | None = None,
    ) -> dict[str, Any]:
        """Build the update to ``target`` if the current status is in ``sources`` and the condition ``also`` holds.

        ``sources`` defaults to all statuses with a transition to ``target``. Every update of a status is built here;
        only new executions, and replacements of executions that have not started, are stored with their status.
        """
        origins = {f"from_{source}": str(source) for source in sources or sources_of(target)}
        condition = f"#status IN ({', '.join(f':{name}' for name in origins)})" + (f" AND {also}" if also else "")
        return self.table.update_request(
            key,
            set={"status": str(target), **changes},
            remove=remove if target in UNSTARTED else (*remove, "unstarted_of"),
            add=add,
            condition=condition,
            values={**origins, **(values or {})},
        )

    def _item(self, execution: Execution) -> Item:
        item = execution_to_item(execution)
        if execution.status in UNSTARTED and as_live(execution).is_of_message:
            item["unstarted_of"] = execution.job_id
        if execution.lane is Lane.LONG and execution.status not in FINAL:
            item["long_shard"] = self._shard_of(execution.execution_id)
        if execution.deadline_at is not None and execution.status not in FINAL:
            item["check_shard"] = item["deadline_shard"] = self._shard_of(execution.execution_id)
            state = execution.outlook.state if execution.outlook else DeadlineState.ON_TRACK
            item["danger"] = danger_key(state, execution.deadline_at, execution.execution_id)
        return item

    def _shard_of(self, execution_id: str) -> str:
        return str(self.shards.of(execution_id))

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())


def key_of(execution: Execution) -> Item:
    return {"job_id": execution.job_id, "execution_id": execution.execution_id}
