"""Speed-up of moto and botocore: the JSON serializer, the backups of transactions, and constants.

For each attribute of an item, moto tries ten types in six spellings each. The replacement copies the value as it is.
For each write of a transaction, moto copies the whole table with all values. The replacement copies it once per
transaction, and shares the values that no update changes in place. For each request, moto inspects the class that
answers it and botocore spells the user agent; the replacements do so once.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from functools import cache
from typing import Any

import pytest
from botocore.useragent import UserAgentString
from moto.core import responses
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.sqs import models as sqs_models

NEVER_CHANGED = ("S", "BOOL", "NULL")


def speed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    original = BaseJSONSerializer._serialize

    def fast(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name == "AttributeValue" and type(value) is dict and not {"B", "BS"} & value.keys():
            serialized[key] = value
        else:
            original(self, serialized, value, shape, key)

    monkeypatch.setattr(BaseJSONSerializer, "_serialize", fast)
    monkeypatch.setattr(DynamoDBBackend, "transact_write_items", _transact)
    monkeypatch.setattr(responses, "method_names_from_class", _method_names)
    monkeypatch.setattr(responses, "camelcase_to_underscores", _underscores)
    monkeypatch.setattr(sqs_models, "camelcase_to_underscores", _underscores)
    monkeypatch.setattr(UserAgentString, "to_string", lambda _: "tests")
    monkeypatch.setattr(Table, "__deepcopy__", lambda table, _memo: _backup_of(table), raising=False)


_method_names = cache(responses.method_names_from_class)
_underscores = cache(responses.camelcase_to_underscores)
_transact_in_moto = DynamoDBBackend.transact_write_items
_backups: dict[str, Table] = {}
"""The backups of the current transaction: moto asks for one per write, and needs one per table."""


def _transact(self: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    _backups.clear()
    try:
        _transact_in_moto(self, transact_items)
    finally:
        _backups.clear()


def _backup_of(table: Table) -> Table:
    if table.name not in _backups:
        _backups[table.name] = copy_of_table(table)
    return _backups[table.name]


def copy_of_table(table: Table) -> Table:
    """A copy of the table that no write to the table changes."""
    backup = copy.copy(table)
    items = {key: _copy_of(found) for key, found in table.items.items()}
    backup.items = defaultdict(dict, items)
    if table.stream_shard:
        backup.stream_shard = copy.copy(table.stream_shard)
        backup.stream_shard.items = list(table.stream_shard.items)
        backup.stream_shard.table = backup
    return backup


def _copy_of(found: Any) -> Any:
    """A copy of an item, or of all items with one partition key."""
    if not isinstance(found, Item):
        return {key: _copy_of(item) for key, item in found.items()}
    item = copy.copy(found)
    item.attrs = LimitedSizeDict()
    values = {name: _copy_of_value(value) for name, value in found.attrs.items()}
    dict.update(item.attrs, values)  # without checking the size of the item again
    return item


def _copy_of_value(value: DynamoType) -> DynamoType:
    """A copy that no update of the item changes: moto adds to numbers and containers in place."""
    if value.type in NEVER_CHANGED:
        return value
    return copy.deepcopy(value) if isinstance(value.value, dict | list | set) else copy.copy(value)
