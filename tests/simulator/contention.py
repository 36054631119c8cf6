"""Follows which processes write, because a process gives up at a gate only if others keep changing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

from punctual.domain.errors import GateContention
from tests.simulator.kernel import Process
from tests.simulator.observer import Observer


@dataclass
class ContentionObserver:
    observer: Observer
    _written: Counter[Process | None] = field(default_factory=Counter)
    """How many items each process has changed."""
    _written_before: dict[Process | None, int] = field(default_factory=dict)
    """How many items all processes had changed at the first request of a process."""
    _seen: int = 0

    @contextmanager
    def observed(self) -> Iterator[None]:
        def raised(_: GateContention, *texts: object) -> None:
            self._gave_up(str(texts))

        with mock.patch.object(GateContention, "__init__", raised):
            yield

    def before_call(self) -> None:
        self._written_before.setdefault(self.observer.kernel.current, self._total())

    def after_call(self) -> None:
        total = self._total()
        self._written[self.observer.kernel.current] += total - self._seen
        self._seen = total

    def _gave_up(self, why: str) -> None:
        process = self.observer.kernel.current
        self.observer.coverage.counts["gate contention"] += 1
        if self._total() - self._written_before[process] == self._written[process]:
            self.observer.violated(f"{process.name if process else ''} gave up although it was alone: {why}")

    def _total(self) -> int:
        return sum(len(table.history) for table in self.observer.account.dynamodb.tables.values())
