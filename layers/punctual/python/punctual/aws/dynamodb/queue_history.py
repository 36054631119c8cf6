"""The history of the queues in the signals table: ``history#<hour>`` with the points of all queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item, from_json, to_json
from punctual.aws.dynamodb.table import Table
from punctual.domain.forecasts.queue_history import COMPARED_DAYS, Hour, Point
from punctual.domain.instant import from_text, to_text

_PREFIX = "history#"
KEPT = timedelta(days=COMPARED_DAYS + 1)


@dataclass(frozen=True)
class DynamoQueueHours:
    table: Table

    def read(self, hours: Iterable[datetime]) -> Sequence[Hour]:
        return [_hour(item) for item in self.table.get_many(_key(at) for at in hours)]

    def store(self, at: datetime, hour: Hour) -> None:
        queues = {queue: [_entry(point, at) for point in points] for queue, points in hour.items()}
        self.table.put({**_key(at), "queues": to_json(queues), "expires_at": int((at + KEPT).timestamp())})


def _key(at: datetime) -> Item:
    return {"id": f"{_PREFIX}{to_text(at)}"}


def _entry(point: Point, hour: datetime) -> list[Any]:
    minute = (point.at - hour) // timedelta(minutes=1)
    return [minute, point.depth, point.samples, round(point.arrived, 2), round(point.finished, 2)]


def _hour(item: Item) -> Hour:
    at = from_text(item["id"].removeprefix(_PREFIX))
    return {queue: [_point(entry, at) for entry in entries] for queue, entries in from_json(item["queues"]).items()}


def _point(entry: list[Any], hour: datetime) -> Point:
    minute, depth, samples, arrived, finished = entry
    return Point(at=hour + timedelta(minutes=minute), depth=depth, samples=samples, arrived=arrived, finished=finished)


if TYPE_CHECKING:
    from punctual.ports.queue_history import QueueHours

    _queue_hours: type[QueueHours] = DynamoQueueHours
