"""The operations of DynamoDB that Punctual uses.

Parameters have AWS's names, and an unknown parameter raises ``TypeError``. Not modelled: sizes and capacity, the 1 MB
limit of a page, unprocessed keys, and conflicts between transactions (each operation is atomic).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from tests.simulator.aws import expressions
from tests.simulator.aws.client import Response, operation
from tests.simulator.aws.errors import ServiceError, invalid
from tests.simulator.aws.operators import Names, Predicate, Values
from tests.simulator.aws.table import Entry, Index, Key, Table
from tests.simulator.aws.values import Item, Value, canonical, canonical_item

CONDITION_FAILED = "The conditional request failed"
TOKEN_RETENTION = timedelta(minutes=10)
MAX_TRANSACTION = 100
MAX_BATCH_GET = 100
MAX_BATCH_WRITE = 25


class Write(NamedTuple):
    """A validated write of one item, not yet evaluated."""

    table: Table
    key: Key
    change: Callable[[Item | None], Item | None]
    """Returns the new item for the old one. Raises ``ValidationException`` if the types do not fit."""
    condition: Callable[[Item], bool] | None
    returns_old_on_failure: bool

    def evaluate(self) -> tuple[Item | None, Item | None]:
        """The old and the new item. Raises ``ConditionalCheckFailedException``."""
        old = self.table.items.get(self.key)
        if self.condition is not None and not self.condition(old or {}):
            found = {"Item": dict(old)} if old and self.returns_old_on_failure else {}
            raise ServiceError("ConditionalCheckFailedException", CONDITION_FAILED, **found)
        new = self.change(old)
        if new is not None:
            self.table.check_index_keys(new)
        return old, new


class DynamoDb:
    def __init__(self, clock: Callable[[], datetime], rng: random.Random | None = None) -> None:
        self.tables: dict[str, Table] = {}
        self.stale: Callable[[str, str | None], int] | None = None
        """How many of the last writes an eventually consistent read of a table and index does not see.

        The index is ``None`` for reads of the table itself.
        """
        self._clock, self._rng = clock, rng
        self._sequence = count(1)
        self._tokens: dict[str, tuple[datetime, Any]] = {}

    def expire(self, now: datetime) -> int:
        """Remove the items that expired before ``now``, as TTL does. Returns how many."""
        expired = [(table, key) for table in self.tables.values() for key in table.expired(now)]
        for table, key in expired:
            table.write(key, None, next(self._sequence), self._clock(), by_ttl=True)
        return len(expired)

    # tables

    @operation
    def create_table(
        self,
        *,
        TableName: str,
        KeySchema: Sequence[dict[str, str]],
        AttributeDefinitions: Sequence[dict[str, str]],
        GlobalSecondaryIndexes: Sequence[dict[str, Any]] = (),
        StreamSpecification: dict[str, Any] | None = None,
        BillingMode: str = "PAY_PER_REQUEST",
    ) -> Response:
        """Create a table. All keys are strings."""
        if BillingMode != "PAY_PER_REQUEST" or any(one["AttributeType"] != "S" for one in AttributeDefinitions):
            raise NotImplementedError("only tables on demand with string keys")
        if TableName in self.tables:
            raise ServiceError("ResourceInUseException", f"Table already exists: {TableName}")
        primary = Index(None, *_key_schema(KeySchema))
        indexes = []
        for one in GlobalSecondaryIndexes:
            hash_name, range_name = _key_schema(one["KeySchema"])
            kind = one["Projection"]["ProjectionType"]
            if kind not in ("ALL", "KEYS_ONLY"):
                raise NotImplementedError(f"projection {kind}")
            index = Index(one["IndexName"], hash_name, range_name)
            indexes.append(index if kind == "ALL" else replace(index, projected=(*primary.names, *index.names)))
        stream = (StreamSpecification or {}).get("StreamViewType")
        self.tables[TableName] = Table(TableName, primary, indexes, stream)
        return {}

    @operation
    def update_time_to_live(self, *, TableName: str, TimeToLiveSpecification: dict[str, Any]) -> Response:
        self._table(TableName).ttl_attribute = TimeToLiveSpecification["AttributeName"]
        return {}

    # reads

    @operation
    def get_item(self, *, TableName: str, Key: Item, ConsistentRead: bool = False) -> Response:
        table = self._table(TableName)
        item = self._read(table, table.check_key(Key), ConsistentRead)
        return {"Item": dict(item)} if item is not None else {}

    @operation
    def batch_get_item(self, *, RequestItems: dict[str, dict[str, Any]]) -> Response:
        """Answers in random order if the model has a random generator: AWS promises no order."""
        if not 1 <= sum(len(request["Keys"]) for request in RequestItems.values()) <= MAX_BATCH_GET:
            raise invalid(f"Too many items requested for the BatchGetItem call, or none: at most {MAX_BATCH_GET}")
        responses = {}
        for name, request in RequestItems.items():
            table = self._table(name)
            keys = [table.check_key(key) for key in request["Keys"]]
            if len(set(keys)) < len(keys):
                raise invalid("Provided list of item keys contains duplicates")
            found = [self._read(table, key, request.get("ConsistentRead", False)) for key in keys]
            responses[name] = [dict(item) for item in found if item is not None]
            if self._rng:
                self._rng.shuffle(responses[name])
        return {"Responses": responses, "UnprocessedKeys": {}}

    @operation
    def query(
        self,
        *,
        TableName: str,
        KeyConditionExpression: str,
        ExpressionAttributeValues: Values | None = None,
        ExpressionAttributeNames: Names | None = None,
        IndexName: str | None = None,
        FilterExpression: str | None = None,
        ProjectionExpression: str | None = None,
        Select: str = "ALL_ATTRIBUTES",
        ScanIndexForward: bool = True,
        ConsistentRead: bool = False,
        Limit: int | None = None,
        ExclusiveStartKey: Item | None = None,
    ) -> Response:
        table = self._table(TableName)
        index = table.indexes.get(IndexName)
        if index is None:
            raise invalid(f"The table does not have the specified index: {IndexName}")
        if ConsistentRead and IndexName:
            raise invalid("Consistent reads are not supported on global secondary indexes")
        if Limit is not None and Limit < 1:
            raise invalid("Limit must be greater than or equal to 1")
        if Select not in ("ALL_ATTRIBUTES", "COUNT"):
            raise NotImplementedError(f"Select={Select}")
        where = expressions.key_condition(KeyConditionExpression)
        kept = expressions.condition(FilterExpression, "FilterExpression") if FilterExpression else None
        shown = expressions.projection(ProjectionExpression) if ProjectionExpression else None
        values = canonical_item(dict(ExpressionAttributeValues or {}))
        expressions.bind(ExpressionAttributeNames, values, *(one for one in (where, kept, shown) if one))
        names = ExpressionAttributeNames or {}
        if list(index.names[: len(where.paths)]) != where.attributes(names):
            raise invalid(f"Query condition does not match the key schema: {KeyConditionExpression}")
        if kept and set(index.names) & set(kept.attributes(names)):
            raise invalid(f"Filter Expression can only contain non-primary key attributes: {FilterExpression}")
        wanted = shown.attributes(names) if shown else None
        if wanted is not None:
            _check_distinct("ProjectionExpression", wanted)
            if index.projected is not None and not set(index.projected).issuperset(wanted):
                raise invalid(f"One or more parameter values were invalid: {IndexName} does not project {wanted}")
        partition = values[where.run.hash_value]["S"]
        after = self._start(table, index, partition, ExclusiveStartKey) if ExclusiveStartKey else None
        hidden = 0 if ConsistentRead or self.stale is None else self.stale(TableName, IndexName)
        bounds = where.run.bounds(values)
        page = table.rows(index, partition, bounds, after, ScanIndexForward, Limit, table.overlay(hidden))
        found = page
        if index.projected is not None:
            found = [_project(item, index.projected) for item in found]
        if kept:
            found = [item for item in found if kept.run(item, names, values)]
        response: Response = {"Count": len(found), "ScannedCount": len(page)}
        if Select != "COUNT":
            response["Items"] = [dict(item) if wanted is None else _project(item, wanted) for item in found]
        if Limit is not None and len(page) == Limit:  # also at the end: then the next page is empty
            key = dict.fromkeys((*table.primary.names, *index.names))
            response["LastEvaluatedKey"] = _project(page[-1], key)
        return response

    def _read(self, table: Table, key: Key, consistent: bool) -> Item | None:
        if not consistent and self.stale is not None:
            overlay = table.overlay(self.stale(table.name, None))
            if key in overlay:
                return overlay[key]
        return table.items.get(key)

    @staticmethod
    def _start(table: Table, index: Index, partition: str, start: Item) -> Entry:
        key = table.key_of(start)
        place = index.place(start, key)
        if place is None or place[0] != partition:
            raise invalid("The provided starting key is invalid")
        return place[1]

    # writes

    @operation
    def put_item(self, *, ReturnValues: str = "NONE", **request: Any) -> Response:
        old, _ = self._commit(self._put(**request))
        return _returned(ReturnValues, {"ALL_OLD": old})

    @operation
    def update_item(self, *, ReturnValues: str = "NONE", **request: Any) -> Response:
        old, new = self._commit(self._update(**request))
        return _returned(ReturnValues, {"ALL_OLD": old, "ALL_NEW": new})

    @operation
    def delete_item(self, *, ReturnValues: str = "NONE", **request: Any) -> Response:
        old, _ = self._commit(self._delete(**request))
        return _returned(ReturnValues, {"ALL_OLD": old})

    @operation
    def batch_write_item(self, *, RequestItems: dict[str, list[dict[str, Any]]]) -> Response:
        """Each put or deletion is atomic on its own; the model performs all of them."""
        prepare: dict[str, Callable[..., Write]] = {"PutRequest": self._put, "DeleteRequest": self._delete}
        writes = []
        for name, requests in RequestItems.items():
            for request in requests:
                [(kind, write)] = request.items()
                writes.append(prepare[kind](TableName=name, **write))
        if not 1 <= len(writes) <= MAX_BATCH_WRITE:
            raise invalid(f"A batch has 1 to {MAX_BATCH_WRITE} writes, not {len(writes)}")
        if len({(write.table.name, write.key) for write in writes}) < len(writes):
            raise invalid("Provided list of item keys contains duplicates")
        for write in writes:
            self._commit(write)
        return {"UnprocessedItems": {}}

    @operation
    def transact_write_items(self, *, TransactItems: list[dict[str, Any]], ClientRequestToken: str) -> Response:
        """Perform all writes or none. A token that was used successfully within ten minutes does nothing again."""
        prepare: dict[str, Callable[..., Write]] = {
            "Put": self._put,
            "Update": self._update,
            "Delete": self._delete,
            "ConditionCheck": self._check,
        }
        writes = []
        for entry in TransactItems:
            [(kind, request)] = entry.items()
            writes.append(prepare[kind](**request))
        if not 1 <= len(writes) <= MAX_TRANSACTION:
            raise invalid(f"A transaction has 1 to {MAX_TRANSACTION} writes, not {len(writes)}")
        if len({(write.table.name, write.key) for write in writes}) < len(writes):
            raise invalid("Transaction request cannot include multiple operations on one item")
        now = self._clock()
        seen = self._tokens.get(ClientRequestToken)
        if seen and now - seen[0] < TOKEN_RETENTION:
            if seen[1] != TransactItems:
                raise ServiceError("IdempotentParameterMismatchException", "The token was used for another request")
            return {}
        evaluated = [_evaluate(write) for write in writes]
        errors = [outcome for outcome in evaluated if isinstance(outcome, ServiceError)]
        if errors:
            reasons = [_reason(outcome) for outcome in evaluated]
            codes = ", ".join(reason["Code"] for reason in reasons)
            message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
            raise ServiceError("TransactionCanceledException", message, CancellationReasons=reasons)
        for write, outcome in zip(writes, evaluated, strict=True):
            if not isinstance(outcome, ServiceError):
                write.table.write(write.key, outcome[1], next(self._sequence), now)
        self._tokens[ClientRequestToken] = now, TransactItems
        return {}

    def _commit(self, write: Write) -> tuple[Item | None, Item | None]:
        old, new = write.evaluate()
        write.table.write(write.key, new, next(self._sequence), self._clock())
        return old, new

    def _put(self, *, TableName: str, Item: Item, **conditions: Any) -> Write:
        table = self._table(TableName)
        new = canonical_item(Item)
        key = table.key_of(new)
        table.check_index_keys(new)
        return self._write(table, key, lambda _: new, **conditions)

    def _delete(self, *, TableName: str, Key: Item, **conditions: Any) -> Write:
        table = self._table(TableName)
        return self._write(table, table.check_key(Key), lambda _: None, **conditions)

    def _check(self, *, TableName: str, Key: Item, ConditionExpression: str, **conditions: Any) -> Write:
        table = self._table(TableName)
        key = table.check_key(Key)
        return self._write(table, key, lambda old: old, ConditionExpression=ConditionExpression, **conditions)

    def _update(
        self,
        *,
        TableName: str,
        Key: Item,
        UpdateExpression: str,
        ExpressionAttributeNames: Names | None = None,
        ExpressionAttributeValues: Values | None = None,
        **conditions: Any,
    ) -> Write:
        table = self._table(TableName)
        key = table.check_key(Key)
        update = expressions.update(UpdateExpression)
        names = ExpressionAttributeNames or {}
        changed = update.attributes(names)
        _check_distinct("UpdateExpression", changed)
        if not table.key_names.isdisjoint(changed):
            raise invalid(f"Cannot update attribute {changed}. This attribute is part of the key")
        values = None if ExpressionAttributeValues is None else canonical_item(dict(ExpressionAttributeValues))

        def change(old: Item | None) -> Item | None:
            return update.run(dict(Key) if old is None else old, names, values or {})

        return self._write(
            table,
            key,
            change,
            update,
            ExpressionAttributeNames=ExpressionAttributeNames,
            ExpressionAttributeValues=values,
            **conditions,
        )

    def _write(
        self,
        table: Table,
        key: Key,
        change: Callable[[Item | None], Item | None],
        *others: expressions.Expression[Any],
        ConditionExpression: str | None = None,
        ExpressionAttributeNames: Names | None = None,
        ExpressionAttributeValues: Values | None = None,
        ReturnValuesOnConditionCheckFailure: str = "NONE",
    ) -> Write:
        values = ExpressionAttributeValues
        if values is not None and not others:
            values = {name: canonical(value) for name, value in values.items()}
        condition = None
        if ConditionExpression is None:
            expressions.bind(ExpressionAttributeNames, values, *others)
        else:
            compiled = expressions.condition(ConditionExpression)
            expressions.bind(ExpressionAttributeNames, values, compiled, *others)
            condition = _bound(compiled.run, ExpressionAttributeNames or {}, values or {})
        return Write(table, key, change, condition, ReturnValuesOnConditionCheckFailure == "ALL_OLD")

    def _table(self, name: str) -> Table:
        table = self.tables.get(name)
        if table is None:
            raise ServiceError("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
        return table


def _key_schema(schema: Sequence[dict[str, str]]) -> tuple[str, str | None]:
    names = {one["KeyType"]: one["AttributeName"] for one in schema}
    return names["HASH"], names.get("RANGE")


def _bound(run: Predicate, names: Names, values: Values) -> Callable[[Item], bool]:
    return lambda item: run(item, names, values)


def _check_distinct(kind: str, attributes: list[str]) -> None:
    if len(set(attributes)) < len(attributes):
        raise invalid(f"Invalid {kind}: Two document paths overlap with each other: {sorted(attributes)}")


def _project(item: Item, names: Iterable[str]) -> dict[str, Value]:
    return {name: item[name] for name in names if name in item}


def _returned(wanted: str, images: dict[str, Item | None]) -> Response:
    if wanted == "NONE":
        return {}
    if wanted not in images:
        raise NotImplementedError(f"ReturnValues={wanted}")
    image = images[wanted]
    return {"Attributes": dict(image)} if image is not None else {}


def _evaluate(write: Write) -> tuple[Item | None, Item | None] | ServiceError:
    try:
        return write.evaluate()
    except ServiceError as error:
        return error


def _reason(outcome: tuple[Item | None, Item | None] | ServiceError) -> dict[str, Any]:
    if not isinstance(outcome, ServiceError):
        return {"Code": "None"}
    code = {"ConditionalCheckFailedException": "ConditionalCheckFailed"}.get(outcome.code, "ValidationError")
    return {"Code": code, "Message": outcome.message, **outcome.fields}
