"""The executions table: how it is read, and the only way in which anything in it moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import Table, Written
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.lane import Lane
from punctual.domain.status import LIVE, Status, sources_of

WATCHED = ("check_shard", "check_at", "deadline_shard")
"""Only an execution that lives is watched for its deadline."""

HELD = "attribute_exists(#depends_on) AND attribute_not_exists(#cleared)"
"""It waits for what it depends on."""
CLEARED = "(attribute_not_exists(#depends_on) OR attribute_exists(#cleared))"


@dataclass(frozen=True)
class ExecutionTable:
    """What all who look at executions have in common. Each method that changes something is one conditional write."""

    table: Table
    shards: int
    retention: timedelta

    def get(self, job_id: str, execution_id: str) -> Execution | None:
        item = self.table.get({"job_id": job_id, "execution_id": execution_id}, consistent=True)
        return None if item is None else item_to_execution(item)

    def get_many(self, execution_ids: Iterable[str]) -> list[Execution]:
        keys = ({"job_id": job_of(one), "execution_id": one} for one in execution_ids)
        return [item_to_execution(item) for item in self.table.get_many(keys)]

    def read_many(self, execution_ids: Iterable[str]) -> dict[str, Execution]:
        keys = ({"job_id": job_of(one), "execution_id": one} for one in dict.fromkeys(execution_ids))
        items = self.table.get_many(keys, consistent=True)
        return {item["execution_id"]: item_to_execution(item) for item in items}

    def skip(self, job_id: str, execution_id: str, reason: str, now: datetime, covered_by: str | None = None) -> bool:
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._leave_out(key, Status.SKIPPED, {"reason": reason, "covered_by": covered_by}, now)

    def cancel(self, execution: Execution, reason: str, now: datetime) -> Execution | None:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["retry_at", "long_shard", "running_shard", "waits_at", "turn", *WATCHED]
        sources = LIVE if execution.lane is Lane.LONG else LIVE - {Status.RUNNING}
        written = self._move(key_of(execution), Status.CANCELLED, ending, remove=gone, sources=sources)
        return item_to_execution(written.item) if written.won else None

    def _leave_out(
        self, key: Item, status: Status, why: Item, now: datetime, unchanged: str = "", values: Item | None = None
    ) -> bool:
        ending = {**why, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["retry_at", "long_shard", "waits_at", "turn", "look_at", *WATCHED]
        also = " AND ".join(filter(None, ["#attempt = :none", unchanged]))
        return self._move(key, status, ending, remove=gone, also=also, values={"none": 0, **(values or {})}).won

    def _mark_live(self, key: Item, mark: Item) -> Written:
        return self.table.update(
            key,
            set=mark,
            condition=f"#status IN ({', '.join(f':{status}' for status in LIVE)})",
            values={str(status): str(status) for status in LIVE},
        )

    def _move(
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
    ) -> Written:
        """The only way a status changes: from one that may become ``target``, under a further condition if any."""
        origins = {f"from_{source}": str(source) for source in sources or sources_of(target)}
        condition = f"#status IN ({', '.join(f':{name}' for name in origins)})" + (f" AND {also}" if also else "")
        changes = {"status": str(target), **changes}
        values = {**origins, **(values or {})}
        change = self.table.change(key, set=changes, remove=remove, add=add, condition=condition, values=values)
        return self.table.apply(change)

    def _expiry(self, now: datetime) -> int:
        return int((now + self.retention).timestamp())


def key_of(execution: Execution) -> Item:
    return {"job_id": execution.job_id, "execution_id": execution.execution_id}
