"""A DynamoDB table with the few operations that Punctual needs. A condition that fails is an answer, not an error."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from botocore.exceptions import ClientError

from punctual.aws.dynamodb.items import Item, plain, typed

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True)
class Written:
    """How a conditional write went, and the item as it is now: the new one, or the one that stood against it."""

    won: bool
    item: Item


@dataclass(frozen=True)
class Table:
    name: str
    client: Any

    def get(self, key: Item, *, consistent: bool = False) -> Item | None:
        answer = self.client.get_item(TableName=self.name, Key=typed(key), ConsistentRead=consistent)
        return plain(answer["Item"]) if "Item" in answer else None

    def put(self, item: Item) -> None:
        self.client.put_item(TableName=self.name, Item=typed(item))

    def put_new(self, item: Item, key: str) -> Item | None:
        """Store ``item`` unless there is one with its key: then that one is returned and stays."""
        try:
            self.client.put_item(
                TableName=self.name,
                Item=typed(item),
                ConditionExpression="attribute_not_exists(#key)",
                ExpressionAttributeNames={"#key": key},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            return standing(error)
        return None

    def put_if(self, item: Item, condition: str, values: Mapping[str, Any]) -> bool:
        """Store ``item`` in place of the one with its key, if ``condition`` holds for that one."""
        return self._if(self.client.put_item, condition, values, Item=typed(item))

    def delete_if(self, key: Item, condition: str, values: Mapping[str, Any]) -> bool:
        """Remove the item with this key, if ``condition`` holds for it."""
        return self._if(self.client.delete_item, condition, values, Key=typed(key))

    def _if(self, act: Callable[..., Any], condition: str, values: Mapping[str, Any], **what: Any) -> bool:
        try:
            act(
                TableName=self.name,
                ConditionExpression=condition,
                ExpressionAttributeNames={f"#{name}": name for name in _NAME.findall(condition)},
                ExpressionAttributeValues=typed({f":{name}": value for name, value in values.items()}),
                **what,
            )
        except ClientError as error:
            standing(error)
            return False
        return True

    def update(
        self,
        key: Item,
        *,
        set: Mapping[str, Any],
        remove: Iterable[str] = (),
        condition: str,
        values: Mapping[str, Any],
    ) -> Written:
        """Change an item if ``condition`` holds. Write ``#name`` for attributes and ``:name`` for ``values``."""
        return self.apply(self.change(key, set=set, remove=remove, condition=condition, values=values))

    def apply(self, change: Mapping[str, Any]) -> Written:
        """Carry out a change of one item, if its condition holds."""
        try:
            answer = self.client.update_item(
                **change, ReturnValues="ALL_NEW", ReturnValuesOnConditionCheckFailure="ALL_OLD"
            )
        except ClientError as error:
            return Written(False, standing(error))
        return Written(True, plain(answer["Attributes"]))

    def change(
        self,
        key: Item,
        *,
        set: Mapping[str, Any] = MappingProxyType({}),
        remove: Iterable[str] = (),
        add: Mapping[str, int] = MappingProxyType({}),
        condition: str = "",
        values: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The request for a change of one item, alone or in a transaction. ``add`` is what counters grow by."""
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
            "ExpressionAttributeNames": {f"#{name}": name for name in _NAME.findall(f"{expression} {condition}")},
        }
        request |= {"ConditionExpression": condition} if condition else {}
        request |= {"ExpressionAttributeValues": typed(bound)} if bound else {}
        return request

    def change_all(self, *changes: Mapping[str, Any]) -> list[bool]:
        """All of the changes, or none: for each, whether its own condition held. All hold if it was done.

        One that only met another transaction on its way is tried again.
        """
        return self._together([{"Update": change} for change in changes])

    def put_all(self, puts: Iterable[Mapping[str, Any]]) -> list[bool]:
        """``change_all`` for what ``placing`` makes."""
        return self._together([{"Put": put} for put in puts])

    def placing(self, item: Item, condition: str, values: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """The request for storing an item in a transaction, if ``condition`` holds for the one with its key."""
        request = {
            "TableName": self.name,
            "Item": typed(item),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in _NAME.findall(condition)},
        }
        bound = typed({f":{name}": value for name, value in values.items()})
        return request | ({"ExpressionAttributeValues": bound} if bound else {})

    def _together(self, parts: list[dict[str, Any]]) -> list[bool]:
        for rest in (0.02, 0.05, 0.1, 0.2, None):
            try:
                self.client.transact_write_items(TransactItems=parts)
                return [True] * len(parts)
            except self.client.exceptions.TransactionCanceledException as error:
                reasons = [reason.get("Code", "None") for reason in error.response["CancellationReasons"]]
                if "ConditionalCheckFailed" in reasons:
                    return [reason != "ConditionalCheckFailed" for reason in reasons]
                if rest is None or "TransactionConflict" not in reasons:
                    raise
                time.sleep(rest)
        raise AssertionError("unreachable")

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
        where: Mapping[str, list[str]] | None = None,
    ) -> Iterator[list[Item]]:
        """The matching items in order, page by page; a page may be empty.

        ``only`` names the attributes to fetch; ``where`` keeps items whose attribute has one of the values.
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

    def count(self, condition: str, values: Mapping[str, Any], *, index: str) -> int:
        """How many items match."""
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
            answer = self.client.query(**request)
            counted += int(answer["Count"])
            if "LastEvaluatedKey" not in answer:
                return counted
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def get_many(self, keys: Iterable[Item], *, consistent: bool = False) -> list[Item]:
        """The items with these keys that exist, in no order."""
        found: list[Item] = []
        pending = [typed(key) for key in keys]
        while pending:
            asked, pending = pending[:100], pending[100:]
            answer = self.client.batch_get_item(RequestItems={self.name: {"Keys": asked, "ConsistentRead": consistent}})
            found.extend(plain(item) for item in answer["Responses"].get(self.name, []))
            pending.extend(answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", []))
        return found

    def put_many(self, items: Iterable[Item]) -> None:
        """Store all, 25 at a time, again and again until none is refused for lack of capacity."""
        remaining = iter(items)
        while chunk := list(islice(remaining, 25)):
            requests = [{"PutRequest": {"Item": typed(item)}} for item in chunk]
            rest = 0.05
            while requests:
                answer = self.client.batch_write_item(RequestItems={self.name: requests})
                requests = answer.get("UnprocessedItems", {}).get(self.name, [])
                if requests:
                    time.sleep(rest)
                    rest = min(rest * 2, 2)


def standing(error: ClientError) -> Item:
    """The item that a condition failed on; any other error goes on its way."""
    if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
        raise error
    item: Any = error.response.get("Item", {})
    return plain(item)
