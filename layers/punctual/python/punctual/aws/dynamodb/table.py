"""A DynamoDB table with the operations that Punctual uses.

A conditional write whose condition fails returns a value; it raises nothing. A write that conflicts with a transaction
is repeated, because botocore does not. Every other ``ClientError`` propagates.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import Item, plain, typed
from punctual.aws.dynamodb.write_conflicts import cancellation_reasons, write

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True)
class WriteResult:
    """Whether a conditional write was applied, and the stored item: new, or as it was when the check failed."""

    applied: bool
    item: Item


@dataclass(frozen=True)
class Table:
    name: str
    client: Any

    def get(self, key: Item, *, consistent: bool = False) -> Item | None:
        answer = self.client.get_item(TableName=self.name, Key=typed(key), ConsistentRead=consistent)
        return plain(answer["Item"]) if "Item" in answer else None

    def put(self, item: Item) -> None:
        write(self.client.put_item, TableName=self.name, Item=typed(item))

    def put_new(self, item: Item, key: str) -> Item | None:
        """Store ``item`` if its key is free and return ``None``; otherwise return the existing item unchanged."""
        try:
            write(
                self.client.put_item,
                TableName=self.name,
                Item=typed(item),
                ConditionExpression="attribute_not_exists(#key)",
                ExpressionAttributeNames={"#key": key},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            return conflicting_item(error)
        return None

    def put_if(self, item: Item, condition: str, values: Mapping[str, Any]) -> bool:
        """Replace the item with the same key by ``item`` if ``condition`` holds. ``False`` if it does not."""
        request = self.put_request(item, condition, values)
        try:
            write(self.client.put_item, **request, ReturnValuesOnConditionCheckFailure="ALL_OLD")
        except ClientError as error:
            return recognise_own(WriteResult(False, conflicting_item(error)), item).applied
        return True

    def delete_if(self, key: Item, condition: str, values: Mapping[str, Any], **names: str) -> bool:
        """Delete the item with this key if ``condition`` holds. ``False`` if it does not."""
        return _is_applied(self.client.delete_item, self.delete_request(key, condition, values, names))

    def update(
        self,
        key: Item,
        *,
        set: Mapping[str, Any],
        remove: Iterable[str] = (),
        condition: str,
        values: Mapping[str, Any],
    ) -> WriteResult:
        """Update an item if ``condition`` holds.

        In ``condition``, write ``#name`` for an attribute and ``:name`` for an entry of ``values``.
        """
        return self.apply(self.update_request(key, set=set, remove=remove, condition=condition, values=values))

    def apply(self, request: Mapping[str, Any]) -> WriteResult:
        """Execute the result of ``update_request`` as a single write."""
        try:
            answer = write(
                self.client.update_item,
                **request,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            return WriteResult(False, conflicting_item(error))
        return WriteResult(True, plain(answer["Attributes"]))

    def update_request(
        self,
        key: Item,
        *,
        set: Mapping[str, Any] = MappingProxyType({}),
        remove: Iterable[str] = (),
        add: Mapping[str, Any] = MappingProxyType({}),
        condition: str = "",
        values: Mapping[str, Any] = MappingProxyType({}),
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Build an update of one item, for ``apply`` or ``transact``.

        ``set`` ignores values that are ``None``; ``add`` increments counters and extends sets. ``names`` has the
        attributes whose names cannot be written in an expression, by the names that stand for them.
        """
        assigned = {name: value for name, value in set.items() if value is not None}
        clauses = {
            "SET": [f"#{name} = :set_{name}" for name in assigned],
            "REMOVE": [f"#{name}" for name in remove],
            "ADD": [f"#{name} :add_{name}" for name in add],
        }
        expression = " ".join(f"{verb} {', '.join(terms)}" for verb, terms in clauses.items() if terms)
        bound = (
            {f":set_{name}": value for name, value in assigned.items()}
            | {f":add_{name}": value for name, value in add.items()}
            | {f":{name}": value for name, value in values.items()}
        )
        request = {
            "TableName": self.name,
            "Key": typed(key),
            "UpdateExpression": expression,
            "ExpressionAttributeNames": _names(f"{expression} {condition}", names),
        }
        request |= {"ConditionExpression": condition} if condition else {}
        request |= {"ExpressionAttributeValues": typed(bound)} if bound else {}
        return request

    def put_request(
        self, item: Item, condition: str = "", values: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Build a put for ``transact`` that requires ``condition``, if given, of the item with the same key."""
        return {"TableName": self.name, "Item": typed(item), **_condition(condition, values)}

    def delete_request(
        self,
        key: Item,
        condition: str = "",
        values: Mapping[str, Any] = MappingProxyType({}),
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Build a deletion for ``transact``."""
        return {"TableName": self.name, "Key": typed(key), **_condition(condition, values, names)}

    check_request = delete_request
    """Build a condition on an item that ``transact`` does not write."""

    def query(
        self,
        condition: str,
        values: Mapping[str, Any],
        *,
        index: str | None = None,
        descending: bool = False,
        page_size: int | None = None,
        consistent: bool = False,
        only: Iterable[str] = (),
        where: Mapping[str, Sequence[str | bool]] | None = None,
    ) -> Iterator[list[Item]]:
        """Yield the matching items in sort-key order, page by page. A page may be empty.

        ``only`` projects attributes; ``where`` filters by attribute: its value must be in the list.
        """
        where = where or {}
        filters = {f"{name}{n}": value for name, wanted in where.items() for n, value in enumerate(wanted)}
        kept = [
            f"#{name} IN ({', '.join(f':{name}{n}' for n in range(len(wanted)))})" for name, wanted in where.items()
        ]
        projected = ", ".join(f"#{name}" for name in only)
        names = _NAME.findall(" ".join([condition, projected, *kept]))
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in names},
            "ExpressionAttributeValues": typed({f":{name}": value for name, value in {**values, **filters}.items()}),
            "ScanIndexForward": not descending,
            "ConsistentRead": consistent,
        }
        request |= {"IndexName": index} if index else {}
        request |= {"Limit": page_size} if page_size else {}
        request |= {"ProjectionExpression": projected} if projected else {}
        request |= {"FilterExpression": " AND ".join(kept)} if kept else {}
        while True:
            answer = self.client.query(**request)
            yield [plain(item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def count(self, condition: str, values: Mapping[str, Any], *, index: str, at_most: int | None = None) -> int:
        """Count the matching items; no further than to ``at_most``."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in _NAME.findall(condition)},
            "ExpressionAttributeValues": typed({f":{name}": value for name, value in values.items()}),
            "Select": "COUNT",
        }
        counted = 0
        while True:
            request |= {"Limit": at_most - counted} if at_most else {}
            answer = self.client.query(**request)
            counted += int(answer["Count"])
            if "LastEvaluatedKey" not in answer or counted == at_most:
                return counted
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def get_many(self, keys: Iterable[Item], *, consistent: bool = False) -> list[Item]:
        """Fetch the items with these keys. Missing items are left out; the order is undefined."""
        found: list[Item] = []
        pending = [typed(key) for key in keys]
        while pending:
            asked, pending = pending[:100], pending[100:]
            answer = self.client.batch_get_item(RequestItems={self.name: {"Keys": asked, "ConsistentRead": consistent}})
            found.extend(plain(item) for item in answer["Responses"].get(self.name, []))
            pending.extend(answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", []))
        return found

    def put_many(self, items: Iterable[Item]) -> None:
        """Store ``items`` in batches of 25. Unprocessed items are retried with backoff until all are stored."""
        remaining = iter(items)
        while chunk := list(islice(remaining, 25)):
            requests = [{"PutRequest": {"Item": typed(item)}} for item in chunk]
            backoff = 0.05
            while requests:
                answer = self.client.batch_write_item(RequestItems={self.name: requests})
                requests = answer.get("UnprocessedItems", {}).get(self.name, [])
                if requests:
                    time.sleep(backoff)
                    backoff = min(backoff * 2, 2)


def recognise_own(written: WriteResult, own: Mapping[str, Any]) -> WriteResult:
    """Count a refused write as applied if the item has all values of ``own``, which the write sets.

    botocore repeats a write whose response was lost. The condition then fails on the values of the first try.
    """
    if not written.item or any(written.item.get(name) != value for name, value in own.items() if value is not None):
        return written
    return WriteResult(True, written.item)


def transact(client: Any, writes: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Apply all ``writes`` in one transaction, or none. Returns for each whether its own condition held.

    A write is the result of a ``…_request`` method under its kind: ``{"Update": …}``, ``{"Put": …}``, ``{"Delete": …}``
    or ``{"ConditionCheck": …}``. The transaction was applied if all are ``True``. All tries have one token, after a
    lost response as after a conflict. So it is applied once, and no try is refused because of an earlier one.
    """
    try:
        write(client.transact_write_items, TransactItems=writes, ClientRequestToken=secrets.token_hex(16))
    except client.exceptions.TransactionCanceledException as error:
        reasons = cancellation_reasons(error)
        if "ConditionalCheckFailed" not in reasons:
            raise
        return [reason != "ConditionalCheckFailed" for reason in reasons]
    return [True] * len(writes)


def _is_applied(operation: Callable[..., Any], request: Mapping[str, Any]) -> bool:
    try:
        write(operation, **request)
    except ClientError as error:
        conflicting_item(error)
        return False
    return True


def _condition(
    condition: str, values: Mapping[str, Any], names: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    if not condition:
        return {}
    request: dict[str, Any] = {
        "ConditionExpression": condition,
        "ExpressionAttributeNames": _names(condition, names),
    }
    bound = typed({f":{name}": value for name, value in values.items()})
    return request | ({"ExpressionAttributeValues": bound} if bound else {})


def _names(expression: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"#{name}": names.get(name, name) for name in _NAME.findall(expression)}


def conflicting_item(error: ClientError) -> Item:
    """Return the item that failed a condition, empty if there is none. Re-raises any other error."""
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error
    item: Any = error.response.get("Item", {})
    return plain(item)
