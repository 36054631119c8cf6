"""Executions as the gatekeeper uses them: waiting for a concurrency limit, or postponed by a rate limit."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.execution_item import gate_waits_text, item_to_execution
from punctual.aws.dynamodb.execution_table import DEADLINE_ATTRIBUTES, ExecutionTable, key_of
from punctual.aws.dynamodb.items import Item, instant_text
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import job_of
from punctual.domain.jobs.gate import Entrant, Waiter
from punctual.domain.status import Status

STARTABLE = (Status.QUEUED, Status.RETRYING)
"""The statuses in which an execution acquires its gates."""


class DynamoGatedExecutions(ExecutionTable):
    def postpone(self, entrant: Entrant, until: datetime, reason: str) -> bool:
        at = instant_text(until)
        changes = {"retry_at": at, "rate_at": at, "reason": reason}
        return self._move(
            _key(entrant.execution_id), Status.QUEUED, changes, sources=STARTABLE, **_as_sent(entrant)
        ).applied

    def skip_entrant(self, entrant: Entrant, reason: str, now: datetime) -> bool:
        return self.table.apply(self.skip_request(entrant, {"reason": reason}, now)).applied

    def ask_to_stop(self, execution: Execution, until: datetime, reason: str, now: datetime) -> Execution | None:
        written = self.table.update(
            key_of(execution),
            set={
                "cancel_at": instant_text(until),
                "cancel_reason": reason,
                "stop_requested_at": instant_text(now),
            },
            condition="#status = :running AND attribute_not_exists(#cancel_at)",
            values={"running": str(Status.RUNNING)},
        )
        if not written.item:
            return None
        stored = item_to_execution(written.item)
        return stored if stored.status is Status.RUNNING and stored.cancel_at else None

    # writes that are part of a transaction with a gate

    def wait_request(
        self, entrant: Entrant, gate: str, turn: str, reason: str, *, covers: bool = False
    ) -> dict[str, Any]:
        """Let an execution wait at a gate, if it still has the attempt, revision and run that it was sent for."""
        return self._transition(
            _key(entrant.execution_id),
            Status.WAITING,
            {"waits_at": gate, "turn": turn, "reason": reason, "covers": covers or None},
            # once it has a place, a new state machine run executes it, and a new start is reserved at the rate limit
            remove=["retry_at", "rate_at", "run_arn"],
            add={"restarts": 1},
            sources=STARTABLE,
            **_as_sent(entrant),
        )

    def new_waiter_request(self, execution: Execution, gate: str, turn: str) -> dict[str, Any]:
        """Store a new execution that waits at a gate from the start."""
        waiting = {**self._item(execution), "status": str(Status.WAITING), "waits_at": gate, "turn": turn}
        return self.table.put_request(waiting, "attribute_not_exists(#execution_id)")

    def skip_request(self, entrant: Entrant, why: Item, now: datetime) -> dict[str, Any]:
        """Skip an execution that has not started."""
        return self._transition(
            _key(entrant.execution_id),
            Status.SKIPPED,
            {**why, "ended_at": instant_text(now), "expires_at": self._expiry(now)},
            remove=["retry_at", "long_shard", *DEADLINE_ATTRIBUTES],
            sources=[Status.QUEUED],
            **_as_sent(entrant),
        )

    def queue_request(self, waiter: Waiter, gate: str, waiting: Execution, now: datetime) -> dict[str, Any]:
        """Queue a waiter that has got a place at the gate. ``waiting`` is its execution, as read."""
        woken = {"woken_at": instant_text(now), "gate_waits": gate_waits_text(waiting.waits_until(now))}
        return self._from_queue(waiter, gate, Status.QUEUED, woken, remove=["waits_at", "turn", "reason"])

    def skip_waiter_request(self, waiter: Waiter, gate: str, why: Item, now: datetime) -> dict[str, Any]:
        """Skip a waiter that another execution replaces."""
        ending = {**why, "ended_at": instant_text(now), "expires_at": self._expiry(now)}
        removed = ["waits_at", "turn", "long_shard", *DEADLINE_ATTRIBUTES]
        return self._from_queue(waiter, gate, Status.SKIPPED, ending, remove=removed)

    def cover_request(self, waiter: Waiter, gate: str) -> dict[str, Any]:
        """Mark a waiter that covers a skipped execution, so that an edit does not remove it."""
        condition, values = waits_condition(waiter, gate)
        return self.table.update_request(
            _key(waiter.execution_id), set={"covers": True}, condition=condition, values=values
        )

    def unchanged_request(self, execution_id: str, seen: Execution | None) -> dict[str, Any]:
        """Require that an execution is still as ``seen``, in all that decides which gates it may hold."""
        key = _key(execution_id)
        if seen is None:
            return self.table.check_request(key, "attribute_not_exists(#execution_id)", {})
        values: Item = {"status": str(seen.status), "attempt": seen.attempt, "revision": seen.revision}
        unchanged = [f"#{name} = :{name}" for name in values]
        unchanged.append(f"attribute_{'exists' if seen.is_cleared else 'not_exists'}(#is_cleared)")
        if seen.waits_at is None:
            unchanged.append("attribute_not_exists(#waits_at)")
        else:
            unchanged.append("#waits_at = :waits_at")
            values["waits_at"] = seen.waits_at
        return self.table.check_request(key, " AND ".join(unchanged), values)

    def not_waiting_request(self, waiter: Waiter, gate: str) -> dict[str, Any]:
        """Require that an execution does not wait at the gate as ``waiter`` says."""
        condition, values = waits_condition(waiter, gate)
        return self.table.check_request(
            _key(waiter.execution_id), f"attribute_not_exists(#execution_id) OR NOT ({condition})", values
        )

    def _from_queue(
        self, waiter: Waiter, gate: str, target: Status, changes: Item, remove: Iterable[str]
    ) -> dict[str, Any]:
        condition, values = waits_condition(waiter, gate)
        return self._transition(
            _key(waiter.execution_id),
            target,
            changes,
            remove=remove,
            sources=[Status.WAITING],
            also=condition,
            values=values,
        )


def waits_condition(waiter: Waiter, gate: str) -> tuple[str, Item]:
    """The condition that an execution waits at the gate, for the attempt and the revision of ``waiter``."""
    return (
        "#waits_at = :gate AND #attempt = :before AND #revision = :revision",
        {"gate": gate, "before": waiter.attempt - 1, "revision": waiter.revision},
    )


def _as_sent(entrant: Entrant) -> dict[str, Any]:
    """The condition that the execution still has the revision, the attempt and the run that it was sent for."""
    condition = "#revision = :revision AND #attempt = :before"
    values: Item = {"revision": entrant.revision, "before": entrant.attempt - 1}
    if entrant.run_arn is None:
        return {"also": condition, "values": values}
    return {"also": f"{condition} AND #run_arn = :run_arn", "values": {**values, "run_arn": entrant.run_arn}}


def _key(execution_id: str) -> Item:
    return {"job_id": job_of(execution_id), "execution_id": execution_id}


if TYPE_CHECKING:
    from punctual.ports.gates import GatedExecutions

    _gated_executions: type[GatedExecutions] = DynamoGatedExecutions
