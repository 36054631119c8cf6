"""Executions with a deadline: which are to be looked at, what was found, and how many are in danger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from punctual.aws.dynamodb.execution_item import outlook_text
from punctual.aws.dynamodb.execution_table import ExecutionTable, key_of
from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, danger_of, dangers_of
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.instant import from_text


@dataclass(frozen=True)
class DynamoWatchedExecutions(ExecutionTable):
    def note_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        assert execution.deadline_at is not None
        return self.table.update(
            key_of(execution),
            set={
                "outlook": outlook_text(outlook),
                "danger": danger_of(outlook.state, execution.deadline_at, execution.execution_id),
                "check_at": instant_text(check_at),
            },
            remove=[] if check_at else ["check_at", "check_shard"],
            condition="#check_at = :expected",
            values={"expected": instant_text(execution.check_at)},
        ).won

    def to_check(self, shard: int, until: datetime) -> Iterator[Check]:
        pages = self.table.query(
            "#check_shard = :shard AND #check_at <= :until",
            {"shard": str(shard), "until": instant_text(until)},
            index="checks",
        )
        for page in pages:
            for item in page:
                yield Check(job_id=item["job_id"], execution_id=item["execution_id"], at=from_text(item["check_at"]))

    def oldest_check(self, shard: int) -> datetime | None:
        condition, values = "#check_shard = :shard", {"shard": str(shard)}
        page = next(self.table.query(condition, values, index="checks", page_size=1))
        return from_text(page[0]["check_at"]) if page else None

    def count_in(self, state: DeadlineState) -> int:
        low, high = dangers_of(state)
        values = {"low": low, "high": high}
        condition = "#deadline_shard = :shard AND #danger BETWEEN :low AND :high"
        return sum(
            self.table.count(condition, {"shard": str(shard), **values}, index="deadlines")
            for shard in range(self.shards)
        )

    def count_running(self) -> int:
        condition = "#running_shard = :shard"
        return sum(self.table.count(condition, {"shard": str(s)}, index="running") for s in range(self.shards))
