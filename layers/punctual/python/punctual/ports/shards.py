"""Port to the numbers of shards in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from punctual.domain.shards import ShardNumber


class Shards(Protocol):
    """The numbers of shards under which timers and index entries are stored."""

    def count(self, *, consistent: bool = False) -> int:
        """Return how many shards have to be read."""

    def numbers(self, *, consistent: bool = False) -> Mapping[int, ShardNumber]:
        """Return the numbers that are stored."""

    def is_empty(self, shard: int) -> bool:
        """Whether no index has an entry of the shard. The read is eventually consistent."""

    def remove(self, number: int, seen: ShardNumber) -> bool:
        """Remove a number; ``False`` if a function has stored it again since it was read."""
