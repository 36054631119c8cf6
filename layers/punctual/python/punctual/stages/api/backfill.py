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
from punctual.domain.requests.keyed_request import KeyedRequest
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

    def backfill(
        self, job_id: str, wanted: BackfillRange, caller: Caller, keyed: KeyedRequest | None = None
    ) -> list[Execution]:
        """Store the missing executions and return the stored ones, in the order in which they will run.

        Idempotent. A repeated ``keyed`` request also returns the executions that its first try has stored. Raises
        ``NotFound``, ``Forbidden``, ``Conflict`` or ``Invalid``.
        """
        requested = self._requested(job_id, wanted, caller, keyed)
        stored = self._store(job_id, requested)
        if keyed is None or not keyed.is_repeated:
            return stored
        own = [one for some in self._existing(self.find.job(job_id), wanted).values() for one in some]
        return sorted((one for one in own if one.request_id == keyed.request_id), key=lambda one: one.earliest_start)

    def _store(self, job_id: str, requested: list[Execution]) -> list[Execution]:
        if requested:
            self.jobs.extend_live_since(job_id, min(execution.scheduled_at for execution in requested))
        gate = next((gate for gate in requested[0].gates if gate.of_backfill), None) if requested else None
        if gate is None or requested[0].has_pending_upstreams:  # they wait for their upstreams first
            return [execution for execution in requested if self.executions.add(execution) is None]
        return self.gatekeeper.enqueue(gate, requested)

    def preview(self, job_id: str, wanted: BackfillRange, caller: Caller) -> DryRunChanges:
        """Dry run of ``backfill``: separates instants that never ran from instants that would run again."""
        requested = self._requested(job_id, wanted, caller)
        first_ids = {execution_id(job_id, one.scheduled_at) for one in requested}
        foreseen = [ForeseenExecution(one.execution_id, one.scheduled_at) for one in requested]
        return DryRunChanges(
            appear=tuple(one for one in foreseen if one.execution_id in first_ids),
            repeat=tuple(one for one in foreseen if one.execution_id not in first_ids),
        )

    def _requested(
        self, job_id: str, wanted: BackfillRange, caller: Caller, keyed: KeyedRequest | None = None
    ) -> list[Execution]:
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        if job.state not in LIVE_STATES:
            message = f"job {job_id!r} is {job.state}: only an active or paused job can be backfilled"
            raise Conflict(message, field="job_id")
        check_backfill(job)
        return self._executions(job, wanted, keyed)

    def _executions(self, job: Job, wanted: BackfillRange, keyed: KeyedRequest | None) -> list[Execution]:
        existing, now = self._existing(job, wanted), keyed.at if keyed else self.clock()
        planned_until = self._planned_until(job)
        backfill_gate = wanted.gate(job, now)
        requested: list[Execution] = []
        for due in wanted.instants(job):
            is_stored = keyed is not None and any(one.request_id == keyed.request_id for one in existing[due])
            if due <= planned_until and not is_stored and wanted.should_run(existing[due]):
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
                queued_at = now + timedelta(milliseconds=len(requested))
                request_id = keyed.request_id if keyed else None
                requested.append(replace(execution, queued_at=queued_at, request_id=request_id))
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
