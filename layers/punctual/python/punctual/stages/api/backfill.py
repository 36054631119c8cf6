"""Backfill: store executions for due instants of the past. Storing them sets off the rest.

The first execution of an instant has the id that the schedule would have given it, and a further one that id with a
number: so two people who ask at once, or one who asks again because the first call broke off half-way, get each
instant once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import BEYOND_ALL_IDS, due_key, execution_id
from punctual.domain.jobs.job import LIVE, Job
from punctual.domain.requests.backfill_range import Range, check_backfill
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import Changes, Foreseen
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions, ExecutionShelf
    from punctual.ports.gates import Gatekeeper
    from punctual.ports.jobs import Jobs


@dataclass(frozen=True)
class Backfill:
    jobs: Jobs
    executions: Executions
    shelf: ExecutionShelf
    gatekeeper: Gatekeeper
    clock: Clock
    find: Callable[[str], Job]

    def backfill(self, job_id: str, wanted: Range, caller: Caller) -> list[Execution]:
        """What was stored, in the order in which it is to run."""
        asked_for = self._asked_for(job_id, wanted, caller)
        if asked_for:
            self.jobs.note_old(job_id, min(execution.scheduled_at for execution in asked_for))
        self.gatekeeper.line_up(asked_for)
        return [execution for execution in asked_for if self._store(execution)]

    def foresee(self, job_id: str, wanted: Range, caller: Caller) -> Changes:
        """What ``backfill`` would store: instants that were never run, and those that would be again."""
        asked_for = self._asked_for(job_id, wanted, caller)
        first = {execution_id(job_id, one.scheduled_at) for one in asked_for}
        shown = [(Foreseen(one.execution_id, one.scheduled_at), one.execution_id in first) for one in asked_for]
        return Changes(
            appear=tuple(one for one, is_first in shown if is_first),
            repeat=tuple(one for one, is_first in shown if not is_first),
        )

    def _store(self, execution: Execution) -> bool:
        standing = self.executions.add(execution)
        if standing is not None and standing.gates != execution.gates:  # somebody asked for the same at the same time
            self.gatekeeper.give_up(execution)
        return standing is None

    def _asked_for(self, job_id: str, wanted: Range, caller: Caller) -> list[Execution]:
        job = self.find(job_id)
        caller.must_manage(job)
        if job.state not in LIVE:
            raise Conflict(f"job {job_id!r} is {job.state}: it brings forth nothing more", field="job_id")
        check_backfill(job)
        return self._executions(job, wanted)

    def _executions(self, job: Job, wanted: Range) -> list[Execution]:
        standing, now = self._standing(job, wanted), self.clock()
        passed = self._planned_up_to(job)
        at_once = wanted.gate(job, now)
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
                    at_once=at_once,
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
        known = chain.from_iterable(self.shelf.ids_of_job(job.job_id, "", BEYOND_ALL_IDS))
        # what a person asked for says nothing of that: the schedule's own have no more than instant and job in their id
        newest = next((one for one in known if one.endswith(f"-{job.job_id}")), None)
        if newest is None:
            return job.created_at
        return max(job.created_at, self.shelf.fetch([newest])[newest].scheduled_at)
