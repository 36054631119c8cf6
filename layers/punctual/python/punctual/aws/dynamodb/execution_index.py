"""Queries of the executions table through its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_table import ExecutionTable
from punctual.aws.dynamodb.gates import DynamoGates
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of

IDS_PER_PAGE = 200
DANGER = "#deadline_shard = :shard AND #danger BETWEEN :low AND :high"


@dataclass(frozen=True)
class DynamoExecutionIndex:
    executions: ExecutionTable
    gates: DynamoGates

    def ids_of_job(self, job_id: str, low: str, high: str) -> Iterator[list[str]]:
        return self._ids("job_id", job_id, low, high, index=None)

    def ids_of_owner(self, owner: str, low: str, high: str) -> Iterator[list[str]]:
        return self._ids("owner", owner, low, high, index="by_owner")

    def count_of_owner(self, owner: str, low: str, high: str, at_most: int) -> int:
        condition = "#owner = :owner AND #execution_id BETWEEN :low AND :high"  # no id is equal to a bound
        values = {"owner": owner, "low": low or "0", "high": high}
        return self.executions.table.count(condition, values, index="by_owner", at_most=at_most)

    def ids_due_from(self, owner: str, low: str, page_size: int) -> Iterator[list[str]]:
        condition, values = "#owner = :owner AND #execution_id >= :low", {"owner": owner, "low": low}
        for page in self.executions.table.query(condition, values, index="by_owner", page_size=page_size):
            yield [item["execution_id"] for item in page]

    def ids_running(self, low: str, high: str, page_size: int = IDS_PER_PAGE) -> list[Iterator[list[str]]]:
        shards = map(str, range(self.executions.shards.count()))
        return [self._ids("running_shard", one, low, high, index="running", page_size=page_size) for one in shards]

    def ids_holding(self, after: str | None, page_size: int = IDS_PER_PAGE) -> list[Iterator[list[str]]]:
        return self.gates.holders_of_job_gates(job_of(after) if after else None, page_size)

    def count_running(self, at_most: int) -> int:
        counted, condition = 0, "#running_shard = :shard"
        for shard in range(self.executions.shards.count()):
            if counted < at_most:
                values, left = {"shard": str(shard)}, at_most - counted
                counted += self.executions.table.count(condition, values, index="running", at_most=left)
        pages = chain.from_iterable(self.gates.holders_of_job_gates(None, IDS_PER_PAGE))
        while counted < at_most and (page := next(pages, None)) is not None:
            counted += len(page)
        return min(counted, at_most)

    def ids_long(self) -> list[Iterator[list[str]]]:
        return [self._ids_long_of(shard) for shard in range(self.executions.shards.count())]

    def _ids_long_of(self, shard: int) -> Iterator[list[str]]:
        values = {"shard": str(shard)}
        for page in self.executions.table.query("#long_shard = :shard", values, index="long", page_size=IDS_PER_PAGE):
            yield [item["execution_id"] for item in page]

    def danger_keys(self, low: str, high: str) -> list[Iterator[list[str]]]:
        return [self._danger_keys_of(shard, low, high) for shard in range(self.executions.shards.count())]

    def _danger_keys_of(self, shard: int, low: str, high: str) -> Iterator[list[str]]:
        values = {"shard": str(shard), "low": low, "high": high}
        for page in self.executions.table.query(DANGER, values, index="deadlines", page_size=IDS_PER_PAGE):
            yield [item["danger"] for item in page]

    def count_danger(self, low: str, high: str, at_most: int) -> int:
        counted = 0
        for shard in range(self.executions.shards.count()):
            if counted < at_most:
                values = {"shard": str(shard), "low": low, "high": high}
                counted += self.executions.table.count(DANGER, values, index="deadlines", at_most=at_most - counted)
        return counted

    def fetch(self, execution_ids: list[str]) -> dict[str, Execution]:
        return {execution.execution_id: execution for execution in self.executions.get_many(execution_ids)}

    def _ids(
        self, name: str, value: str, low: str, high: str, index: str | None, page_size: int = IDS_PER_PAGE
    ) -> Iterator[list[str]]:
        # BETWEEN includes both bounds; the upper bound is filtered out below
        condition = f"#{name} = :value AND #execution_id BETWEEN :low AND :high"
        values = {"value": value, "low": low or "0", "high": high}
        for page in self.executions.table.query(condition, values, index=index, descending=True, page_size=page_size):
            yield [item["execution_id"] for item in page if item["execution_id"] < high]


if TYPE_CHECKING:
    from punctual.ports.executions import Agenda, DeadlineIndex, ExecutionIndex

    _agenda: type[Agenda] = DynamoExecutionIndex
    _execution_index: type[ExecutionIndex] = DynamoExecutionIndex
    _deadline_index: type[DeadlineIndex] = DynamoExecutionIndex
