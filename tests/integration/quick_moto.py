"""Moto asks of each attribute of an item for ten types, in six spellings each. Here it takes what is there."""

from __future__ import annotations

from typing import Any

import pytest
from moto.core.serialize import BaseJSONSerializer


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    thorough = BaseJSONSerializer._serialize

    def quick(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name == "AttributeValue" and type(value) is dict and not {"B", "BS"} & value.keys():
            serialized[key] = value
        else:
            thorough(self, serialized, value, shape, key)

    monkeypatch.setattr(BaseJSONSerializer, "_serialize", quick)
