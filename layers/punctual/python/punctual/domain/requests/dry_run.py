"""What a change would do, worked out before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from punctual.domain.executions.execution import Planned
from punctual.domain.identity import execution_id
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.jobs.misfire import Withdrawn
from punctual.domain.planning.missed_instants import LATEST, went_by
from punctual.domain.planning.replan import Replan

AHEAD = 10
"""How many of the coming executions are shown."""
MOST_SHOWN = LATEST + AHEAD


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
    left_out: int = 0
    """How many more there are than are shown."""

    def shortened(self) -> Changes:
        """With no more of each than can be shown."""
        shown = replace(
            self, appear=self.appear[:MOST_SHOWN], vanish=self.vanish[:MOST_SHOWN], repeat=self.repeat[:MOST_SHOWN]
        )
        return replace(shown, left_out=self.left_out + self._size - shown._size)

    @property
    def _size(self) -> int:
        return len(self.appear) + len(self.vanish) + len(self.repeat)


def coming(job: Job, after: datetime, now: datetime) -> list[Foreseen]:
    """The executions that planning from ``after`` on, which is just before ``now``, would bring: the next few."""
    return [_of(job, due) for due in _ahead(job, after, now)]


def resumed(job: Job, after: datetime, now: datetime, withdrawn: Withdrawn) -> Changes:
    """What resuming a job would bring that was planned up to ``after``: the latest that went by, and the next few."""
    latest, before = went_by(job.schedule, after, now)
    instants = [*latest, *_ahead(job, max(after, now), now)]
    return Changes(appear=tuple(_sorted_out(job, instants, now, withdrawn)), left_out=before)


def left_behind(job: Job, after: datetime, now: datetime, note: str) -> Changes:
    """What a job that was planned up to ``after`` leaves on record when it goes: what went by."""
    latest, before = went_by(job.schedule, after, now)
    return Changes(appear=tuple(_of(job, due, note) for due in latest), left_out=before)


def made_up(job: Job, plan: Replan, now: datetime, withdrawn: Withdrawn) -> list[Foreseen]:
    """What became due before an edit and nobody had come to, in order: what is dropped, and what the new rules do."""
    late = [due for due in plan.kept if due not in plan.in_time]
    dropped = [_of(job, due, "skipped: job changed") for due in plan.dropped]
    return sorted([*dropped, *_sorted_out(job, late, now, withdrawn)], key=lambda one: one.scheduled_at)


def foreseen(planned: Iterable[Planned], note: str | None = None) -> tuple[Foreseen, ...]:
    shown = (Foreseen(one.execution_id, one.scheduled_at, note or str(one.status)) for one in planned)
    return tuple(sorted(shown, key=lambda one: one.execution_id))


def _sorted_out(job: Job, instants: Sequence[datetime], now: datetime, withdrawn: Withdrawn) -> list[Foreseen]:
    """With what becomes of those that went by, by the job's misfire rule."""
    sorted_out = job.misfire.sort_out(instants, job.schedule, now, job.resumed_at, withdrawn=withdrawn)
    notes = dict.fromkeys(sorted_out.missed, "missed") | dict.fromkeys(
        sorted_out.covered, "skipped: a later one covers it"
    )
    return [_of(job, due, notes.get(due)) for due in instants]


def _of(job: Job, due: datetime, note: str | None = None) -> Foreseen:
    return Foreseen(execution_id(job.job_id, due), due, note)


def _ahead(job: Job, after: datetime, now: datetime) -> list[datetime]:
    instants: list[datetime] = []
    ahead = 0
    due = job.schedule.next_after(after) if job.state is JobState.ACTIVE else None
    while due is not None and ahead < AHEAD and len(instants) < MOST_SHOWN:
        instants.append(due)
        ahead += due > now
        due = job.schedule.next_after(due)
    return instants
