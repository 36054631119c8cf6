"""Speed-up of moto's JSON serializer.

For each attribute of an item, moto tries ten types in six spellings each. The replacement copies the value as it is.
"""

from __future__ import annotations

from typing import Any

import pytest
from moto.core.serialize import BaseJSONSerializer


def speed_up_serialization(monkeypatch: pytest.MonkeyPatch) -> None:
    original = BaseJSONSerializer._serialize

    def fast(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name == "AttributeValue" and type(value) is dict and not {"B", "BS"} & value.keys():
            serialized[key] = value
        else:
            original(self, serialized, value, shape, key)

    monkeypatch.setattr(BaseJSONSerializer, "_serialize", fast)
