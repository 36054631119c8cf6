"""Rerun: run a job now, or do an execution again that has ended. Storing the execution sets off the rest."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.domain import identity
from punctual.domain.errors import Conflict, NotFound
from punctual.domain.executions.execution import Execution, Origin
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.identity import job_of
from punctual.domain.instant import in_milliseconds, to_text
from punctual.domain.jobs.gate import Gate, Rate, WhenFull
from punctual.domain.jobs.job import GONE, OLD, Job
from punctual.domain.limits import check_parameters
from punctual.domain.requests.caller import Caller
from punctual.domain.requests.dry_run import Changes, Foreseen
from punctual.domain.status import FINAL, Status

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.executions import Executions
    from punctual.ports.gates import Gates
    from punctual.ports.jobs import Jobs, Tasks

MOST_TIMES = 100


@dataclass(frozen=True)
class Asked:
    """An execution that a person asks for, before it is stored."""

    execution: Execution
    outcome: str
    """What its job's rules will do with it, in words."""
    gives_way: tuple[Execution, ...] = ()
    """Those that will be stopped for it, or no longer wait."""


@dataclass(frozen=True)
class Rerun:
    jobs: Jobs
    executions: Executions
    gates: Gates
    tasks: Tasks
    clock: Clock
    find: Callable[[str], Job]

    def run(self, job_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Asked:
        asked = self._run(job_id, parameters, caller)
        self.executions.add(asked.execution)
        return asked

    def foresee_run(self, job_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Changes:
        """What ``run`` would do."""
        asked = self._run(job_id, parameters, caller)
        return Changes(appear=(_foreseen(asked.execution, asked.outcome),), vanish=_giving_way(asked))

    def retry(self, execution_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Asked:
        """Another execution of the same due instant, under the rules that its job has now."""
        asked = self._retry(execution_id, parameters, caller)
        if asked.execution.scheduled_at < self.clock() - OLD:
            self.jobs.note_old(asked.execution.job_id, asked.execution.scheduled_at)
        if self.executions.add(asked.execution) is not None:
            raise Conflict("somebody asked for the same at this moment: look at it again", field="execution_id")
        return asked

    def foresee_retry(self, execution_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Changes:
        """What ``retry`` would do."""
        asked = self._retry(execution_id, parameters, caller)
        return Changes(repeat=(_foreseen(asked.execution, asked.outcome),), vanish=_giving_way(asked))

    def _run(self, job_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Asked:
        job = self.find(job_id)
        caller.must_manage(job)
        now = in_milliseconds(self.clock())
        execution = execution_of(
            job,
            now,
            status=Status.QUEUED,
            now=now,
            source=f"run-{secrets.token_hex(4)}",
            parameters=self._parameters(job, job.parameters, parameters),
            origin=Origin.RUN,
        )
        return self._as_the_gates_stand(replace(execution, once=False))

    def _retry(self, execution_id: str, parameters: Mapping[str, Any] | None, caller: Caller) -> Asked:
        failed = self.executions.get(job_of(execution_id), execution_id)
        if failed is None:
            raise NotFound("execution", execution_id, field="execution_id")
        caller.must_manage(failed)
        job = self.find(failed.job_id)
        if failed.status not in FINAL or failed.status is Status.SUCCEEDED:
            remedy = "only one that ended without success is retried"
            raise Conflict(f"the execution is {failed.status}: {remedy}", field="execution_id")
        if failed.scheduled_at > self.clock():
            due = to_text(failed.scheduled_at)
            raise Conflict(f"it is not due before {due}: retry it then, or run the job now", field="execution_id")
        retry = execution_of(
            job,
            failed.scheduled_at,
            status=Status.QUEUED,
            now=self.clock(),
            source=self._free_number(failed),
            parameters=self._parameters(job, failed.parameters, parameters),
            origin=Origin.RETRY,
        )
        return self._as_the_gates_stand(replace(retry, retry_of=execution_id, window=failed.window, once=False))

    def _free_number(self, failed: Execution) -> str:
        """What sets it apart from others of its instant. Raises ``Conflict`` while another retry of the same lives.

        The same is also what it is a retry of itself, and other retries of that.
        """
        same = {failed.execution_id, failed.retry_of or failed.execution_id}
        for number in range(2, MOST_TIMES):
            name = identity.execution_id(failed.job_id, failed.scheduled_at, str(number))
            other = self.executions.get(failed.job_id, name)
            if other is None:
                return str(number)
            if same & {other.execution_id, other.retry_of}:
                same |= {other.execution_id, other.retry_of or other.execution_id}
                if other.status not in FINAL:
                    raise Conflict(f"{other.execution_id} does it again already", field="execution_id")
        raise Conflict(f"it was done again {MOST_TIMES} times: submit another job", field="execution_id")

    def _parameters(self, job: Job, standing: Mapping[str, Any], changed: Mapping[str, Any] | None) -> dict[str, Any]:
        if job.state in GONE:
            raise Conflict(f"job {job.job_id!r} is {job.state}: nothing of it runs any more", field="job_id")
        parameters = {**standing, **(changed or {})}
        check_parameters("parameters", parameters)
        if job.batch is None or not job.batch.image:
            self.tasks.check(job.task, parameters)
        return parameters

    def _as_the_gates_stand(self, execution: Execution) -> Asked:
        """What will become of it, as far as can be seen now. One that is to be skipped is stored as that."""
        starts, waits_for, named = "starts now", list[str](), set[str]()
        gives_way: list[Execution] = []
        for gate in execution.gates:
            inside, waiter = self._at(gate) if gate.limit is not None else ([], None)
            names = [one.execution_id for one in inside]
            others = ", ".join(names)
            if gate.limit is None or len(inside) < gate.limit:
                pass
            elif gate.when_full is WhenFull.SKIP:
                return self._skipped(execution, f"{others} still runs")
            elif gate.when_full is WhenFull.WAIT_ALONE and waiter:
                return self._skipped(execution, f"{waiter.execution_id} waits already", waiter)
            elif gate.when_full is WhenFull.TAKE_OVER and waiter and waiter.execution_id > execution.execution_id:
                return self._skipped(execution, f"{waiter.execution_id} is to run in its place", waiter)
            elif gate.when_full is WhenFull.TAKE_OVER:
                starts = f"starts once {others} is cancelled"
                gives_way += [*inside, *([waiter] if waiter else [])]
            elif gate.of_job:
                named, waits_for = set(names), [others]
            elif not named.issuperset(names):
                waits_for.append(f"its key: {others} run already")
            if gate.rate is not None and (at := self._next_start(gate.name, gate.rate)) > self.clock():
                waits_for.append(f"its rate: no start before {to_text(at)}")
        outcome = starts
        if waits_for:
            words = f"waits for {', and for '.join(waits_for)}"
            outcome = words if starts == "starts now" else f"{starts}, and {words}"
        return Asked(execution, outcome, tuple(gives_way))

    def _at(self, gate: Gate) -> tuple[list[Execution], Execution | None]:
        """Those who are inside, and who waits first. Whoever was forgotten, or has ended, is not really there: the
        next who comes throws them out, and whoever waits takes their place."""
        names = sorted(self.gates.inside(gate.name))
        if not names:
            return [], None
        standing = self.executions.read_many(names)
        inside = [standing[name] for name in names if name in standing and standing[name].belongs_in(gate.name)]
        waiter = self._first_in_line(gate) if gate.when_full is not WhenFull.SKIP else None
        return (inside, waiter) if inside or not waiter else ([waiter], None)

    def _next_start(self, name: str, rate: Rate) -> datetime:
        start, _ = rate.reserve(self.gates.reserved_until(name), self.clock())
        return start

    def _first_in_line(self, gate: Gate) -> Execution | None:
        waiter = self.gates.first_in_line(gate.name)
        standing = self.executions.get(job_of(waiter.execution_id), waiter.execution_id) if waiter else None
        return standing if standing and standing.waits_at == gate.name else None

    def _skipped(self, execution: Execution, reason: str, for_whom: Execution | None = None) -> Asked:
        covered_by = for_whom.execution_id if for_whom else None
        skipped = replace(execution, status=Status.SKIPPED, reason=reason, covered_by=covered_by)
        return Asked(replace(skipped, ended_at=self.clock(), check_at=None), f"skipped: {reason}")


def _giving_way(asked: Asked) -> tuple[Foreseen, ...]:
    return tuple(_foreseen(one, str(one.status)) for one in asked.gives_way)


def _foreseen(execution: Execution, note: str) -> Foreseen:
    return Foreseen(execution.execution_id, execution.scheduled_at, note)
