"""DynamoDB items as plain dictionaries of strings, integers, booleans, bytes and string sets.

Nested structures are stored as JSON text: floats keep their type, and items stay flat and small.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from punctual.domain.instant import from_text, to_text

Item = dict[str, Any]


def typed(item: Mapping[str, Any]) -> Item:
    """Add DynamoDB's type tags. Values that are ``None`` are left out. Raises ``TypeError`` for other types."""
    return {name: _tag(value) for name, value in item.items() if value is not None}


def plain(item: Mapping[str, Any]) -> Item:
    """Remove DynamoDB's type tags, of items and of stream images."""
    return {name: _untag(value) for name, value in item.items()}


def to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def from_json(text: str | None, default: Any = None) -> Any:
    return default if text is None else json.loads(text)


def instant_text(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)


def instant_of(text: str | None) -> datetime | None:
    return None if text is None else from_text(text)


def _tag(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, str):
        return {"S": str(value)}
    if isinstance(value, bytes):
        return {"B": value}
    if isinstance(value, frozenset):
        return {"SS": sorted(value)}
    raise TypeError(f"{type(value).__name__} cannot be stored in an item: convert it with to_json")


def _untag(tagged: Mapping[str, Any]) -> Any:
    [(tag, value)] = tagged.items()
    if tag == "N":
        return int(value)
    return frozenset(value) if tag == "SS" else value
