"""Shards: how timers and index entries are spread, and which shards a tick examines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

MARGIN = timedelta(hours=1)
"""Longer than any function runs, and than clocks differ."""


class ShardNumber(NamedTuple):
    """A number of shards under which functions write."""

    until: datetime
    """Until when they may write under it. No timer under it is due later."""
    since: datetime | None = None
    """When it was stored, if other numbers were stored before it."""


def swept_since(shard: int, numbers: Mapping[int, ShardNumber]) -> datetime | None:
    """Return the instant before which a shard has no timers; ``None`` if that is not known.

    The shard may have been in use before. Its recorded position is from that time, perhaps months ago.
    """
    instants = [one.since for number, one in numbers.items() if number > shard]
    known = [since for since in instants if since is not None]
    return min(known) - MARGIN if known and len(known) == len(instants) else None


def is_unused(number: int, used: int, stored: ShardNumber, now: datetime) -> bool:
    """Whether no function writes under a number any more, and all timers under it are due. ``used`` is the setting."""
    return number != used and stored.until < now - MARGIN
