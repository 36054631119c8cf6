"""The versions of a job over time, and the instants that must be recorded because of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.executions.execution import Execution
from punctual.domain.identity import execution_id
from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import REMOVED_STATES, Job, JobState


@dataclass
class JobVersion:
    job: Job
    known_at: datetime | None = None
    """When the planner had processed this version or, if it was superseded before that, a later one."""


def is_own(one: Execution) -> bool:
    """Whether it is the scheduled execution of its instant: not a manual run, a retry, or one of a queue message."""
    return one.execution_id == execution_id(one.job_id, one.scheduled_at)


def due_instants(versions: Sequence[JobVersion], now: datetime) -> Iterator[datetime]:
    """Instants up to now that must be recorded: of each schedule, up to its last active time.

    Instants missed in a pause are recorded when the job is resumed, gets another schedule, or is deleted or cancelled.
    """
    removed = next((version.job for version in versions if version.job.state in REMOVED_STATES), None)
    for _, group in itertools.groupby(enumerate(versions), key=lambda pair: pair[1].job.schedule):
        numbers = [number for number, _ in group]
        first = versions[numbers[0]].job
        start = first.created_at if first.revision == 1 else first.updated_at
        if numbers[-1] + 1 < len(versions):  # the schedule was replaced
            yield from instants(first, start, versions[numbers[-1] + 1].job.updated_at - MILLISECOND)
            continue
        if removed is not None:
            yield from instants(first, start, removed.updated_at - MILLISECOND)
            continue
        if versions[-1].job.state is not JobState.PAUSED:
            yield from instants(first, start, now)


def instants(job: Job, since: datetime, until: datetime) -> Iterator[datetime]:
    due = job.schedule.next_after(since - MILLISECOND)
    while due is not None and due <= until:
        yield due
        due = job.schedule.next_after(due)


def is_due(job: Job, instant: datetime) -> bool:
    return job.schedule.next_after(instant - MILLISECOND) == instant


def may_be_due(versions: Sequence[JobVersion], instant: datetime, *, planned_ahead: bool) -> bool:
    """Whether a revision has this instant and was in force, or the planner had not yet processed its successor.

    The instants before a change belong to the earlier revision, by the clock of the api. It may be ahead of the time at
    which the planner processes the change.
    """
    for revision, group in itertools.groupby(versions, key=lambda version: version.job.revision):
        job = next(iter(group)).job
        start = job.created_at if revision == 1 else job.updated_at
        later = [one for one in versions if one.job.revision > revision or one.job.state in REMOVED_STATES]
        is_superseded = later and later[0].known_at and instant > max(later[0].known_at, later[0].job.updated_at)
        if start <= instant and (planned_ahead or not is_superseded) and is_due(job, instant):
            return True
    return False
