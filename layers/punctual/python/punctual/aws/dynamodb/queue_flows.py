"""The flow of each queue in the signals table: one item with monotonic counters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.table import Table
from punctual.domain.forecasts.queue_flow import Flow, flow_of

_PREFIX = "flow#"
_LATEST = ("last_wait_ms", "last_started_at")
"""The last writer wins among processes: an older start may be stored until the next write."""


@dataclass(frozen=True)
class DynamoFlows:
    table: Table

    def add(self, queue: str, counted: Flow) -> None:
        """Add to the counters with one write unit. Not idempotent: adding a flow twice counts it twice."""
        fields = counted.to_fields()
        latest = {name: fields.pop(name) for name in _LATEST if name in fields}
        self.table.apply(self.table.update_request(_key(queue), set=latest, add=fields))

    def read(self, queues: Iterable[str]) -> dict[str, Flow]:
        """The total counts of each queue. A queue without counts is left out."""
        items = self.table.get_many(map(_key, queues), consistent=True)
        return {item["id"].removeprefix(_PREFIX): flow_of(item) for item in items}


def _key(queue: str) -> Item:
    return {"id": f"{_PREFIX}{queue}"}


if TYPE_CHECKING:
    from punctual.ports.monitoring import Flows

    _flows: type[Flows] = DynamoFlows
