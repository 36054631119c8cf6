"""Executions that are held until their upstream executions end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_item import item_to_execution, upstreams_text
from punctual.aws.dynamodb.execution_table import DEADLINE_ATTRIBUTES, IS_HELD, ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import WriteResult
from punctual.domain.executions.counted_upstream import CountedUpstream
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import MILLISECOND
from punctual.domain.status import Status


class DynamoHeldExecutions(ExecutionTable):
    def mark_as_upstream(self, execution: Execution) -> Execution | None:
        written = self._mark_if_live(key_of(execution), {"is_upstream": True, "needs_follow_up": True})
        return item_to_execution(written.item) if written.item else None

    def hold(self, execution: Execution, reason: str, recheck_at: datetime) -> bool:
        changes = {"reason": reason, "recheck_at": instant_text(recheck_at)}
        return self._move_held(execution, Status.WAITING, changes, sources=[Status.QUEUED]).applied

    def clear(self, execution: Execution, counted: tuple[CountedUpstream, ...]) -> bool:
        changes = {"is_cleared": True, "upstreams": upstreams_text(counted)}
        written = self._move_held(execution, Status.QUEUED, changes, sources=[Status.QUEUED])
        return bool(written.item.get("is_cleared")) and written.item["status"] == Status.QUEUED

    def release(self, execution: Execution, counted: tuple[CountedUpstream, ...], now: datetime) -> bool:
        # ``queued_at`` must change even if the execution was queued in this millisecond: the planner sends an
        # execution when the stream shows a new value
        later = max(now, (execution.queued_at or now) + MILLISECOND)
        changes = {"is_cleared": True, "upstreams": upstreams_text(counted), "queued_at": instant_text(later)}
        return self._move_held(execution, Status.QUEUED, changes, remove=["reason", "recheck_at"]).applied

    def recheck(self, execution: Execution, now: datetime) -> bool:
        changes = {"queued_at": instant_text(now)}
        return self._move_held(execution, Status.QUEUED, changes, sources=[Status.WAITING]).applied

    def skip_held(self, execution: Execution, reason: str, now: datetime) -> bool:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        removed = ["recheck_at", "long_shard", *DEADLINE_ATTRIBUTES]
        return self._move_held(execution, Status.SKIPPED, ending, remove=removed).applied

    def _move_held(
        self,
        execution: Execution,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        sources: Iterable[Status] = (Status.QUEUED, Status.WAITING),
    ) -> WriteResult:
        """Move an execution that is still held, under the revision that was evaluated."""
        return self._move(
            key_of(execution),
            target,
            changes,
            remove=remove,
            sources=sources,
            also=f"#revision = :revision AND {IS_HELD}",
            values={"revision": execution.revision},
        )


if TYPE_CHECKING:
    from punctual.ports.dependencies import HeldExecutions

    _held_executions: type[HeldExecutions] = DynamoHeldExecutions
