"""The flow of each queue in the signals table: one item, whose counters only grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.table import Table
from punctual.domain.forecasts.queue_flow import Flow, flow_of

_PREFIX = "flow#"
_LATEST = ("last_wait_ms", "last_started_at")
"""Of several processes, whichever told last: an older start may stand there for a while."""


@dataclass(frozen=True)
class DynamoFlows:
    table: Table

    def add(self, queue: str, counted: Flow) -> None:
        """One write unit. Adding the same again counts it twice."""
        fields = counted.to_fields()
        latest = {name: fields.pop(name) for name in _LATEST if name in fields}
        self.table.apply(self.table.change(_key(queue), set=latest, add=fields))

    def read(self, queues: Iterable[str]) -> dict[str, Flow]:
        """All that was ever counted of each."""
        items = self.table.get_many(map(_key, queues), consistent=True)
        return {item["id"].removeprefix(_PREFIX): flow_of(item) for item in items}


def _key(queue: str) -> Item:
    return {"id": f"{_PREFIX}{queue}"}
