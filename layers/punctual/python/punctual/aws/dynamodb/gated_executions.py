"""Executions as the gatekeeper uses them: waiting for a concurrency limit, or postponed by a rate limit."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.execution_table import ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.jobs.gate import Entrant
from punctual.domain.status import Status


class DynamoGatedExecutions(ExecutionTable):
    def wait(self, entrant: Entrant, gate: str, reason: str) -> bool:
        key, unchanged, values = _key_and_condition(entrant)
        return self._move(
            key,
            Status.WAITING,
            {"waits_at": gate, "turn": entrant.turn, "reason": reason},
            # when it is woken, a new state machine run executes it and a new start is reserved at the rate limit
            remove=["retry_at", "rate_at", "run_arn"],
            add={"restarts": 1},
            sources=[Status.QUEUED, Status.RETRYING, Status.WAITING],
            also=unchanged,
            values=values,
        ).applied

    def wake(self, job_id: str, execution_id: str, gate: str, now: datetime) -> bool:
        return self._move(
            {"job_id": job_id, "execution_id": execution_id},
            Status.QUEUED,
            {"woken_at": instant_text(now)},
            remove=["waits_at", "turn", "reason"],
            sources=[Status.WAITING],
            also="#waits_at = :gate",
            values={"gate": gate},
        ).applied

    def put_off(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        key, unchanged, values = _key_and_condition(entrant)
        at = instant_text(until)
        return self._move(
            key,
            Status.QUEUED,
            {"retry_at": at, "rate_at": at, "reason": reason},
            remove=["waits_at", "turn"],
            # a waiter may acquire the gate while it is being queued
            sources=[Status.QUEUED, Status.RETRYING, Status.WAITING],
            also=f"{unchanged} AND (#status <> :waiting OR attribute_exists(#waits_at))",
            values={**values, "waiting": str(Status.WAITING)},
        ).applied

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool:
        key, unchanged, values = _key_and_condition(entrant)
        return self._end_unstarted(key, Status.SKIPPED, {"reason": reason}, now, unchanged, values)

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str) -> Execution | None:
        written = self.table.update(
            key_of(execution),
            set={"cancel_at": instant_text(until), "cancel_reason": reason},
            condition="#status = :running AND attribute_not_exists(#cancel_at)",
            values={"running": str(Status.RUNNING)},
        )
        if not written.item:
            return None
        stored = item_to_execution(written.item)
        return stored if stored.status is Status.RUNNING and stored.cancel_at else None


def _key_and_condition(entrant: Entrant) -> tuple[Item, str, Item]:
    """The key of an entrant, and the condition that its revision and attempt have not changed since it was sent."""
    key = {"job_id": job_of(entrant.execution_id), "execution_id": entrant.execution_id}
    condition = "#revision = :revision AND #attempt = :tried"
    return key, condition, {"revision": entrant.revision, "tried": entrant.tried}


if TYPE_CHECKING:
    from punctual.ports.gates import GatedExecutions

    _gated_executions: type[GatedExecutions] = DynamoGatedExecutions
