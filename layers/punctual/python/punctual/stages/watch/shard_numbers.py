"""Shard numbers: remove the numbers of shards under which nothing is left, so that fewer shards are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.shards import ShardNumber, is_unused

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.planning import Timers
    from punctual.ports.shards import Shards


@dataclass(frozen=True)
class ShardNumbers:
    shards: Shards
    timers: Timers
    used: int
    """The setting."""
    clock: Clock

    def tick(self) -> list[int]:
        """Remove the numbers that are no longer needed, and return them. Idempotent."""
        numbers, removed = dict(self.shards.numbers(consistent=True)), []
        for number, one in sorted(numbers.items(), reverse=True):
            others = [self.used, *(other for other in numbers if other != number)]
            if self._is_drained(number, max(others), one) and self.shards.remove(number, one):
                removed.append(number)
                del numbers[number]
        return removed

    def _is_drained(self, number: int, still_read: int, one: ShardNumber) -> bool:
        """Whether no function writes under a number, its timers were swept, and shards not read any more are empty."""
        if not is_unused(number, self.used, one, self.clock()):
            return False
        positions = (self.timers.swept_to(shard) for shard in range(number))
        are_swept = all(position is not None and position.at > one.until for position in positions)
        return are_swept and all(self.shards.is_empty(shard) for shard in range(still_read, number))
