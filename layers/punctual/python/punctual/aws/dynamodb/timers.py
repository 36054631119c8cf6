"""The timers table: the wheel, and beside it how far each shard was swept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import Table
from punctual.domain.errors import Unreadable
from punctual.domain.executions.timer import Reached, Timer, TimerReason, shard_of, slot_of, slots_between
from punctual.domain.instant import from_text, to_text

PATIENCE = timedelta(hours=1)
"""How long after its instant a timer lives. When TTL then removes it, the planner looks whether it did its duty."""

PAGE = 200
"""How many timers are swept before the position is recorded: a crash repeats no more than these."""


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

    def reached(self, shard: int) -> Reached | None:
        item = self.table.get(_checkpoint(shard), consistent=True)
        return None if item is None else Reached(at=from_text(item["swept_to"]), position=item.get("position", ""))

    def due(self, shard: int, since: Reached, until: datetime) -> Iterator[tuple[list[Timer], Reached]]:
        lowest, highest = max(since.position, to_text(since.at)), f"{to_text(until)}~"
        for slot, end in slots_between(since.at, until, shard):
            condition = "#slot = :slot AND #due BETWEEN :lowest AND :highest"
            values = {"slot": slot, "lowest": lowest, "highest": highest}
            for page in self.table.query(condition, values, consistent=True, page_size=PAGE):
                if timers := [item_to_timer(item) for item in page if item["due"] > since.position]:
                    yield timers, Reached(at=timers[-1].at, position=timers[-1].position)
            yield [], Reached(at=min(end, until))

    def advance(self, shard: int, to: Reached) -> None:
        self.table.put({**_checkpoint(shard), "swept_to": instant_text(to.at), "position": to.position or None})


def item_to_timer(item: Item) -> Timer:
    """Raises ``Unreadable`` for an item that is not a timer."""
    try:
        at, execution_id, reason = item["due"].split("#")
        return Timer(at=from_text(at), job_id=item["job_id"], execution_id=execution_id, reason=TimerReason(reason))
    except (KeyError, ValueError) as error:
        raise Unreadable(f"not a timer: {type(error).__name__}: {error}") from error


def _checkpoint(shard: int) -> Item:
    return {"slot": "checkpoint", "due": f"shard-{shard}"}
