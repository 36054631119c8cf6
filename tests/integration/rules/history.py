"""The versions of a job over time, and the instants that must be recorded because of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.instant import MILLISECOND
from punctual.domain.jobs.job import REMOVED_STATES, Job, JobState


@dataclass
class Said:
    """A version of a job."""

    job: Job
    known_at: datetime | None = None
    """When the planner processed this version."""


def due_instants(history: Sequence[Said], now: datetime) -> Iterator[datetime]:
    """Instants up to now that must be recorded: of each schedule, up to its last active time.

    Instants missed in a pause are recorded when the job is resumed, gets another schedule, or is deleted or cancelled.
    """
    gone = next((said.job for said in history if said.job.state in REMOVED_STATES), None)
    for _, group in itertools.groupby(enumerate(history), key=lambda pair: pair[1].job.schedule):
        numbers = [number for number, _ in group]
        first = history[numbers[0]].job
        start = first.created_at if first.revision == 1 else first.updated_at
        if numbers[-1] + 1 < len(history):  # the schedule was replaced
            yield from instants(first, start, history[numbers[-1] + 1].job.updated_at - MILLISECOND)
            continue
        if gone is not None:
            yield from instants(first, start, gone.updated_at - MILLISECOND)
            continue
        active = [number for number in numbers if history[number].job.state is JobState.ACTIVE]
        if not active:
            continue
        last = active[-1]
        followed = history[last + 1].job if last + 1 < len(history) else None
        if followed is not None and followed.state is JobState.DONE:
            followed = None
        if followed is not None:  # paused: only up to the previous pause or edit
            if len(active) < 2:
                continue
            last = active[-2]
            followed = history[last + 1].job
        yield from instants(first, start, followed.updated_at - MILLISECOND if followed else now)


def instants(job: Job, since: datetime, until: datetime) -> Iterator[datetime]:
    due = job.schedule.next_after(since - MILLISECOND)
    while due is not None and due <= until:
        yield due
        due = job.schedule.next_after(due)


def is_due(job: Job, instant: datetime) -> bool:
    return job.schedule.next_after(instant - MILLISECOND) == instant


def may_be_due(history: Sequence[Said], instant: datetime, foreseen: bool) -> bool:
    """Whether a revision has this instant and was in force, or the planner had not yet processed its successor."""
    for revision, group in itertools.groupby(history, key=lambda said: said.job.revision):
        job = next(iter(group)).job
        start = job.created_at if revision == 1 else job.updated_at
        later = [said for said in history if said.job.revision > revision or said.job.state in REMOVED_STATES]
        ends = later[0].known_at if later else None
        if start <= instant and (foreseen or ends is None or instant <= ends) and is_due(job, instant):
            return True
    return False
