"""Agenda: the executions that are due next, and the executions that are late.

Both read a bounded number of entries of indexes, however many executions there are: the late ones are looked for
where a backlog has them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import due_key, due_of
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Agenda
    from punctual.ports.jobs import JobIndex

MAX_NEXT = 20
MAX_EXAMINED = 100
"""The executions that are read from each place where late ones are looked for."""
MAX_LATE = 100
LATE_AFTER = timedelta(minutes=1)
"""How long after its earliest start an execution that has not started is late."""
UNSTARTED = frozenset({Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.STARTING})


@dataclass(frozen=True)
class Late:
    items: list[Execution]
    """The longest delay first."""
    examined_since: datetime | None
    """The due instant from which all were examined; ``None`` if all were."""


@dataclass(frozen=True)
class AgendaReader:
    jobs: JobIndex
    executions: Agenda
    clock: Clock

    def due_next(self) -> list[Execution]:
        """The planned executions that come due next, soonest first."""
        low = due_key(self.clock())
        sequences = [self.executions.ids_due_from(owner, low, MAX_NEXT) for owner in self.jobs.owners()]
        ids = list(islice(_merged(sequences), 2 * MAX_NEXT))
        found = self.executions.fetch(ids)
        live = [found[one] for one in ids if one in found and found[one].status not in FINAL]
        return live[:MAX_NEXT]

    def late(self, oldest_due: datetime | None) -> Late:
        """The unstarted executions among those that came due last and, in a backlog, first.

        ``oldest_due`` is the estimated due instant of the oldest message in the queues. Of executions that came due
        before the last ``MAX_EXAMINED``, only so many from that instant on are examined, and the oldest live ones of
        the long lane.
        """
        now = self.clock()
        owners, high = self.jobs.owners(), due_key(now - LATE_AFTER)
        sequences = [self.executions.ids_of_owner(owner, "", high) for owner in owners]
        newest = heapq.merge(*map(chain.from_iterable, sequences), reverse=True)
        ids = list(islice(newest, MAX_EXAMINED))
        is_partial = len(ids) == MAX_EXAMINED
        older = self._backlog(owners, oldest_due, ids[-1]) if is_partial else []
        found = self.executions.fetch([*ids, *older])
        late = [one for one in found.values() if one.status in UNSTARTED and one.earliest_start < now - LATE_AFTER]
        late.sort(key=lambda one: one.earliest_start)
        return Late(late[:MAX_LATE], due_of(ids[-1]) if is_partial else None)

    def _backlog(self, owners: list[str], oldest_due: datetime | None, before: str) -> list[str]:
        """Executions that came due before the execution ``before``, where the oldest unstarted ones are expected."""
        low = due_key(oldest_due) if oldest_due else before
        due_since = [self.executions.ids_due_from(owner, low, MAX_EXAMINED) for owner in owners] if low < before else []
        oldest = [islice(_merged(sequences), MAX_EXAMINED) for sequences in (due_since, self.executions.ids_long())]
        return sorted({one for one in chain.from_iterable(oldest) if one < before})


def _merged(sequences: Iterable[Iterator[list[str]]]) -> Iterator[str]:
    return heapq.merge(*map(chain.from_iterable, sequences))
