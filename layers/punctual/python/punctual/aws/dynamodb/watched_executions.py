"""Executions with a deadline: due checks, recorded outlooks, and the number of executions per deadline state."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_item import outlook_text
from punctual.aws.dynamodb.execution_table import ExecutionTable, key_of
from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, danger_key, danger_key_range
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.deadline_check import Check
from punctual.domain.forecasts.run_history import KEPT_RUNS
from punctual.domain.instant import from_text
from punctual.domain.status import Status


class DynamoWatchedExecutions(ExecutionTable):
    def record_outlook(self, execution: Execution, outlook: Outlook, check_at: datetime | None) -> bool:
        assert execution.deadline_at is not None
        return self.table.update(
            key_of(execution),
            set={
                "outlook": outlook_text(outlook),
                "danger": danger_key(outlook.state, execution.deadline_at, execution.execution_id),
                "check_at": instant_text(check_at),
            },
            remove=[] if check_at else ["check_at", "check_shard"],
            condition="#check_at = :expected",
            values={"expected": instant_text(execution.check_at)},
        ).applied

    def due_checks(self, shard: int, until: datetime) -> Iterator[Check]:
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

    def count_in_state(self, state: DeadlineState) -> int:
        low, high = danger_key_range(state)
        values = {"low": low, "high": high}
        condition = "#deadline_shard = :shard AND #danger BETWEEN :low AND :high"
        return sum(
            self.table.count(condition, {"shard": str(shard), **values}, index="deadlines")
            for shard in range(self.shards.count())
        )

    def recent_run_times(self, execution: Execution) -> list[int]:
        pages = self.table.query(
            "#job_id = :job AND #execution_id < :this",
            {"job": execution.job_id, "this": execution.execution_id},
            descending=True,
            page_size=KEPT_RUNS,
            only=["started_at", "ended_at"],
            where={"status": [str(Status.SUCCEEDED)]},
        )
        newest_first = next(pages)
        spans = (from_text(item["ended_at"]) - from_text(item["started_at"]) for item in reversed(newest_first))
        return [round(span.total_seconds()) for span in spans]


if TYPE_CHECKING:
    from punctual.ports.monitoring import RunHistory, WatchedExecutions

    _watched_executions: type[WatchedExecutions] = DynamoWatchedExecutions
    _run_history: type[RunHistory] = DynamoWatchedExecutions
