"""Rerun: run a job now, or repeat an execution that has ended. The executions table's stream triggers the dispatch."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain import identity
from punctual.domain.errors import Conflict
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import job_of
from punctual.domain.instant import in_milliseconds, to_text
from punctual.domain.jobs.gate import FullGateAction, FullGateDecision, Gate, Rate, WhenFull, decide_at_full_gate
from punctual.domain.jobs.job import LONG_DELAY, REMOVED_STATES, Job
from punctual.domain.limits import check_parameters
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import DryRunChanges, ForeseenExecution
from punctual.domain.requests.keyed_request import KeyedRequest
from punctual.domain.requests.rerun_request import RerunRequest, StartingPoint, starting_point_of
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gates
    from punctual.ports.jobs import Jobs, Tasks
    from punctual.stages.api.find import Finder
    from punctual.stages.api.submission import JobBuilder
    from punctual.stages.plan.upstreams import UpstreamLookup

RETRY_NUMBERS = range(2, 100)
"""The suffixes of further executions of a due instant."""
MAX_DECISIONS = 5
"""How often the outcome of a manual execution is decided if the waiter that covers it changes meanwhile."""


@dataclass(frozen=True)
class ManualExecution:
    """A manual run or retry, before it is stored."""

    execution: Execution
    outcome: str
    """A forecast for the caller: whether it starts, waits or is skipped, and why."""
    displaced: tuple[Execution, ...] = ()
    """Executions that will be cancelled or superseded because of it."""
    covered_by: Execution | None = None
    """The waiter that runs instead of it."""


@dataclass(frozen=True)
class Rerun:
    jobs: Jobs
    executions: Executions
    gates: Gates
    tasks: Tasks
    builder: JobBuilder
    clock: Clock
    find: Finder
    upstreams: UpstreamLookup

    def run(
        self,
        job_id: str,
        request: RerunRequest,
        caller: Caller,
        keyed: KeyedRequest | None = None,
    ) -> ManualExecution:
        """Store an execution that is due now, in addition to the schedule.

        Idempotent only with a ``keyed`` request. Raises ``NotFound``, ``Forbidden``, ``Conflict`` or ``Invalid``.
        """
        if keyed is not None and keyed.is_repeated:
            stored = self.executions.get(job_id, identity.execution_id(job_id, keyed.at, _source(keyed)))
            if stored is not None:  # also if the job was changed or deleted since then
                return _repeated(stored)
        manual = self._marked(lambda: self._run(job_id, request, caller, keyed))
        existing = self.executions.add(manual.execution)
        return manual if existing is None else _repeated(existing)

    def preview_run(self, job_id: str, request: RerunRequest, caller: Caller) -> DryRunChanges:
        """Dry run of ``run``."""
        manual = self._run(job_id, request, caller)
        return DryRunChanges(appear=(_foreseen(manual.execution, manual.outcome),), vanish=_displaced(manual))

    def retry(
        self,
        execution_id: str,
        request: RerunRequest,
        caller: Caller,
        keyed: KeyedRequest | None = None,
    ) -> ManualExecution:
        """Store another execution of the same due instant, under the current rules of its job.

        It keeps the finished partitions and the checkpoints of an execution that did not succeed, unless the request
        says otherwise. Idempotent only with a ``keyed`` request. Raises ``NotFound``, ``Forbidden``, ``Invalid``, or
        ``Conflict`` if the execution has not ended, is not due yet, or has another live retry.
        """
        if keyed is not None and (stored := self._stored_by(keyed, execution_id)) is not None:
            return _repeated(stored)
        manual = self._marked(lambda: self._retry(execution_id, request, caller, keyed))
        if manual.execution.scheduled_at < self.clock() - LONG_DELAY:
            self.jobs.extend_live_since(manual.execution.job_id, manual.execution.scheduled_at)
        if not self.executions.add_once(manual.execution):
            message = "another request retried it at the same time: read the job's executions to see that retry"
            raise Conflict(message, field="execution_id")
        return manual

    def preview_retry(self, execution_id: str, request: RerunRequest, caller: Caller) -> DryRunChanges:
        """Dry run of ``retry``."""
        manual = self._retry(execution_id, request, caller)
        return DryRunChanges(repeat=(_foreseen(manual.execution, manual.outcome),), vanish=_displaced(manual))

    def _marked(self, decide: Callable[[], ManualExecution]) -> ManualExecution:
        """Decide on a manual execution. If a waiter covers it, mark the waiter first, so that an edit keeps it.

        If the waiter does not wait any more, decide again.
        """
        for _ in range(MAX_DECISIONS):
            manual = decide()
            if manual.covered_by is None or self.gates.cover(manual.covered_by):
                return manual
        raise Conflict("other executions of the job kept changing during this request: try again", field="job_id")

    def _stored_by(self, keyed: KeyedRequest, execution_id: str) -> Execution | None:
        """Return the retry that an earlier try of the request has stored."""
        for number in RETRY_NUMBERS if keyed.is_repeated else ():
            first = identity.execution_id(job_of(execution_id), identity.due_of(execution_id), str(number))
            other = self.executions.get(job_of(execution_id), first)
            if other is None or other.request_id == keyed.request_id:
                return other
        return None

    def _run(
        self,
        job_id: str,
        request: RerunRequest,
        caller: Caller,
        keyed: KeyedRequest | None = None,
    ) -> ManualExecution:
        job = self.find.job(job_id)
        caller.require_can_manage(job)
        job = self.builder.override(job, request)
        now = keyed.at if keyed else in_milliseconds(self.clock())
        execution = execution_of(
            job,
            now,
            status=Status.QUEUED,
            now=now,
            source=_source(keyed),
            parameters=self._parameters(job, job.parameters, request.parameters),
            origin=Origin.RUN,
        )
        manual = replace(
            execution,
            upstreams=self.upstreams.existing(job, execution),
            is_last_of_job=False,
            request_id=keyed.request_id if keyed else None,
        )
        return self._forecast_at_gates(manual)

    def _retry(
        self,
        execution_id: str,
        request: RerunRequest,
        caller: Caller,
        keyed: KeyedRequest | None = None,
    ) -> ManualExecution:
        ended = self.find.execution(execution_id)
        job = self.find.job(ended.job_id)
        caller.require_can_manage(job)
        job = self.builder.override(job, request)
        if ended.status not in FINAL:
            remedy = "only an execution that has ended can be retried: wait for it to end, or cancel it first"
            raise Conflict(f"the execution is {ended.status}: {remedy}", field="execution_id")
        if ended.scheduled_at > self.clock():
            due = to_text(ended.scheduled_at)
            raise Conflict(f"it is not due before {due}: retry it then, or run the job now", field="execution_id")
        retry = execution_of(
            job,
            ended.scheduled_at,
            status=Status.QUEUED,
            now=self.clock(),
            source=self._free_number(ended),
            parameters=self._parameters(job, ended.parameters, request.parameters),
            origin=Origin.RETRY,
        )
        retry = replace(
            retry,
            retry_of=execution_id,
            from_start=starting_point_of(ended, request) is StartingPoint.START,
            upstreams=ended.upstreams or self.upstreams.existing(job, replace(retry, window=ended.window)),
            window=ended.window,
            is_last_of_job=False,
            request_id=keyed.request_id if keyed else None,
        )
        return self._forecast_at_gates(retry)

    def _free_number(self, failed: Execution) -> str:
        """Return the first free number for a further execution of the due instant.

        Raises ``Conflict`` while another retry in the same chain is live. The chain consists of the failed execution,
        the execution that it retried, and all other retries of those.
        """
        chain = {failed.execution_id, failed.retry_of or failed.execution_id}
        for number in RETRY_NUMBERS:
            name = identity.execution_id(failed.job_id, failed.scheduled_at, str(number))
            other = self.executions.get(failed.job_id, name)
            if other is None:
                return str(number)
            if chain & {other.execution_id, other.retry_of}:
                chain |= {other.execution_id, other.retry_of or other.execution_id}
                if other.status not in FINAL:
                    message = f"{other.execution_id} already retries it: wait for it to end, or cancel it first"
                    raise Conflict(message, field="execution_id")
        message = f"its due instant already has {RETRY_NUMBERS.stop - 1} executions, the maximum: submit a new job"
        raise Conflict(message, field="execution_id")

    def _parameters(self, job: Job, current: Mapping[str, Any], changed: Mapping[str, Any] | None) -> dict[str, Any]:
        if job.state in REMOVED_STATES:
            raise Conflict(f"job {job.job_id!r} is {job.state} and cannot run: submit a new job", field="job_id")
        parameters = {**current, **(changed or {})}
        check_parameters("parameters", parameters)
        if job.batch is None or not job.batch.image:
            self.tasks.check(job.task, parameters)
        return parameters

    def _forecast_at_gates(self, execution: Execution) -> ManualExecution:
        """Forecast the outcome from the current state of its gates. An execution to be skipped is stored as skipped."""
        starts, waits_for, named = "starts now", list[str](), set[str]()
        displaced: list[Execution] = []
        for gate in execution.gates:
            holders, waiter = self._holders_and_waiter(gate) if gate.limit is not None else ([], None)
            names = [one.execution_id for one in holders]
            others = ", ".join(names)
            decision = decide_at_full_gate(gate, execution.execution_id, names, waiter.execution_id if waiter else None)
            if gate.limit is None or len(holders) < gate.limit:
                pass
            elif decision.action is FullGateAction.SKIP:
                return self._skipped(execution, decision, waiter)
            elif gate.when_full is WhenFull.REPLACE:
                starts = f"starts once {others} is cancelled"
                displaced += [*holders, *([waiter] if waiter else [])]
            elif gate.of_job:
                named, waits_for = set(names), [others]
            elif not named.issuperset(names):
                waits_for.append(f"its concurrency key: in use by {others}")
            if gate.rate is not None and (at := self._next_start(gate.name, gate.rate)) > self.clock():
                waits_for.append(f"its rate limit: no start before {to_text(at)}")
        outcome = starts
        if waits_for:
            words = f"waits for {', and for '.join(waits_for)}"
            outcome = words if starts == "starts now" else f"{starts}, and {words}"
        return ManualExecution(execution, outcome, tuple(displaced))

    def _holders_and_waiter(self, gate: Gate) -> tuple[list[Execution], Execution | None]:
        """Return the holders of the gate and its first waiter.

        Entries of executions that were deleted or have ended do not count: the next execution at the gate removes them,
        and the first waiter takes their place.
        """
        state = self.gates.state(gate.name)
        existing = self.executions.read_many(state.holders)
        holders = [existing[name] for name in sorted(existing) if existing[name].may_hold(gate.name)]
        waiter = self._first_waiter(gate) if state.queue_mark is not None else None
        return (holders, waiter) if holders or not waiter else ([waiter], None)

    def _next_start(self, name: str, rate: Rate) -> datetime:
        start, _ = rate.reserve(self.gates.reserved_until(name), self.clock())
        return start

    def _first_waiter(self, gate: Gate) -> Execution | None:
        waiter = self.gates.first_waiter(gate.name)
        existing = self.executions.get(job_of(waiter.execution_id), waiter.execution_id) if waiter else None
        return existing if existing and existing.waits_at == gate.name else None

    def _skipped(self, execution: Execution, decision: FullGateDecision, waiter: Execution | None) -> ManualExecution:
        skipped = replace(
            execution,
            status=Status.SKIPPED,
            reason=decision.reason,
            covered_by=decision.covered_by,
            ended_at=self.clock(),
            check_at=None,
        )
        covered_by = waiter if decision.covered_by is not None else None
        return ManualExecution(skipped, f"skipped: {decision.reason}", covered_by=covered_by)


def _source(keyed: KeyedRequest | None) -> str:
    """Name a manual run in its id, so that a repeated request derives the same id."""
    return f"run-{keyed.request_id[:8] if keyed else secrets.token_hex(4)}"


def _repeated(stored: Execution) -> ManualExecution:
    return ManualExecution(stored, f"repeated request: the execution is {stored.status}")


def _displaced(manual: ManualExecution) -> tuple[ForeseenExecution, ...]:
    return tuple(_foreseen(one, str(one.status)) for one in manual.displaced)


def _foreseen(execution: Execution, note: str) -> ForeseenExecution:
    return ForeseenExecution(execution.execution_id, execution.scheduled_at, note)
