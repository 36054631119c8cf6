"""The gates table: the holders and waiters of each gate, and the reserved starts of each rate limit.

::

    held#<shard>   <gate>           one item per gate with holders: their number and their execution ids
    line#<gate>    <turn>           one item per waiter; <turn> is ``only`` if the gate admits a single waiter
    rate           <gate>           the instant until which starts are reserved

Each method that writes makes one conditional write of one item. Exceptions: ``release`` may need two, and ``form_line``
writes in bulk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import Item, instant_of, instant_text, typed
from punctual.aws.dynamodb.table import Table, conflicting_item
from punctual.domain.executions.timer import shard_of
from punctual.domain.jobs.gate import OF_JOB, ONLY, Gate, Rate, Waiter

INSIDE = "in:"
WAITED_AT = "waited_at"
ASKED = {"#it": WAITED_AT, "#count": "count"}
RATE = "rate"
MAX_RESERVE_TRIES = 20
GATES_PER_PAGE = 100


@dataclass(frozen=True)
class DynamoGates:
    table: Table
    shards: int
    retention: timedelta

    def enter(self, gate: Gate, execution_id: str) -> frozenset[str] | None:
        try:
            self._update(
                gate.name,
                "SET #me = :yes ADD #count :one",
                "attribute_not_exists(#me) AND (attribute_not_exists(#count) OR #count < :limit)",
                {"#me": INSIDE + execution_id, "#count": "count"},
                {":yes": True, ":one": 1, ":limit": gate.limit},
            )
        except ClientError as error:
            inside = _inside(conflicting_item(error))
            return None if execution_id in inside else inside
        return None

    def release(self, name: str, execution_id: str) -> bool:
        me = {"#me": INSIDE + execution_id, "#count": "count"}
        try:  # the last holder deletes the gate's item
            left = self.table.client.delete_item(
                TableName=self.table.name,
                Key=typed(self._key(name)),
                ConditionExpression="attribute_exists(#me) AND #count = :one",
                ExpressionAttributeNames=me,
                ExpressionAttributeValues=typed({":one": 1}),
                ReturnValues="ALL_OLD",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if execution_id in _inside(conflicting_item(error)):
                self._let_go(name, me)
            return True
        return WAITED_AT in left["Attributes"]

    def ask_for_word(self, name: str) -> bool:
        try:
            self._update(name, "SET #it = :yes", "attribute_exists(#count)", ASKED, {":yes": True})
        except ClientError as error:
            conflicting_item(error)
            return False
        return True

    def pass_on(self, name: str, execution_id: str, to: str) -> bool:
        try:
            self._update(
                name,
                "SET #other = :yes REMOVE #me",
                "attribute_exists(#me) AND attribute_not_exists(#other)",
                {"#me": INSIDE + execution_id, "#other": INSIDE + to},
                {":yes": True},
            )
        except ClientError as error:
            conflicting_item(error)
            return False
        return True

    def inside(self, name: str) -> frozenset[str]:
        return _inside(self.table.get(self._key(name), consistent=True) or {})

    def held(self, shard: int) -> Iterator[dict[str, frozenset[str]]]:
        for page in self.table.query("#gate = :gate", {"gate": f"held#{shard}"}, page_size=GATES_PER_PAGE):
            yield {item["entry"]: _inside(item) for item in page}

    def inside_jobs(self, shard: int) -> Iterator[str]:
        """The executions that hold their own job's gate."""
        for page in self.held(shard):
            for name, inside in page.items():
                if name.startswith(OF_JOB):
                    yield from inside

    def count_inside_jobs(self) -> int:
        return sum(1 for shard in range(self.shards) for _ in self.inside_jobs(shard))

    def stand_in_line(self, name: str, execution_id: str, turn: str, now: datetime) -> None:
        self.table.put(self._place(name, turn, execution_id, now))

    def form_line(self, name: str, waiters: Iterable[Waiter], now: datetime) -> None:
        self.table.put_many(self._place(name, one.turn, one.execution_id, now) for one in waiters)

    def stand_alone(self, name: str, execution_id: str, instead_of: str | None, now: datetime) -> str | None:
        condition = "attribute_not_exists(#execution_id) OR #execution_id IN (:me, :other)"
        values = {"me": execution_id, "other": instead_of or execution_id}
        place = self._place(name, ONLY, execution_id, now)
        for _ in range(MAX_RESERVE_TRIES):
            if self.table.put_if(place, condition, values):
                return None
            item = self.table.get({"gate": f"line#{name}", "entry": ONLY}, consistent=True)
            if item is not None:
                return str(item["execution_id"])
        raise RuntimeError(f"gate {name}: no stable read of the single waiter after {MAX_RESERVE_TRIES} tries")

    def first_in_line(self, name: str) -> Waiter | None:
        page = next(self.table.query("#gate = :gate", {"gate": f"line#{name}"}, consistent=True, page_size=1))
        return Waiter(page[0]["execution_id"], page[0]["entry"]) if page else None

    def step_out(self, name: str, waiter: Waiter) -> None:
        try:
            self.table.client.delete_item(
                TableName=self.table.name,
                Key=typed({"gate": f"line#{name}", "entry": waiter.turn}),
                ConditionExpression="#id = :id",  # another waiter may have taken the single place in the meantime
                ExpressionAttributeNames={"#id": "execution_id"},
                ExpressionAttributeValues=typed({":id": waiter.execution_id}),
            )
        except ClientError as error:
            conflicting_item(error)

    def ahead_of(self, name: str, turn: str) -> list[str]:
        pages = self.table.query("#gate = :gate AND #entry < :turn", {"gate": f"line#{name}", "turn": turn})
        return [item["execution_id"] for page in pages for item in page]

    def reserve(self, name: str, rate: Rate, now: datetime) -> datetime:
        key = {"gate": RATE, "entry": name}
        for _ in range(MAX_RESERVE_TRIES):
            item = self.table.get(key, consistent=True) or {}
            seen = instant_of(item.get("reserved_until"))
            start, until = rate.reserve(seen, now)
            unchanged = "#reserved_until = :seen" if seen else "attribute_not_exists(#reserved_until)"
            values = {"seen": instant_text(seen)} if seen else {}
            expires_at = int((until + timedelta(hours=1)).timestamp())
            change = {"reserved_until": instant_text(until), "expires_at": expires_at}
            if self.table.update(key, set=change, condition=unchanged, values=values).applied:
                return start
        raise RuntimeError(
            f"gate {name}: could not reserve a start after {MAX_RESERVE_TRIES} tries, too much contention"
        )

    def reserved_until(self, name: str) -> datetime | None:
        return instant_of((self.table.get({"gate": RATE, "entry": name}, consistent=True) or {}).get("reserved_until"))

    def _let_go(self, name: str, me: Mapping[str, str]) -> None:
        try:
            self._update(name, "REMOVE #me ADD #count :less", "attribute_exists(#me)", me, {":less": -1})
        except ClientError as error:
            conflicting_item(error)

    def _update(
        self, name: str, expression: str, condition: str, names: Mapping[str, str], values: Mapping[str, Any]
    ) -> None:
        self.table.client.update_item(
            TableName=self.table.name,
            Key=typed(self._key(name)),
            UpdateExpression=expression,
            ConditionExpression=condition,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=typed(values),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    def _key(self, name: str) -> Item:
        return {"gate": f"held#{shard_of(name, self.shards)}", "entry": name}

    def _place(self, name: str, turn: str, execution_id: str, now: datetime) -> Item:
        expires_at = int((now + self.retention).timestamp())
        return {"gate": f"line#{name}", "entry": turn, "execution_id": execution_id, "expires_at": expires_at}


def _inside(item: Item) -> frozenset[str]:
    return frozenset(name.removeprefix(INSIDE) for name in item if name.startswith(INSIDE))


if TYPE_CHECKING:
    from punctual.ports.gates import Gates

    _gates: type[Gates] = DynamoGates
