"""What an edit makes of that which had come due by then, and of what was planned ahead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.executions.execution import Planned
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import Job, JobState
from punctual.domain.schedules.jitter import delay
from punctual.domain.status import Status


@dataclass(frozen=True, kw_only=True)
class Replan:
    """Until the edit. From then on the new rules say what is due."""

    outdated: tuple[Planned, ...]
    """Planned under the old rules, and not started."""
    kept: tuple[datetime, ...] = ()
    """What had come due and the new rules know, too: in order."""
    in_time: frozenset[datetime] = frozenset()
    """Those of them that were on their way already, or waited for others: no misfire."""
    dropped: tuple[datetime, ...] = ()
    """What had come due, and nobody had come to; the new rules do not know it."""

    def gone(self, instants: Iterable[datetime]) -> list[Planned]:
        """What was planned for neither of these, nor for any that is kept."""
        stay = {*self.kept, *instants}
        return [one for one in self.outdated if one.scheduled_at not in stay]


def replan(job: Job, was: Job | None, planned: Iterable[Planned], last_planned: datetime | None) -> Replan:
    """``planned`` is what lives of ``job``, ``last_planned`` its last due instant on record, up to ``planned_until``.

    ``was`` is the job before the edit, if that is known. What a person asked for stays as they asked for it, and what a
    message brought as it came. Of a job that is paused, what came due meanwhile waits for it to be resumed, if it still
    has the schedule that it is due by.
    """
    outdated = tuple(
        one for one in planned if one.revision < job.revision and one.is_of_an_instant and one.has_not_started
    )
    until, paused = edited_until(job), job.state is JobState.PAUSED
    waits = paused and was is not None and was.schedule == job.schedule
    forgotten = unplanned(was, last_planned, until) if was and not waits else []
    overdue = {*forgotten, *(one.scheduled_at for one in outdated if one.scheduled_at <= until)}
    kept = {due for due in overdue if job.has_instant(due) and not paused}
    return Replan(
        outdated=outdated,
        kept=tuple(sorted(kept)),
        in_time=frozenset(one.scheduled_at for one in outdated if _in_time(one, was, until)) & kept,
        dropped=tuple(due for due in forgotten if due not in kept),
    )


def _in_time(one: Planned, was: Job | None, until: datetime) -> bool:
    """Whether it was on its way by then, or was not to be yet: by its jitter."""
    if one.status is not Status.SCHEDULED:
        return True
    return (
        was is not None and one.scheduled_at + delay(was.job_id, one.scheduled_at, was.schedule.jitter_seconds) > until
    )


def edited_until(job: Job) -> datetime:
    """The last moment under the rules from before the edit."""
    return (job.revised_at or job.updated_at) - MILLISECOND


def planned_until(job: Job) -> datetime:
    """When planning by the rules from before the edit came to its end: since a pause there is none."""
    return job.planned_until(edited_until(job))


def unplanned(job: Job, last_planned: datetime | None, until: datetime) -> list[datetime]:
    """What was due until then, and nobody had come to: there was an outage, or it was paused."""
    found: list[datetime] = []
    due = job.schedule.next_after(job.goes_on_after(last_planned))
    while due is not None and due <= until:
        found.append(due)
        due = job.schedule.next_after(due)
    return found
