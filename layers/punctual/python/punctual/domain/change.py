"""What a change would do, worked out before it is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from punctual.domain.execution import Planned
from punctual.domain.identity import execution_id
from punctual.domain.job import Job, JobState

AHEAD = 10
"""How many of the coming executions are shown."""
MOST_SHOWN = 1000


@dataclass(frozen=True)
class Foreseen:
    execution_id: str
    scheduled_at: datetime
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Executions that would appear, the next few of them; that would vanish; and that would repeat what was done."""

    appear: tuple[Foreseen, ...] = ()
    vanish: tuple[Foreseen, ...] = ()
    repeat: tuple[Foreseen, ...] = ()


def coming(job: Job, after: datetime, now: datetime) -> list[Foreseen]:
    """The executions that planning from ``after`` on would bring: all that went by, and the next few."""
    instants: list[datetime] = []
    ahead = 0
    due = job.schedule.next_after(after) if job.state is JobState.ACTIVE else None
    while due is not None and ahead < AHEAD and len(instants) < MOST_SHOWN:
        instants.append(due)
        ahead += due > now
        due = job.schedule.next_after(due)
    sorted_out = job.misfire.sort_out(instants, job.schedule, now, job.resumed_at)
    notes = dict.fromkeys(sorted_out.missed, "missed") | dict.fromkeys(
        sorted_out.covered, "skipped: a later one covers it"
    )
    return [Foreseen(execution_id(job.job_id, due), due, notes.get(due)) for due in instants]


def foreseen(planned: Iterable[Planned], note: str | None = None) -> tuple[Foreseen, ...]:
    shown = (Foreseen(one.execution_id, one.scheduled_at, note or str(one.status)) for one in planned)
    return tuple(sorted(islice(shown, MOST_SHOWN), key=lambda one: one.execution_id))
