"""The counts of an owner in a quarter of an hour."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from punctual.domain.statistics.ended import CountedEnd, Counts, add
from punctual.domain.status import Status

FAILURES = frozenset({Status.FAILED, Status.TIMED_OUT})
FAILED_SLOTS = 4
"""How many failed executions each part of a quarter names: the record of a quarter stays small."""


@dataclass(frozen=True)
class Quarter:
    counts: Counts = field(default_factory=dict)
    failed: Set[str] = frozenset()
    """Some of the executions that failed or timed out, the last one among them."""

    def __add__(self, other: Quarter) -> Quarter:
        return Quarter(add(self.counts, other.counts), self.failed | other.failed)


def quarter_of_ends(ends: Iterable[CountedEnd]) -> Quarter:
    """What ends of an owner add to their quarter of an hour. In each slot, the last failed execution stays."""
    quarter, slots = Quarter(), {}
    for end in sorted(ends, key=lambda one: one.ended.key):
        quarter += Quarter(end.of_owner)
        if end.ended.status in FAILURES:
            slots[slot_of(end.ended.execution_id)] = end.ended.execution_id
    return Quarter(quarter.counts, frozenset(slots.values()))


def slot_of(execution_id: str) -> int:
    """The slot in which a failed execution replaces an earlier one. Several processes may fill slots at once."""
    return zlib.crc32(execution_id.encode()) % FAILED_SLOTS
