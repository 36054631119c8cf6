"""The numbers of shards in use: an item of the executions table, so that every function can read it.

Timers and index entries contain a shard, of which there are ``timer_shards``. While this setting changes, functions
write under the former and the new number side by side, and what was written under the former stays. So a function
stores its number before it writes under it, with an instant: until then it may write, and no timer under this number is
due later. Readers read as many shards as the largest number that is stored. The monitor removes a number that is no
longer used when nothing under it is left. docs/adr/0009-stored-numbers-of-shards.md argues why nothing is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item, instant_text
from punctual.aws.dynamodb.table import Table
from punctual.domain.executions.timer import shard_of
from punctual.domain.instant import from_text
from punctual.domain.shards import MARGIN, ShardNumber

KEY: Item = {"job_id": "#shards", "execution_id": "#shards"}
UNTIL, SINCE = "until_", "since_"

SHARDED = {"running": "running_shard", "long": "long_shard", "checks": "check_shard", "deadlines": "deadline_shard"}
"""The indexes of the executions table whose keys contain a shard."""

RENEWED_FOR = timedelta(days=1)
"""A number is stored for so much longer than needed, so that a process reads it once a day."""


@dataclass
class DynamoShards:
    executions: Table
    number: int
    """The setting of this function."""
    clock: Callable[[], datetime]
    _stored_until: datetime | None = None

    def of(self, execution_id: str, until: datetime | None = None) -> int:
        """Return the shard of a timer due at ``until``, or of an index entry that is written now."""
        needed = max(filter(None, (until, self.clock()))) + MARGIN
        if self._stored_until is None or self._stored_until < needed:
            self._stored_until = self._store(needed)
        return shard_of(execution_id, self.number)

    def count(self, *, consistent: bool = False) -> int:
        """Return how many shards have to be read."""
        return max([self.number, *self.numbers(consistent=consistent)])

    def numbers(self, *, consistent: bool = False) -> Mapping[int, ShardNumber]:
        """Return the numbers that are stored."""
        item = self.executions.get(KEY, consistent=consistent) or {}
        untils = {name.removeprefix(UNTIL): from_text(value) for name, value in item.items() if name.startswith(UNTIL)}
        return {int(one): ShardNumber(until, _instant(item, f"{SINCE}{one}")) for one, until in untils.items()}

    def is_empty(self, shard: int) -> bool:
        """Whether no index has an entry of the shard. Eventually consistent."""
        for index, name in SHARDED.items():
            pages = self.executions.query(f"#{name} = :shard", {"shard": str(shard)}, index=index, page_size=1)
            if next(pages):
                return False
        return True

    def remove(self, number: int, seen: ShardNumber) -> bool:
        """Remove a number, unless a function has stored it again since it was read."""
        until = f"{UNTIL}{number}"
        condition, values = f"#{until} = :seen", {"seen": instant_text(seen.until)}
        return self.executions.update(
            KEY, set={}, remove=[until, f"{SINCE}{number}"], condition=condition, values=values
        ).applied

    def _store(self, needed: datetime) -> datetime:
        stored = self.numbers(consistent=True)
        mine = stored.get(self.number)
        if mine is not None and mine.until >= needed:
            return mine.until
        until, name = needed + RENEWED_FOR, f"{UNTIL}{self.number}"
        # the first number of a stack has no ``since``: its shards may have been swept before it was stored
        since = {f"{SINCE}{self.number}": instant_text(self.clock())} if stored and mine is None else {}
        self.executions.update(
            KEY,
            set={name: instant_text(until), **since},
            condition=f"attribute_not_exists(#{name}) OR #{name} < :until",
            values={"until": instant_text(until)},
        )
        return until  # if the condition has failed, it is stored for longer


def _instant(item: Item, name: str) -> datetime | None:
    return from_text(item[name]) if name in item else None


if TYPE_CHECKING:
    from punctual.ports.shards import Shards

    _shards: type[Shards] = DynamoShards
