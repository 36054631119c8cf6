"""Backfill: store executions for past due instants. The executions table's stream triggers their dispatch.

Ids make a backfill idempotent: the first execution of an instant has the id that the schedule would have given it, and
every further execution has that id with a number. Two concurrent requests, or a request that is repeated after it
failed half-way, store each instant once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import BEYOND_ALL_IDS, due_key, execution_id
from punctual.domain.jobs.job import LIVE_STATES, Job
from punctual.domain.requests.backfill_range import BackfillRange, check_backfill
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution
from punctual.domain.status import Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import ExecutionIndex, Executions
    from punctual.ports.jobs import Jobs
    from punctual.stages.api.find import Finder
    from punctual.stages.run.gates import Gatekeeper


@dataclass(frozen=True)
class Backfill:
    jobs: Jobs
    executions: Executions
    index: ExecutionIndex
    gatekeeper: Gatekeeper
    clock: Clock
    find: Finder

    def backfill(self, job_id: str, wanted: BackfillRange, caller: Caller) -> list[Execution]:
        """Store the missing executions and return those that were stored, in the order in which they will run.

        Idempotent. Raises ``NotFound``, ``Forbidden``, ``Conflict`` or ``Invalid``.
        """
        requested = self._requested(job_id, wanted, caller)
        if requested:
            self.jobs.extend_live_since(job_id, min(execution.scheduled_at for execution in requested))
        self.gatekeeper.line_up(requested)
        return [execution for execution in requested if self._store(execution)]

    def preview(self, job_id: str, wanted: BackfillRange, caller: Caller) -> DryRunChanges:
        """Dry run of ``backfill``: separates instants that never ran from those that would run again."""
        requested = self._requested(job_id, wanted, caller)
        first_ids = {execution_id(job_id, one.scheduled_at) for one in requested}
        foreseen = [ForeseenExecution(one.execution_id, one.scheduled_at) for one in requested]
        return DryRunChanges(
            appear=tuple(one for one in foreseen if one.execution_id in first_ids),
            repeat=tuple(one for one in foreseen if one.execution_id not in first_ids),
        )

    def _store(self, execution: Execution) -> bool:
        existing = self.executions.add(execution)
        if existing is not None and existing.gates != execution.gates:  # a concurrent request stored it first
            self.gatekeeper.give_up(execution)
        return existing is None

    def _requested(self, job_id: str, wanted: BackfillRange, caller: Caller) -> list[Execution]:
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if job.state not in LIVE_STATES:
            message = f"job {job_id!r} is {job.state}: only an active or paused job can be backfilled"
            raise Conflict(message, field="job_id")
        check_backfill(job)
        return self._executions(job, wanted)

    def _executions(self, job: Job, wanted: BackfillRange) -> list[Execution]:
        existing, now = self._existing(job, wanted), self.clock()
        planned_until = self._planned_until(job)
        backfill_gate = wanted.gate(job, now)
        requested: list[Execution] = []
        for due in wanted.instants(job):
            if due <= planned_until and wanted.should_run(existing[due]):
                number = len(existing[due])
                execution = execution_of(
                    job,
                    due,
                    status=Status.QUEUED,
                    now=now,
                    source=str(number + 1) if number else None,
                    origin=Origin.BACKFILL,
                    backfill_gate=backfill_gate,
                )
                # one millisecond apart, so that they keep their order in the gate's queue
                requested.append(replace(execution, queued_at=now + timedelta(milliseconds=len(requested))))
        return requested

    def _existing(self, job: Job, wanted: BackfillRange) -> dict[datetime, list[Execution]]:
        pages = self.index.ids_of_job(job.job_id, due_key(wanted.since), due_key(wanted.until))
        by_due: dict[datetime, list[Execution]] = defaultdict(list)
        for execution in self.index.fetch(list(chain.from_iterable(pages))).values():
            by_due[execution.scheduled_at].append(execution)
        return by_due

    def _planned_until(self, job: Job) -> datetime:
        """Return the latest due instant that the planner has handled. The planner stores all later instants."""
        ids = chain.from_iterable(self.index.ids_of_job(job.job_id, "", BEYOND_ALL_IDS))
        # manual runs and retries do not count: only ids given by the schedule end with the job id
        newest = next((one for one in ids if one.endswith(f"-{job.job_id}")), None)
        if newest is None:
            return job.created_at
        return max(job.created_at, self.index.fetch([newest])[newest].scheduled_at)
