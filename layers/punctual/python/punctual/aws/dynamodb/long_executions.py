"""Executions of the long lane: each is driven by a state machine run, and its status follows its parts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_item import as_text, attempts_text, item_to_execution
from punctual.aws.dynamodb.execution_table import DEADLINE_ATTRIBUTES, IS_CLEARED, ExecutionTable, key_of
from punctual.aws.dynamodb.items import instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, LIVE_STATUSES, PARENT_LIVE_STATUSES, Status

if TYPE_CHECKING:
    from punctual.domain.long_lane.parts_status import PartsOutcome, PartsStatus


class DynamoLongExecutions(ExecutionTable):
    def attach_run(self, job_id: str, execution_id: str, run_arn: str, now: datetime) -> Execution | None:
        """Attach a state machine run to an execution that has none. Idempotent.

        Returns ``None`` if another run is attached, if the execution waits at a gate, or if it has ended. Once it has a
        place at the gate, a new run is started.
        """
        key = {"job_id": job_id, "execution_id": execution_id}
        written = self._move(
            key,
            Status.QUEUED,
            {"queued_at": instant_text(now), "run_arn": run_arn},
            sources=LIVE_STATUSES,  # after a restart, the parts may already have changed the status
            also="attribute_not_exists(#run_arn) AND attribute_not_exists(#waits_at) AND #lane = :lane"
            f" AND {IS_CLEARED}",
            values={"lane": str(Lane.LONG)},
        )
        if not written.item:
            return None
        execution = item_to_execution(written.item)
        return execution if execution.run_arn == run_arn and execution.status not in FINAL else None

    def detach_run(self, execution: Execution, reason: str, now: datetime) -> bool:
        """Detach the state machine run, if there is one, so that another can be attached.

        Its parts and places remain under the rules of this revision: ``restarted_at`` keeps edits from replacing it.
        ``False`` if another run is attached than was read, or if the execution waits at a gate: it gets a
        run when it gets a place there. ``execution`` may be an outdated read.
        """
        is_unchanged = "#run_arn = :run_arn" if execution.run_arn else "attribute_not_exists(#run_arn)"
        return self._move(
            key_of(execution),
            Status.QUEUED,
            {"queued_at": instant_text(now), "restarted_at": instant_text(now), "reason": reason},
            remove=["run_arn", "running_shard", "retry_at"],
            add={"restarts": 1},
            sources=LIVE_STATUSES,
            also=f"{is_unchanged} AND attribute_not_exists(#waits_at)",
            values={"run_arn": execution.run_arn} if execution.run_arn else {},
        ).applied

    def apply_parts_status(
        self, job_id: str, execution_id: str, parts_status: PartsStatus, progress_at: datetime | None
    ) -> bool:
        running = parts_status.status is Status.RUNNING
        changes = {
            "reason": parts_status.reason,
            "attempt": parts_status.attempt,
            "attempts": attempts_text(parts_status.attempts) if parts_status.attempts else None,
            "started_at": instant_text(parts_status.started_at),
            "retry_at": instant_text(parts_status.retry_at),
            "worker_id": parts_status.worker_id,
            "progress": as_text(parts_status.progress),
            "progress_at": instant_text(progress_at),
            "error": as_text(parts_status.error),
            "running_shard": self._shard_of(execution_id) if running else None,
        }
        cleared = ("reason", "retry_at", "error", "running_shard", "progress")
        absent = [name for name in cleared if changes[name] is None]
        key = {"job_id": job_id, "execution_id": execution_id}
        return self._move(key, parts_status.status, changes, remove=absent, sources=PARENT_LIVE_STATUSES).applied

    def close(self, execution: Execution, outcome: PartsOutcome, now: datetime) -> bool:
        """End an execution of the long lane; ``False`` if it has already ended."""
        changes = {
            "reason": outcome.reason,
            "attempt": outcome.attempt,
            "attempts": attempts_text(outcome.attempts) if outcome.attempts else None,
            "started_at": instant_text(outcome.started_at),
            "worker_id": outcome.worker_id,
            "error": as_text(outcome.error),
            "result": as_text(outcome.result),
            "progress": as_text(outcome.progress),
            "ended_at": instant_text(now),
            "expires_at": self._expiry(now),
        }
        removed = ["running_shard", "long_shard", "retry_at", *DEADLINE_ATTRIBUTES]
        removed += [name for name in ("reason", "error") if changes[name] is None]
        return self._move(
            key_of(execution), outcome.status, changes, remove=removed, sources=PARENT_LIVE_STATUSES
        ).applied

    def live_long(self) -> Iterator[Execution]:
        """The live executions of the long lane."""
        for shard in range(self.shards.count()):
            for page in self.table.query("#long_shard = :shard", {"shard": str(shard)}, index="long"):
                yield from self.get_many(item["execution_id"] for item in page)


if TYPE_CHECKING:
    from punctual.ports.long_lane import LongExecutions

    _long_executions: type[LongExecutions] = DynamoLongExecutions
