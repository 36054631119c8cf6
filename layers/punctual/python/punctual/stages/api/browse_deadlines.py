"""Browse deadlines: list and count the live executions with a deadline, by state and by the instant of the deadline."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.deadline_outlook import BY_URGENCY, DeadlineState, danger_key_range
from punctual.domain.executions.execution import Execution
from punctual.domain.requests.execution_filter import ExecutionFilter
from punctual.domain.requests.page import (
    FETCH_SIZE,
    MAX_TOTAL,
    Page,
    Total,
    candidates,
    decode_cursor,
    page_of,
    response_size,
)
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.executions import DeadlineIndex


@dataclass(frozen=True, kw_only=True)
class DeadlineFilter:
    states: frozenset[DeadlineState] = frozenset()
    """Empty: all."""
    since: datetime | None = None
    """Of the deadline."""
    until: datetime | None = None
    """Exclusive."""
    executions: ExecutionFilter = field(default_factory=ExecutionFilter)
    """Further conditions, which no index has."""

    def __post_init__(self) -> None:
        if self.since and self.until and self.until < self.since:
            raise Invalid("to", "must not be before from: swap the two, or correct one of them")

    @property
    def sought(self) -> Sequence[DeadlineState]:
        """The states to list, the most urgent first."""
        return [state for state in BY_URGENCY if not self.states or state in self.states]

    def range_of(self, state: DeadlineState) -> tuple[str, str]:
        return danger_key_range(state, self.since, self.until)


@dataclass(frozen=True)
class BrowseDeadlines:
    """The index of deadlines is sorted by state and deadline, so state and time are ranges of it."""

    executions: DeadlineIndex

    def list(self, where: DeadlineFilter, limit: int, cursor: str | None) -> Page[Execution]:
        """List live executions that have a deadline: the most endangered first, then by nearest deadline."""
        after = decode_cursor(cursor) or ""
        positions = chain.from_iterable(self._positions(*where.range_of(state), after) for state in where.sought)
        keys = ((key, key.split("-", 2)[2]) for key in positions)
        size = limit if where.executions == ExecutionFilter() else FETCH_SIZE

        def matches(execution: Execution) -> bool:
            return execution.status not in FINAL and where.executions.matches(execution)

        found = candidates(keys, self.executions.fetch, matches, size)
        return page_of(found, limit, response_size)

    def endangered(self, limit: int) -> Sequence[Execution]:
        """The executions that are in danger, or have missed their deadline: the first ``limit`` of them."""
        missed, at_risk = danger_key_range(DeadlineState.MISSED), danger_key_range(DeadlineState.AT_RISK)
        ids = [key.split("-", 2)[2] for key in islice(self._positions(missed[0], at_risk[1], ""), limit)]
        found = self.executions.fetch(ids)
        return [found[one] for one in ids if one in found and found[one].status not in FINAL]

    def count(self, where: DeadlineFilter) -> dict[DeadlineState, int]:
        """Count the executions of each state in the time range of ``where``; no further than to ``MAX_TOTAL``."""
        return {state: self.executions.count_danger(*where.range_of(state), MAX_TOTAL) for state in BY_URGENCY}

    def total(self, where: DeadlineFilter, counts: Mapping[DeadlineState, int]) -> Total | None:
        """The length of the list by the ``counts`` of its states; ``None`` if a filter needs the executions."""
        if where.executions != ExecutionFilter():
            return None
        counted = [counts[state] for state in where.sought]
        is_exact = sum(counted) <= MAX_TOTAL and max(counted) < MAX_TOTAL
        return Total(min(sum(counted), MAX_TOTAL), is_exact=is_exact)

    def _positions(self, low: str, high: str, after: str) -> Iterator[str]:
        if max(low, after) >= high:
            return
        shards = self.executions.danger_keys(max(low, after), high)
        positions = heapq.merge(*(chain.from_iterable(pages) for pages in shards))
        yield from (position for position in positions if position > after)
