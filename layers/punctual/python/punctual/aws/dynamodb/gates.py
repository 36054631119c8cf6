"""The gates table: the holders and waiters of each gate, and the reserved starts of each rate limit.

::

    holders#<shard>   <gate>   one item per gate with holders or waiters: the number of holders, the claim number of
                               each, and ``enqueued``, which exists while the queue may have waiters
    queue#<gate>      <turn>   one item per waiter; <turn> is ``0`` for an execution that waits alone
    rate              <gate>   the instant until which starts are reserved

docs/gates.md specifies the operations, and why each of their conditions is needed.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.gated_executions import DynamoGatedExecutions
from punctual.aws.dynamodb.items import Item, instant_of, instant_text
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.errors import GateContention
from punctual.domain.executions.execution import Execution
from punctual.domain.identity import BEYOND_ALL_IDS
from punctual.domain.jobs.gate import (
    OF_JOB,
    ONLY,
    Entrant,
    FullGateDecision,
    Gate,
    GateState,
    Rate,
    Waiter,
    claim_number,
    queue_key,
)
from punctual.domain.status import Status

SHARDS = 16
"""Spreads the gates over partition keys. Constant, because the key of a gate contains its shard. DynamoDB splits a
partition key that is hot, so that this does not limit the number of starts per second."""
HOLDER = "in:"
HAS_ROOM = "attribute_not_exists(#holder) AND (attribute_not_exists(#count) OR #count < :limit)"
KEEPS_PLACE = "#holder = :was AND #count <= :limit"
MAX_RESERVE_TRIES = 20
GATES_PER_PAGE = 100
NEW_WAITERS_PER_TRANSACTION = 25


@dataclass(frozen=True)
class DynamoGates:
    table: Table
    executions: DynamoGatedExecutions

    def acquire(self, gate: Gate, entrant: Entrant) -> GateState | None:
        me, number = entrant.execution_id, entrant.claim_number
        while True:
            written = self.table.apply(
                self._update(
                    gate.name,
                    me,
                    set={"holder": number},
                    add={"count": 1},
                    condition=f"{HAS_ROOM} AND attribute_not_exists(#enqueued)",
                    values={"limit": gate.limit},
                )
            )
            state = gate_state(written.item)
            held_for = state.holders.get(me)
            if written.applied or (held_for is not None and held_for >= number):
                return None
            if held_for is None:
                return state
            if self._keep_place(gate, entrant, held_for):
                return None

    def _keep_place(self, gate: Gate, entrant: Entrant, held_for: int) -> bool:
        """Keep the place of an earlier attempt or revision, unless it is being released.

        A work order from before an edit may have taken it under a higher limit. If it exceeds the limit, it is given
        up: the earlier claim can no longer succeed.
        """
        values = {"was": held_for, "limit": gate.limit}
        raised = self._update(
            gate.name,
            entrant.execution_id,
            set={"holder": entrant.claim_number},
            condition=KEEPS_PLACE,
            values=values,
        )
        if self.table.apply(raised).applied:
            return True
        self.table.apply(self._removal(gate.name, entrant.execution_id, "#holder = :was AND #count > :limit", values))
        return False

    def release(self, name: str, execution_id: str, claim_number: int | None) -> bool:
        held, values = _held_condition(claim_number)
        last = f"{held} AND #count = :one AND attribute_not_exists(#enqueued)"
        if self.table.delete_if(key_of_gate(name), last, {**values, "one": 1}, holder=HOLDER + execution_id):
            return False  # the last holder deletes the gate's item
        return "enqueued" in self.table.apply(self._removal(name, execution_id, held, values)).item

    def evict(self, name: str, execution_id: str, seen: Execution | None) -> bool:
        # the worker of its next attempt may have acquired the place, and be about to claim
        is_retrying = seen is not None and seen.status is Status.RETRYING
        held, values = _held_condition(claim_number(seen.revision, seen.attempt) if seen and is_retrying else None)
        return self._transact(
            {"Update": self._removal(name, execution_id, held, values)},
            {"ConditionCheck": self.executions.unchanged_request(execution_id, seen)},
        )

    def enqueue(self, gate: Gate, entrant: Entrant, reason: str) -> bool:
        turn = ONLY if gate.has_single_waiter else entrant.turn
        free = "attribute_not_exists(#execution_id) OR #execution_id = :me"  # its own waiter may be left from before
        waiter = _waiter_item(gate.name, turn, entrant)
        return self._transact(
            {"Update": self._mark(gate.name, entrant.execution_id)},
            {"Put": self.table.put_request(waiter, free, {"me": entrant.execution_id})},
            {"Update": self.executions.wait_request(entrant, gate.name, turn, reason)},
        )

    def enqueue_new(self, gate: Gate, executions: Sequence[Execution]) -> list[Execution]:
        stored: list[Execution] = []
        for start in range(0, len(executions), NEW_WAITERS_PER_TRANSACTION):
            chunk = list(executions[start : start + NEW_WAITERS_PER_TRANSACTION])
            while chunk:
                results = transact(self.table.client, list(self._new_waiters(gate, chunk)))
                taken = [one for one, is_free in zip(chunk, results[1::2], strict=True) if not is_free]
                if not taken:
                    stored += chunk
                    break
                chunk = [one for one in chunk if one not in taken]
        return stored

    def skip_for_waiter(
        self, entrant: Entrant, gate: str, waiter: Waiter, decision: FullGateDecision, now: datetime
    ) -> bool:
        why = {"reason": decision.reason, "covered_by": decision.covered_by}
        return self._transact(
            {"Update": self.executions.skip_request(entrant, why, now)},
            {"Update": self.executions.cover_request(waiter, gate)},
        )

    def replace_waiter(self, gate: Gate, entrant: Entrant, waiter: Waiter, reason: str, now: datetime) -> bool:
        turn = waiter.turn  # under an earlier rule, it has a turn of its own, and others may wait behind it
        successor = _waiter_item(gate.name, turn, entrant)
        why = {"reason": reason, "covered_by": entrant.execution_id}
        waits = self.executions.wait_request(entrant, gate.name, turn, f"waits for {waiter.execution_id}", covers=True)
        return self._transact(
            {"Update": self._mark(gate.name, entrant.execution_id)},
            {"Put": self.table.put_request(successor, *_same(waiter))},
            {"Update": waits},
            {"Update": self.executions.skip_waiter_request(waiter, gate.name, why, now)},
        )

    def cover(self, waiter: Execution) -> bool:
        seen = Waiter(waiter.execution_id, waiter.turn or ONLY, waiter.attempt + 1, waiter.revision)
        return self.table.apply(self.executions.cover_request(seen, waiter.waits_at or "")).applied

    def grant(self, gate: Gate, waiter: Waiter, waiting: Execution, now: datetime) -> bool:
        given = self._update(
            gate.name,
            waiter.execution_id,
            set={"holder": waiter.claim_number},
            add={"count": 1},
            condition=HAS_ROOM,
            values={"limit": gate.limit},
        )
        return self._transact(
            {"Update": given},
            {"Delete": self.table.delete_request(_waiter_key(gate.name, waiter.turn), *_same(waiter))},
            {"Update": self.executions.queue_request(waiter, gate.name, waiting, now)},
        )

    def drop(self, name: str, waiter: Waiter) -> bool:
        return self._transact(
            {"Delete": self.table.delete_request(_waiter_key(name, waiter.turn), *_same(waiter))},
            {"ConditionCheck": self.executions.not_waiting_request(waiter, name)},
        )

    def clear_queue_mark(self, name: str, mark: str) -> bool:
        key, condition = key_of_gate(name), "#enqueued = :mark"
        return self.table.update(key, set={}, remove=["enqueued"], condition=condition, values={"mark": mark}).applied

    def remove_if_empty(self, name: str) -> None:
        is_empty = "(attribute_not_exists(#count) OR #count = :none) AND attribute_not_exists(#enqueued)"
        self.table.delete_if(key_of_gate(name), is_empty, {"none": 0})

    def state(self, name: str) -> GateState:
        return gate_state(self.table.get(key_of_gate(name), consistent=True) or {})

    def first_waiter(self, name: str) -> Waiter | None:
        page = next(self.table.query("#gate = :gate", {"gate": f"queue#{name}"}, consistent=True, page_size=1))
        return _waiter(page[0]) if page else None

    def gates(self, share: int = 0, shares: int = 1) -> Iterator[Mapping[str, GateState]]:
        for shard in range(share, SHARDS, shares):
            for page in self.table.query("#gate = :gate", {"gate": _holders(shard)}, page_size=GATES_PER_PAGE):
                yield {item["entry"]: gate_state(item) for item in page}

    def holders_of_job_gates(self, before: str | None, page_size: int) -> list[Iterator[list[str]]]:
        """The executions that hold the gate of their job, latest job first, as one sequence of pages per shard.

        Starts with the jobs before the job ``before``.
        """
        return [self._holders_of_job_gates(shard, before or BEYOND_ALL_IDS, page_size) for shard in range(SHARDS)]

    def _holders_of_job_gates(self, shard: int, before: str, page_size: int) -> Iterator[list[str]]:
        condition = "#gate = :gate AND #entry BETWEEN :low AND :high"  # the upper bound is filtered out below
        values = {"gate": _holders(shard), "low": OF_JOB, "high": f"{OF_JOB}{before}"}
        for page in self.table.query(condition, values, descending=True, page_size=page_size):
            yield [one for item in page if item["entry"] < values["high"] for one in gate_state(item).holders]

    def ahead_of(self, name: str, turn: str, at_most: int) -> list[str]:
        values = {"gate": f"queue#{name}", "turn": turn}
        pages = self.table.query("#gate = :gate AND #entry < :turn", values, page_size=at_most)
        return [item["execution_id"] for page in islice(pages, 1) for item in page]

    def reserve(self, name: str, rate: Rate, now: datetime) -> datetime:
        key = {"gate": "rate", "entry": name}
        for _ in range(MAX_RESERVE_TRIES):
            seen = self.reserved_until(name)
            start, until = rate.reserve(seen, now)
            unchanged = "#reserved_until = :seen" if seen else "attribute_not_exists(#reserved_until)"
            values = {"seen": instant_text(seen)} if seen else {}
            expires_at = int((until + timedelta(hours=1)).timestamp())
            change = {"reserved_until": instant_text(until), "expires_at": expires_at}
            if self.table.update(key, set=change, condition=unchanged, values=values).applied:
                return start
        raise GateContention(f"gate {name}: no start reserved after {MAX_RESERVE_TRIES} tries")

    def reserved_until(self, name: str) -> datetime | None:
        item = self.table.get({"gate": "rate", "entry": name}, consistent=True) or {}
        return instant_of(item.get("reserved_until"))

    def _new_waiters(self, gate: Gate, executions: Sequence[Execution]) -> Iterator[dict[str, Any]]:
        yield {"Update": self._mark(gate.name)}
        for one in executions:
            turn = queue_key(one.execution_id, one.earliest_start, one.priority)
            waiter = _waiter_item(gate.name, turn, Waiter(one.execution_id, turn, one.attempt + 1, one.revision))
            yield {"Put": self.executions.new_waiter_request(one, gate.name, turn)}
            yield {"Put": self.table.put_request(waiter, "attribute_not_exists(#entry)")}

    def _mark(self, name: str, execution_id: str = "") -> dict[str, Any]:
        """Build the write that announces a waiter. The waiter must not hold a place."""
        mark = {"enqueued": os.urandom(8).hex()}  # a value that was never used, so that clearing it can be compared
        return self._update(name, execution_id, set=mark, condition="attribute_not_exists(#holder)")

    def _removal(self, name: str, execution_id: str, held: str, values: Item) -> dict[str, Any]:
        return self._update(name, execution_id, remove=["holder"], add={"count": -1}, condition=held, values=values)

    def _update(self, name: str, execution_id: str, **changes: Any) -> dict[str, Any]:
        """Build an update of a gate, in which ``holder`` stands for the attribute of an execution."""
        return self.table.update_request(key_of_gate(name), names={"holder": HOLDER + execution_id}, **changes)

    def _transact(self, *writes: Mapping[str, Any]) -> bool:
        return all(transact(self.table.client, writes))


def _held_condition(claim_number: int | None) -> tuple[str, Item]:
    """The condition that a place is held for this claim or an earlier one; ``None``: for any claim."""
    if claim_number is None:
        return "attribute_exists(#holder)", {}
    return "#holder <= :claim_number", {"claim_number": claim_number}


def gate_state(item: Item) -> GateState:
    holders = {name.removeprefix(HOLDER): value for name, value in item.items() if name.startswith(HOLDER)}
    return GateState(holders, item.get("enqueued"))


def _waiter_item(name: str, turn: str, one: Waiter) -> Item:
    """The item of an execution that waits at ``turn``."""
    waiter = {"execution_id": one.execution_id, "attempt": one.attempt, "revision": one.revision}
    return {**_waiter_key(name, turn), **waiter}


def _waiter(item: Item) -> Waiter:
    return Waiter(item["execution_id"], item["entry"], item["attempt"], item["revision"])


def _same(waiter: Waiter) -> tuple[str, Item]:
    """The condition that the item of a waiter is unchanged."""
    return (
        "#execution_id = :id AND #attempt = :attempt AND #revision = :revision",
        {"id": waiter.execution_id, "attempt": waiter.attempt, "revision": waiter.revision},
    )


def _waiter_key(name: str, turn: str) -> Item:
    return {"gate": f"queue#{name}", "entry": turn}


def key_of_gate(name: str) -> Item:
    return {"gate": _holders(zlib.crc32(name.encode()) % SHARDS), "entry": name}


def _holders(shard: int) -> str:
    """The partition of the gates of a shard."""
    return f"holders#{shard}"


if TYPE_CHECKING:
    from punctual.ports.gates import Gates

    _gates: type[Gates] = DynamoGates
