"""The timers table: the wheel, and beside it how far each shard was swept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.aws.items import Item, instant_text
from punctual.aws.table import Table
from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text
from punctual.domain.timer import Timer, TimerReason, shard_of, slot_of, slots_between

PATIENCE = timedelta(hours=1)
"""How long after its instant a timer lives. When TTL then removes it, the planner looks whether it did its duty."""


@dataclass(frozen=True)
class DynamoTimers:
    table: Table
    shards: int

    def set(self, timer: Timer) -> None:
        self.table.put(
            {
                "slot": slot_of(timer.at, shard_of(timer.execution_id, self.shards)),
                "due": timer.position,
                "job_id": timer.job_id,
                "expires_at": int((timer.at + PATIENCE).timestamp()),
            }
        )

    def position(self, shard: int) -> tuple[datetime, str] | None:
        item = self.table.get(_checkpoint(shard), consistent=True)
        return None if item is None else (from_text(item["swept_to"]), item.get("position", ""))

    def due(self, shard: int, since: datetime, after: str, until: datetime) -> Iterator[list[Timer]]:
        lowest, highest = max(after, to_text(since)), f"{to_text(until)}~"
        for slot in slots_between(since, until, shard):
            condition = "#slot = :slot AND #due BETWEEN :lowest AND :highest"
            values = {"slot": slot, "lowest": lowest, "highest": highest}
            for page in self.table.query(condition, values, consistent=True):
                if timers := [item_to_timer(item) for item in page if item["due"] > after]:
                    yield timers

    def advance(self, shard: int, swept_to: datetime, position: str) -> None:
        self.table.put({**_checkpoint(shard), "swept_to": instant_text(swept_to), "position": position or None})


def item_to_timer(item: Item) -> Timer:
    """Raises ``Unreadable`` for an item that is not a timer."""
    try:
        at, execution_id, reason = item["due"].split("#")
        return Timer(at=from_text(at), job_id=item["job_id"], execution_id=execution_id, reason=TimerReason(reason))
    except (KeyError, ValueError) as error:
        raise Unreadable(f"not a timer: {type(error).__name__}: {error}") from error


def _checkpoint(shard: int) -> Item:
    return {"slot": "checkpoint", "due": f"shard-{shard}"}
