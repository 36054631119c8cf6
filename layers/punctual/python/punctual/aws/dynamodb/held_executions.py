"""Executions that are held back until those have ended that they depend on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.execution_table import HELD, WATCHED, ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import Written
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import MILLISECOND
from punctual.domain.status import Status


@dataclass(frozen=True)
class DynamoHeldExecutions(ExecutionTable):
    def listen(self, execution: Execution) -> Execution | None:
        written = self._mark_live(key_of(execution), {"feeds": True, "aftermath": True})
        return item_to_execution(written.item) if written.item else None

    def hold(self, execution: Execution, reason: str, look_at: datetime) -> bool:
        changes = {"reason": reason, "look_at": instant_text(look_at)}
        return self._move_held(execution, Status.WAITING, changes, sources=[Status.QUEUED]).won

    def clear(self, execution: Execution) -> bool:
        written = self._move_held(execution, Status.QUEUED, {"cleared": True}, sources=[Status.QUEUED])
        return bool(written.item.get("cleared")) and written.item["status"] == Status.QUEUED

    def release(self, execution: Execution, now: datetime) -> bool:
        # another instant than before, also for one that was queued at this very moment: that is what sets it on its way
        later = max(now, (execution.queued_at or now) + MILLISECOND)
        changes = {"cleared": True, "queued_at": instant_text(later)}
        return self._move_held(execution, Status.QUEUED, changes, remove=["reason", "look_at"]).won

    def look_again(self, execution: Execution, now: datetime) -> bool:
        changes = {"queued_at": instant_text(now)}
        return self._move_held(execution, Status.QUEUED, changes, sources=[Status.WAITING]).won

    def pass_over(self, execution: Execution, reason: str, now: datetime) -> bool:
        ending = {"reason": reason, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        gone = ["look_at", "long_shard", *WATCHED]
        return self._move_held(execution, Status.SKIPPED, ending, remove=gone).won

    def _move_held(
        self,
        execution: Execution,
        target: Status,
        changes: Item,
        *,
        remove: Iterable[str] = (),
        sources: Iterable[Status] = (Status.QUEUED, Status.WAITING),
    ) -> Written:
        """Only what still waits for its upstreams, under the rules that it was judged by."""
        return self._move(
            key_of(execution),
            target,
            changes,
            remove=remove,
            sources=sources,
            also=f"#revision = :revision AND {HELD}",
            values={"revision": execution.revision},
        )
