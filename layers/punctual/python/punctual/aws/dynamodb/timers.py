"""The timers table: the timer wheel, and the sweep position of each shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.shards import DynamoShards
from punctual.aws.dynamodb.table import Table
from punctual.domain.errors import Unreadable
from punctual.domain.executions.timer import SweepPosition, Timer, TimerReason, buckets_between, timer_bucket
from punctual.domain.instant import from_text, to_text

EXPIRY_DELAY = timedelta(hours=1)
"""How long after its instant a timer expires. When TTL removes it, the planner checks that the timer was handled."""

TIMERS_PER_PAGE = 200
"""Timers swept between two records of the position: a crash repeats at most these."""


@dataclass(frozen=True)
class DynamoTimers:
    table: Table
    shards: DynamoShards

    def set(self, timer: Timer) -> None:
        self.table.put(
            {
                "bucket": timer_bucket(timer.at, self.shards.of(timer.execution_id, timer.at)),
                "due": timer.position,
                "job_id": timer.job_id,
                "expires_at": int((timer.at + EXPIRY_DELAY).timestamp()),
            }
        )

    def swept_to(self, shard: int) -> SweepPosition | None:
        item = self.table.get(_position_key(shard), consistent=True)
        if item is None:
            return None
        return SweepPosition(at=from_text(item["swept_to"]), position=item.get("position", ""), ticks=item.get("ticks"))

    def due(self, shard: int, since: SweepPosition, until: datetime) -> Iterator[tuple[list[Timer], SweepPosition]]:
        lowest, highest = max(since.position, to_text(since.at)), f"{to_text(until)}~"
        for bucket, end in buckets_between(since.at, until, shard):
            condition = "#bucket = :bucket AND #due BETWEEN :lowest AND :highest"
            values = {"bucket": bucket, "lowest": lowest, "highest": highest}
            for page in self.table.query(condition, values, consistent=True, page_size=TIMERS_PER_PAGE):
                if timers := [item_to_timer(item) for item in page if item["due"] > since.position]:
                    yield timers, SweepPosition(at=timers[-1].at, position=timers[-1].position)
            yield [], SweepPosition(at=min(end, until))

    def advance(self, shard: int, to: SweepPosition) -> None:
        swept = {"swept_to": instant_text(to.at), "position": to.position or None, "ticks": to.ticks}
        self.table.put({**_position_key(shard), **swept})


def item_to_timer(item: Item) -> Timer:
    """Raises ``Unreadable`` if the item is not a timer."""
    try:
        at, execution_id, reason = item["due"].split("#")
        return Timer(at=from_text(at), job_id=item["job_id"], execution_id=execution_id, reason=TimerReason(reason))
    except (KeyError, ValueError) as error:
        raise Unreadable(f"not a timer: {type(error).__name__}: {error}") from error


def _position_key(shard: int) -> Item:
    return {"bucket": "sweep", "due": f"shard-{shard}"}


if TYPE_CHECKING:
    from punctual.ports.planning import Timers

    _timers: type[Timers] = DynamoTimers
