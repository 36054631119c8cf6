"""Agenda: the executions that are due next, and the executions that are late.

Both read a bounded number of entries of the index of owners around now, however many executions there are.
"""

from __future__ import annotations

import heapq
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
"""The executions that came due last, among which the late ones are looked for."""
LATE_AFTER = timedelta(minutes=1)
"""How long after its earliest start an execution that has not started is late."""
UNSTARTED = frozenset({Status.SCHEDULED, Status.QUEUED, Status.WAITING, Status.STARTING})


@dataclass(frozen=True)
class Late:
    items: list[Execution]
    """The longest delay first."""
    examined_since: datetime | None
    """The due instant of the first examined execution; ``None`` if all were."""


@dataclass(frozen=True)
class AgendaReader:
    jobs: JobIndex
    executions: Agenda
    clock: Clock

    def due_next(self) -> list[Execution]:
        """The planned executions that come due next, soonest first."""
        low = due_key(self.clock())
        sequences = [self.executions.ids_due_from(owner, low, MAX_NEXT) for owner in self.jobs.owners()]
        ids = list(islice(heapq.merge(*map(chain.from_iterable, sequences)), 2 * MAX_NEXT))
        found = self.executions.fetch(ids)
        live = [found[one] for one in ids if one in found and found[one].status not in FINAL]
        return live[:MAX_NEXT]

    def late(self) -> Late:
        """The unstarted executions among the last ``MAX_EXAMINED`` that came due."""
        now = self.clock()
        owners, high = self.jobs.owners(), due_key(now - LATE_AFTER)
        sequences = [self.executions.ids_of_owner(owner, "", high) for owner in owners]
        newest = heapq.merge(*map(chain.from_iterable, sequences), reverse=True)
        ids = list(islice(newest, MAX_EXAMINED))
        found = self.executions.fetch(ids)
        late = [one for one in found.values() if one.status in UNSTARTED and one.earliest_start < now - LATE_AFTER]
        is_partial = len(ids) == MAX_EXAMINED
        return Late(sorted(late, key=lambda one: one.earliest_start), due_of(ids[-1]) if is_partial else None)
