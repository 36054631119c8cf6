"""The dependants waiting for the end of an upstream execution, stored in the gates table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.table import Table


@dataclass(frozen=True)
class DynamoDependants:
    table: Table
    retention: timedelta

    def register(self, dependant: str, upstream: str, now: datetime) -> None:
        expires_at = int((now + self.retention).timestamp())
        self.table.put({"gate": _gate(upstream), "entry": dependant, "expires_at": expires_at})

    def of(self, upstream: str) -> Iterator[str]:
        for page in self.table.query("#gate = :gate", {"gate": _gate(upstream)}, only=["entry"], consistent=True):
            for item in page:
                yield item["entry"]


def _gate(execution_id: str) -> str:
    return f"end#{execution_id}"


if TYPE_CHECKING:
    from punctual.ports.dependencies import Dependants

    _dependants: type[Dependants] = DynamoDependants
