"""Random DynamoDB requests on two small tables, for the comparison of two implementations."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Sequence
from typing import Any

Request = tuple[str, dict[str, Any]]
"""An operation of the client and its parameters."""

PLAIN, RANGED = "plain", "ranged"
"""A table with a partition key only, and a table with a sort key, two indexes and a stream."""
INDEX_KEYS = ("g", "h")
ATTRIBUTES = ("a", "b", "c", "status", *INDEX_KEYS)
"""Beside the keys. ``status`` is a reserved word."""
COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")


def create_tables(client: Any) -> None:
    client.create_table(
        TableName=PLAIN,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_schema("id"),
        AttributeDefinitions=_definitions("id"),
    )
    client.create_table(
        TableName=RANGED,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_schema("p", "s"),
        AttributeDefinitions=_definitions("p", "s", "g", "h"),
        GlobalSecondaryIndexes=[
            {"IndexName": "all", "KeySchema": _schema("g", "h"), "Projection": {"ProjectionType": "ALL"}},
            {"IndexName": "keys", "KeySchema": _schema("g", "s"), "Projection": {"ProjectionType": "KEYS_ONLY"}},
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )


def key_of(item: dict[str, Any]) -> tuple[str, ...]:
    return tuple(item[name]["S"] for name in ("id", "p", "s") if name in item)


class Generator:
    """Draws requests.

    ``moto`` leaves out what moto is known to answer wrongly: invalid requests, NOT, comparisons of unequal types, and
    tokens of transactions.
    """

    def __init__(self, rng: random.Random, *, moto: bool = False) -> None:
        self.rng, self.moto = rng, moto
        self._transactions: list[dict[str, Any]] = []
        """The transactions that were made, each with its token."""

    def request(self) -> Request:
        kinds = {
            self.put: 4,
            self.update: 8,
            self.delete: 2,
            self.get: 2,
            self.query: 5,
            self.batch_get: 1,
            self.batch_write: 1,
            self.transaction: 4,
        }
        [draw] = self.rng.choices(list(kinds), list(kinds.values()))
        return draw()

    # operations

    def put(self) -> Request:
        return "put_item", self._put() | self._returns("ALL_OLD")

    def update(self) -> Request:
        return "update_item", self._update() | self._returns("ALL_OLD", "ALL_NEW")

    def delete(self) -> Request:
        return "delete_item", self._delete() | self._returns("ALL_OLD")

    def get(self) -> Request:
        table = self._table()
        return "get_item", {"TableName": table, "Key": self._key(table), "ConsistentRead": self._chance(0.5)}

    def batch_get(self) -> Request:
        table = self._table()
        keys = {key_of(key): key for key in (self._key(table) for _ in range(self.rng.randint(1, 6)))}
        return "batch_get_item", {"RequestItems": {table: {"Keys": list(keys.values()), "ConsistentRead": True}}}

    def batch_write(self) -> Request:
        table = self._table()
        writes = {}
        for _ in range(self.rng.randint(1, 5)):
            key = self._key(table)
            request: dict[str, Any] = {"DeleteRequest": {"Key": key}}
            if self._chance(0.7):
                request = {"PutRequest": {"Item": key | self._attributes()}}
            writes[key_of(key)] = request
        return "batch_write_item", {"RequestItems": {table: list(writes.values())}}

    def transaction(self) -> Request:
        draws = {"Put": self._put, "Update": self._update, "Delete": self._delete, "ConditionCheck": self._check}
        writes = {}
        for _ in range(self.rng.randint(1, 4)):
            kind = self.rng.choice(list(draws))
            request = draws[kind]()
            writes[request["TableName"], key_of(request.get("Key") or request["Item"])] = {kind: request}
        return "transact_write_items", self._with_token(list(writes.values()))

    def _with_token(self, writes: list[dict[str, Any]]) -> dict[str, Any]:
        """A transaction: a new one, or a repeated one, which may have other writes under the same token."""
        if self.moto:
            return {"TransactItems": writes}
        if self._transactions and self._chance(0.3):
            earlier = self.rng.choice(self._transactions[-10:])
            return earlier if self._chance(0.7) else {**earlier, "TransactItems": writes}
        # DynamoDB Local may remember the tokens of an earlier run
        self._transactions.append({"TransactItems": writes, "ClientRequestToken": secrets.token_hex(16)})
        return self._transactions[-1]

    def query(self) -> Request:
        bound = _Placeholders(self.rng)
        index = self.rng.choice([None, "all", "keys"])
        hash_name, range_name = {None: ("p", "s"), "all": ("g", "h"), "keys": ("g", "s")}[index]
        condition = f"{bound.name(hash_name)} = {bound.value({'S': self._letter()})}"
        if self._chance(0.6):
            condition += f" AND {self._range(bound, range_name)}"
        request: dict[str, Any] = {
            "TableName": RANGED,
            "KeyConditionExpression": condition,
            "ScanIndexForward": self._chance(0.5),
            "ConsistentRead": index is None and self._chance(0.5),
        }
        request |= {"IndexName": index} if index else {}
        request |= {"Limit": self.rng.randint(1, 4)} if self._chance(0.4) else {}
        request |= {"Select": "COUNT"} if self._chance(0.1) else {}
        if index != "keys" and self._chance(0.4):
            names = [name for name in ATTRIBUTES if name not in (hash_name, range_name)]
            request["FilterExpression"] = self._condition(bound, names)
        if index != "keys" and "Select" not in request and self._chance(0.3):
            shown = self.rng.sample(ATTRIBUTES, 2)
            request["ProjectionExpression"] = ", ".join(bound.name(name) for name in shown)
        return "query", request | self._placeholders(bound)

    def _range(self, bound: _Placeholders, name: str) -> str:
        path, values = bound.name(name), sorted(self._letter() for _ in range(2))
        low = bound.value({"S": values[0]})
        match self.rng.randrange(3):
            case 0:
                return f"{path} {self.rng.choice(['=', '<', '<=', '>', '>='])} {low}"
            case 1:
                return f"{path} BETWEEN {low} AND {bound.value({'S': values[1]})}"
            case _:
                return f"begins_with({path}, {low})"

    # writes, alone or in a transaction

    def _put(self) -> dict[str, Any]:
        table, bound = self._table(), _Placeholders(self.rng)
        item = self._key(table) | self._attributes()
        return {"TableName": table, "Item": item, **self._conditions(bound), **self._placeholders(bound)}

    def _delete(self) -> dict[str, Any]:
        table, bound = self._table(), _Placeholders(self.rng)
        return {"TableName": table, "Key": self._key(table), **self._conditions(bound), **self._placeholders(bound)}

    def _check(self) -> dict[str, Any]:
        table, bound = self._table(), _Placeholders(self.rng)
        request = {"TableName": table, "Key": self._key(table)}
        request |= {"ConditionExpression": self._condition(bound, ATTRIBUTES)}
        return request | self._placeholders(bound)

    def _update(self) -> dict[str, Any]:
        table, bound = self._table(), _Placeholders(self.rng)
        names = self.rng.sample(ATTRIBUTES, self.rng.randint(1, 4))
        sections: dict[str, list[str]] = {}
        for name in names:
            verb, term = self._action(bound, name)
            sections.setdefault(verb, []).append(term)
        request = {
            "TableName": table,
            "Key": self._key(table),
            "UpdateExpression": " ".join(f"{verb} {', '.join(terms)}" for verb, terms in sections.items()),
            **self._conditions(bound),
        }
        return request | self._placeholders(bound)

    def _action(self, bound: _Placeholders, name: str) -> tuple[str, str]:
        path, kind = bound.name(name), self._kind(name)
        if self._chance(0.2):
            return "REMOVE", path
        if kind == "N" and name not in INDEX_KEYS:
            number = bound.value({"N": self._number()})
            return self.rng.choice(
                [
                    ("ADD", f"{path} {number}"),
                    ("SET", f"{path} = {path} {self.rng.choice('+-')} {number}"),
                    ("SET", f"{path} = if_not_exists({path}, {number})"),
                ]
            )
        if kind == "SS" and name not in INDEX_KEYS and self._chance(0.7):
            return self.rng.choice(["ADD", "DELETE"]), f"{path} {bound.value(self._value(kind))}"
        if not self.moto and name not in INDEX_KEYS and self._chance(0.3):
            return "SET", f"{path} = {bound.name(self.rng.choice('abc'))}"
        return "SET", f"{path} = {bound.value(self._value(self._kind(name)))}"

    def _conditions(self, bound: _Placeholders) -> dict[str, Any]:
        if self._chance(0.3):
            return {}
        request = {"ConditionExpression": self._condition(bound, ATTRIBUTES)}
        if self._chance(0.5):
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return request

    # expressions

    def _condition(self, bound: _Placeholders, names: Sequence[str], depth: int = 2) -> str:
        if depth and self._chance(0.5):
            parts = [self._condition(bound, names, depth - 1) for _ in range(2)]
            shapes = ["({0}) AND {1}", "{0} OR ({1})", "{0} AND {1}", *(() if self.moto else ("NOT {0} OR {1}",))]
            ungrouped = (part[1:-1] if _is_grouped(part) else part for part in parts)
            shape: str = self.rng.choice(shapes)
            return shape.format(*ungrouped)
        return self._comparison(bound, self.rng.choice(names))

    def _comparison(self, bound: _Placeholders, name: str) -> str:
        path, kind = bound.name(name), self._kind(name)
        values = [self._value(kind) for _ in range(self.rng.randint(1, 3))]
        shapes: list[Callable[[], str]] = [
            lambda: f"attribute_exists({path})",
            lambda: f"attribute_not_exists({path})",
            lambda: f"{path} IN ({', '.join(map(bound.value, values))})",
            lambda: f"{path} {self.rng.choice(['=', '<>'])} {bound.value(values[0])}",
        ]
        if kind in ("S", "SS"):
            shapes.append(lambda: f"contains({path}, {bound.value({'S': self._letter()})})")
        if kind == "S":
            shapes.append(lambda: f"begins_with({path}, {bound.value(values[0])})")
        if kind in ("S", "N"):
            pair = [self._value(kind) for _ in range(2)]
            low, high = sorted(pair, key=lambda value: (int(value.get("N", 0)), str(value.get("S"))))
            shapes += [
                lambda: f"{path} {self.rng.choice(COMPARATORS)} {bound.value(values[0])}",
                lambda: f"{path} BETWEEN {bound.value(low)} AND {bound.value(high)}",
            ]
        return self.rng.choice(shapes)()

    def _placeholders(self, bound: _Placeholders) -> dict[str, Any]:
        names, values = dict(bound.names), dict(bound.values)
        if not self.moto and self._chance(0.03):  # an undefined or unused placeholder
            match self.rng.randrange(3):
                case 0 if values:
                    values.popitem()
                case 1:
                    values[":unused"] = {"S": "x"}
                case _:
                    names["#unused"] = "x"
        request: dict[str, Any] = {"ExpressionAttributeNames": names} if names else {}
        return request | ({"ExpressionAttributeValues": values} if values else {})

    # values

    def _table(self) -> str:
        return RANGED if self._chance(0.7) else PLAIN

    def _key(self, table: str) -> dict[str, Any]:
        if table == PLAIN:
            return {"id": {"S": self._letter()}}
        return {"p": {"S": self.rng.choice("xy")}, "s": {"S": self._letter()}}

    def _attributes(self) -> dict[str, Any]:
        names = self.rng.sample(ATTRIBUTES, self.rng.randint(0, 5))
        return {name: self._value(self._kind(name)) for name in names}

    def _kind(self, name: str) -> str:
        """The type of an attribute. Without ``moto``, an attribute that is no key has values of all types."""
        if name in INDEX_KEYS:
            return "S"
        kinds = {"a": "N", "b": "S", "c": "SS", "status": "BOOL"}
        return kinds[name] if self.moto else self.rng.choice(list(kinds.values()))

    def _value(self, kind: str) -> dict[str, Any]:
        match kind:
            case "S":
                return {"S": self._letter()}
            case "N":
                return {"N": self._number()}
            case "BOOL":
                return {"BOOL": self._chance(0.5)}
            case _:
                return {"SS": self._letters()}

    def _letter(self) -> str:
        return self.rng.choice(["x", "y", "xx", "xy", "z", "é"])

    def _letters(self) -> list[str]:
        return self.rng.sample(["x", "y", "z"], self.rng.randint(1, 3))

    def _number(self) -> str:
        return str(self.rng.randint(-2, 10))

    def _returns(self, *choices: str) -> dict[str, str]:
        return {"ReturnValues": self.rng.choice(["NONE", *choices])}

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share


class _Placeholders:
    """The placeholders of one request."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}

    def name(self, attribute: str) -> str:
        if attribute in ("a", "b") and self.rng.random() < 0.3:
            return attribute
        self.names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def value(self, value: dict[str, Any]) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder


def _is_grouped(text: str) -> bool:
    """Whether one pair of parentheses encloses the text: a second pair would be redundant."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for position, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and position < len(text) - 1:
            return False
    return True


def _schema(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def _definitions(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]
