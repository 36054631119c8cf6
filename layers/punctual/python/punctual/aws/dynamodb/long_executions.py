"""Executions of the long lane: carried by a state machine, and standing where their parts stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_item import as_text, attempts_text, item_to_execution
from punctual.aws.dynamodb.execution_table import CLEARED, WATCHED, ExecutionTable, key_of
from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.timer import shard_of
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, FOLLOWING, LIVE, Status

if TYPE_CHECKING:
    from punctual.domain.long_lane.parts_status import Ending, Standing


@dataclass(frozen=True)
class DynamoLongExecutions(ExecutionTable):
    def conduct(self, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Execution | None:
        """Let a state machine run carry an execution through the long lane, and no other; ``None`` for another."""
        key = {"job_id": job_id, "execution_id": execution_id}
        written = self._move(
            key,
            Status.QUEUED,
            {"queued_at": instant_text(now), "run_arn": run_arn},
            sources=LIVE,  # one that was restarted may have been told of its parts meanwhile
            also=f"attribute_not_exists(#run_arn) AND #lane = :lane AND {CLEARED}",
            values={"lane": str(Lane.LONG)},
        )
        if not written.item:
            return None
        execution = item_to_execution(written.item)
        return execution if execution.run_arn == run_arn and execution.status not in FINAL else None

    def change_conductor(self, execution: Execution, now: datetime) -> bool:
        """Free an execution whose state machine run is gone for another; ``False`` when it has one already."""
        return self._move(
            key_of(execution),
            Status.QUEUED,
            {
                "queued_at": instant_text(now),
                "reason": "its state machine stopped and is started again",
                "restarts": execution.restarts + 1,
            },
            remove=["run_arn", "running_shard", "retry_at"],
            sources=LIVE,
            also="#run_arn = :run_arn" if execution.run_arn else "attribute_not_exists(#run_arn)",
            values={"run_arn": execution.run_arn} if execution.run_arn else {},
        ).won

    def follow(self, job_id: str, execution_id: str, standing: Standing, told_at: datetime | None) -> bool:
        running = standing.status is Status.RUNNING
        told = {
            "reason": standing.reason,
            "attempt": standing.attempt,
            "attempts": attempts_text(standing.attempts) if standing.attempts else None,
            "started_at": instant_text(standing.started_at),
            "retry_at": instant_text(standing.retry_at),
            "worker_id": standing.worker_id,
            "progress": as_text(standing.progress),
            "progress_at": instant_text(told_at),
            "error": as_text(standing.error),
            "running_shard": str(shard_of(execution_id, self.shards)) if running else None,
        }
        missing = [name for name in ("reason", "retry_at", "error", "running_shard", "progress") if told[name] is None]
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._move(key, standing.status, told, remove=missing, sources=FOLLOWING).won

    def close(self, execution: Execution, ending: Ending, now: datetime) -> bool:
        """End an execution of the long lane; ``False`` when it has ended already."""
        changes = {
            "reason": ending.reason,
            "attempt": ending.attempt,
            "attempts": attempts_text(ending.attempts) if ending.attempts else None,
            "started_at": instant_text(ending.started_at),
            "worker_id": ending.worker_id,
            "error": as_text(ending.error),
            "result": as_text(ending.result),
            "progress": as_text(ending.progress),
            "ended_at": instant_text(now),
            "expires_at": self._expiry(now),
        }
        gone = ["running_shard", "long_shard", "retry_at", *WATCHED]
        gone += [name for name in ("reason", "error") if changes[name] is None]
        return self._move(key_of(execution), ending.status, changes, remove=gone, sources=FOLLOWING).won

    def live_long(self) -> Iterator[Execution]:
        """The executions of the long lane that have not ended."""
        for shard in range(self.shards):
            for page in self.table.query("#long_shard = :shard", {"shard": str(shard)}, index="long"):
                yield from self.get_many(item["execution_id"] for item in page)
