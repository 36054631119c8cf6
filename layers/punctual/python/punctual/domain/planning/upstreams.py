"""Which execution of an upstream a dependant waits for, and what its end, or its absence, means to it.

Of a job that runs once it is the only one. Of a recurring one it is the one with the same data window: so the weekly
report waits for the load of its own week, whenever in the week either of them is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import created_at, execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.data_window import DataWindow, WindowUnit
from punctual.domain.schedules.due_window import window_of
from punctual.domain.schedules.schedule import At, Now, Schedule
from punctual.domain.status import FINAL, Status

MOST_TRIED = 10
"""Due instants that are looked at for one window: the clocks may have moved one or two."""
LOOKED_AHEAD = 10
"""Due instants of a dependant, of which at least one has to find its window with the upstream."""
STORED_BY_THEN = timedelta(minutes=10)
"""A job that is not there this long after it got its id will not come any more."""
PLANNED_BY_THEN = timedelta(days=1)
"""Streams bring what they have to bring within a day: an execution that is not there by then will not come."""
SHORTEST_REST, LONGEST_REST = timedelta(minutes=5), timedelta(hours=1)


def due_of_window(schedule: Schedule, unit: WindowUnit | None, window: DataWindow) -> datetime | None:
    """The first due instant of a schedule whose data window is this one; ``None`` when it has none.

    A window ends at or before its due instant. Several may end together: where a calendar moves runs, one of them has
    the data of those that it stands for, too.
    """
    due = schedule.next_after(window.end - MILLISECOND)
    for _ in range(MOST_TRIED):
        found = window_of(schedule, due, unit) if due is not None else None
        if due is None or found is None:
            return None
        if found == window:
            return due
        if found.end > window.end:
            return None
        due = schedule.next_after(due)
    return None


def windows_agree(
    dependant: tuple[Schedule, WindowUnit | None], upstream: tuple[Schedule, WindowUnit | None], after: datetime
) -> bool:
    """Whether any of the dependant's next executions has its data window in common with one of the upstream's."""
    schedule, unit = dependant
    due = schedule.next_after(after)
    for _ in range(LOOKED_AHEAD):
        if due is None:
            return False
        window = window_of(schedule, due, unit)
        if window is not None and due_of_window(*upstream, window) is not None:
            return True
        due = schedule.next_after(due)
    return False


def due_for(upstream: Job, dependant: Execution) -> datetime | None:
    """The due instant of the upstream's execution that a dependant waits for; ``None`` when there is none."""
    if isinstance(upstream.schedule, Now | At):
        return upstream.schedule.at if dependant.once else None
    if dependant.window is None or not upstream.schedule.recurring:
        return None
    return due_of_window(upstream.schedule, upstream.window, dependant.window)


def numbered(an_execution_id: str, numbers: Iterable[int]) -> list[str]:
    """The ids that others of the same due instant have, if there are so many: retries, and repeats of a backfill."""
    return [f"{an_execution_id}-{number}" for number in numbers]


def latest_retry(an_execution_id: str, others: Iterable[Execution]) -> Execution | None:
    """Of ``others`` of the same due instant, in their order, the last that does it again, or does its retry again."""
    latest, line = None, {an_execution_id}
    for one in others:
        if one.retry_of in line:
            line.add(one.execution_id)
            latest = one
    return latest


class Answer(Enum):
    """Whether a dependant may start."""

    YES = "yes"
    NOT_YET = "not yet"
    NEVER = "never"


@dataclass(frozen=True)
class Ruling:
    answer: Answer
    reason: str = ""
    """Why it waits, or why it will not run."""


@dataclass(frozen=True)
class Upstream:
    """One of those that a dependant waits for, as it stands. ``None`` is what there is not, or not yet."""

    dependency: Dependency
    job: Job | None
    due: datetime | None = None
    execution: Execution | None = None
    """That of its due instant; or where that ended in vain and a person had it done again, the latest retry."""

    @property
    def execution_id(self) -> str | None:
        if self.execution is not None:
            return self.execution.execution_id
        return None if self.due is None else execution_id(self.dependency.job, self.due)

    @property
    def name(self) -> str:
        return self.job.name if self.job else self.dependency.job

    @property
    def ended(self) -> bool:
        return self.execution is not None and self.execution.status in FINAL

    @property
    def in_vain(self) -> bool:
        """Whether it ended otherwise than it had to."""
        return self.execution is not None and self.ended and not self._is_met_by(self.execution)

    def ruling(self, now: datetime) -> Ruling:
        if self.execution is None:
            return self._without_execution(now)
        if not self.ended:
            return self._waits()
        if self._is_met_by(self.execution):
            return Ruling(Answer.YES)
        gone = self.execution.status is Status.CANCELLED and self.job is not None and self.job.state in _GONE
        return self._never(str(self.job.state) if gone and self.job else str(self.execution.status).replace("_", " "))

    def _is_met_by(self, execution: Execution) -> bool:
        return self.dependency.condition.is_met_by(execution.status)

    def _without_execution(self, now: datetime) -> Ruling:
        job = self.job
        if job is None:
            young = now < created_at(self.dependency.job) + STORED_BY_THEN
            return self._waits() if young else self._never("deleted")
        if job.state in _GONE:
            return self._never(str(job.state))
        if self.due is None or (job.schedule.recurring and self.due < job.created_at - MILLISECOND):
            return self._never("has no execution of this window")
        if job.state is not JobState.PAUSED and max(self.due, job.updated_at) + PLANNED_BY_THEN < now:
            return self._never("has no execution of this window" if job.schedule.recurring else "has no execution")
        return self._waits()

    def _waits(self) -> Ruling:
        return Ruling(Answer.NOT_YET, f"waits for {self.name}" + (f": {self.execution_id}" if self.due else ""))

    def _never(self, what: str) -> Ruling:
        return Ruling(Answer.NEVER, f"upstream {what}: {self.name}" + (f" ({self.execution_id})" if self.due else ""))


_GONE = frozenset({JobState.DELETED, JobState.CANCELLED})


def ruling_of(upstreams: Sequence[Upstream], now: datetime) -> Ruling:
    """All have to say yes; a single never is enough."""
    rulings = [one.ruling(now) for one in upstreams]
    for ruling in rulings:
        if ruling.answer is Answer.NEVER:
            return ruling
    waits = [ruling.reason for ruling in rulings if ruling.answer is Answer.NOT_YET]
    if not waits:
        return Ruling(Answer.YES)
    return Ruling(Answer.NOT_YET, waits[0] + (f" and {len(waits) - 1} more" if len(waits) > 1 else ""))


def look_again_at(dependant: Execution, upstreams: Sequence[Upstream], now: datetime) -> datetime:
    """When to look again, should no word come.

    The end of an execution that is there is told. Of one that is not there yet it may not be, so the first look comes
    soon; the longer all that takes, the less often.
    """
    if all(one.execution is not None for one in upstreams):
        return now + LONGEST_REST
    return now + min(max((now - dependant.released_at) / 2, SHORTEST_REST), LONGEST_REST)
