"""Backfill: store executions for due instants of the past. Storing them sets off the rest.

The first execution of an instant has the id that the schedule would have given it, and a further one that id with a
number: so two people who ask at once, or one who asks again because the first call broke off half-way, get each
instant once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.backfill import Range, check_backfill
from punctual.domain.caller import Caller
from punctual.domain.errors import Conflict, NotFound
from punctual.domain.execution import Execution, Origin, execution_of
from punctual.domain.identity import BEYOND_ALL_IDS, check_job_id, due_key
from punctual.domain.job import Job, JobState
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports import Clock, Executions, ExecutionShelf, Jobs


@dataclass(frozen=True)
class Backfill:
    jobs: Jobs
    executions: Executions
    shelf: ExecutionShelf
    clock: Clock

    def backfill(self, job_id: str, wanted: Range, caller: Caller, *, dry_run: bool = False) -> list[Execution]:
        """What was stored, or with ``dry_run`` what would be, in the order in which it is to run."""
        job = self._find(job_id)
        caller.must_manage(job)
        if job.state is not JobState.ACTIVE:
            raise Conflict(f"job {job_id!r} is {job.state}: it brings forth nothing more", field="job_id")
        check_backfill(job)
        asked_for = self._executions(job, wanted)
        if dry_run or not asked_for:
            return asked_for
        self.jobs.note_backfill(job_id, min(execution.scheduled_at for execution in asked_for))
        return [execution for execution in asked_for if self.executions.add(execution) is None]

    def _executions(self, job: Job, wanted: Range) -> list[Execution]:
        standing, now = self._standing(job, wanted), self.clock()
        passed = self._planned_up_to(job)
        found: list[Execution] = []
        for due in wanted.instants(job):
            if due <= passed and wanted.wants(standing[due]):
                number = len(standing[due])
                execution = execution_of(
                    job,
                    due,
                    status=Status.QUEUED,
                    now=now,
                    source=str(number + 1) if number else None,
                    origin=Origin.BACKFILL,
                )
                # a millisecond apart, so that they keep their order where they wait
                found.append(replace(execution, queued_at=now + timedelta(milliseconds=len(found))))
        return found

    def _standing(self, job: Job, wanted: Range) -> dict[datetime, list[Execution]]:
        pages = self.shelf.ids_of_job(job.job_id, due_key(wanted.since), due_key(wanted.until))
        by_due: dict[datetime, list[Execution]] = defaultdict(list)
        for execution in self.shelf.fetch(list(chain.from_iterable(pages))).values():
            by_due[execution.scheduled_at].append(execution)
        return by_due

    def _planned_up_to(self, job: Job) -> datetime:
        """How far the job's own planning has come: what follows is its business."""
        newest = next(chain.from_iterable(self.shelf.ids_of_job(job.job_id, "", BEYOND_ALL_IDS)), None)
        if newest is None:
            return job.created_at
        return max(job.created_at, self.shelf.fetch([newest])[newest].scheduled_at)

    def _find(self, job_id: str) -> Job:
        job = self.jobs.get(check_job_id(job_id))
        if job is None:
            raise NotFound("job", job_id, field="job_id")
        return job
