"""The invariants, checked against the tables and at the start of each task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.items import plain
from punctual.domain.executions.execution import UPSTREAM_BOUND_ORIGINS, Execution, Origin
from punctual.domain.identity import execution_id
from punctual.domain.instant import to_text
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.gate import Gate, WhenFull
from punctual.domain.jobs.job import REMOVED_STATES, JobState
from punctual.domain.status import FINAL, LIVE_STATUSES, Status
from tests.integration.conftest import START
from tests.integration.rules.backstage import Backstage
from tests.integration.rules.history import due_instants, instants, is_due, may_be_due
from tests.integration.rules.process import Run
from tests.integration.rules.stage import Stage

T = TypeVar("T")
FAR = START + timedelta(hours=9)
"""Later than the end of every example."""


class Checks(Backstage):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.runs: dict[str, list[Run]] = defaultdict(list)
        self.recorded: dict[str, Execution] = {}
        self.ended: dict[str, Execution] = {}
        stage.clear(self.started)

    def upstreams(self, one: Execution) -> Iterator[tuple[Dependency, list[Execution]]]:
        """The dependencies of an execution, each with the upstream executions of the same data window."""
        for dependency in one.depends_on if one.origin in UPSTREAM_BOUND_ORIGINS else ():
            found = [other for other in self.executions() if other.job_id == dependency.job]
            yield dependency, [other for other in found if other.window == one.window and other.origin != Origin.RUN]

    def may_wait_on(self, one: Execution) -> bool:
        """Whether an upstream execution may be missing, because its job is paused or was edited."""
        if not one.has_pending_upstreams or self.said[one.job_id][-1].job.state in REMOVED_STATES:
            return False
        missing = [self.said[dependency.job][-1].job for dependency, found in self.upstreams(one) if not found]
        return any(job.state is JobState.PAUSED or job.revision > 1 for job in missing)

    def the_rules_hold(self) -> None:
        self.stage.steps += 1
        self.read_streams()
        executions = self.executions()
        self.check_leases()
        self.check_gates(executions)
        self.check_records(executions)
        for job_id, some in by_job(executions).items():
            if self.is_quiet(job_id):
                self.stage.quiet += 1
                self.check_job(job_id, some)

    def is_quiet(self, job_id: str) -> bool:
        """Whether the planner has received every record of a job, and no process is suspended."""
        return not self.stopped() and not any(some and key[2] == job_id for key, some in self.pending.items())

    def check_leases(self) -> None:
        """No two attempts of one execution hold a lease."""
        for name, runs in self.runs.items():
            holders = [run for run in runs if not run.returned and run.lease_until >= self.world.now]
            assert len(holders) <= 1, f"{name}: attempts {[run.execution.attempt for run in holders]} have a lease"

    def check_gates(self, executions: Sequence[Execution]) -> None:
        """No overlap rule and no limit of a concurrency key is violated."""
        inside = defaultdict(list)
        for one in executions:
            for gate in one.gates:
                if gate.limit is not None and stands_in(gate, one):
                    inside[gate.name].append((gate.limit, describe(one)))
        for name, some in inside.items():
            assert len(some) <= max(limit for limit, _ in some), f"at {name} are {some}"

    def check_records(self, executions: Sequence[Execution]) -> None:
        """A due execution that was recorded stays recorded."""
        by_id = {one.execution_id: one for one in executions}
        for name in self.recorded.keys() - by_id.keys():
            gone = self.recorded.pop(name)
            may_go = is_own(gone) and gone.scheduled_at not in due_instants(self.said[gone.job_id], self.world.now)
            assert may_go, f"{describe(gone)} is no longer recorded"
        self.recorded |= {name: one for name, one in by_id.items() if one.scheduled_at <= self.world.now}

    def check_job(self, job_id: str, executions: Sequence[Execution], all_due: bool = False) -> None:
        """Every due instant has an execution, or a leader will plan it. There are no other executions.

        ``all_due``: the dispatcher has ticked, so that no leader remains for a due instant.
        """
        instants_of = {one.scheduled_at for one in executions if is_own(one)}
        leaders = [one.scheduled_at for one in executions if one.is_leader and one.status is Status.SCHEDULED]
        led_to = min(leaders, default=None) if not all_due else None
        due = due_instants(self.said[job_id], self.world.now)
        missing = [at for at in due if at not in instants_of and (led_to is None or at < led_to)]
        assert not missing, f"{job_id}: no record of {list(map(to_text, missing))}"
        job = self.said[job_id][-1].job
        if job.state is JobState.ACTIVE and job.schedule.next_after(max(instants_of, default=job.created_at)):
            assert leaders, f"{job_id}: no leader plans the next execution; there are {list(map(describe, executions))}"
        if all_due and job.state is JobState.ACTIVE:
            over = {one.scheduled_at for one in executions if one.status in FINAL}
            comes = [at for at in instants(job, self.world.now, FAR) if at not in over]
            assert comes or LIVE_STATUSES & {one.status for one in executions}, (
                f"{job_id}: no instant is left, but the job is not done; there are {list(map(describe, executions))}"
            )
        for one in executions:
            self.check_standing(one)

    def executions(self, *statuses: Status) -> list[Execution]:
        """Executions sorted by instant, restricted to the given statuses if any."""
        found = [item for item in self.stage.items("executions") if not statuses or item["status"]["S"] in statuses]
        return sorted(map(self.read, found), key=lambda one: one.execution_id)

    def read(self, item: dict[str, Any]) -> Execution:
        name = item["execution_id"]["S"]
        if name not in self.ended:
            execution = item_to_execution(plain(item))
            if execution.status not in FINAL:
                return execution
            self.ended[name] = execution
        assert self.ended[name].status == item["status"]["S"], f"{describe(self.ended[name])} changed after it finished"
        return self.ended[name]

    def started(self, execution: Execution) -> Run:
        """Check the start of a task: the attempt is new, no other lease is valid, and no gate exceeds its limit."""
        now, earlier = self.world.now, self.runs[execution.execution_id]
        if any(run.execution.attempt >= execution.attempt for run in earlier):
            self.broken.append(f"attempt {execution.attempt} of {execution.execution_id} started again")
        if any(not run.returned and run.lease_until >= now for run in earlier):
            self.broken.append(f"the attempt before {execution.attempt} of {execution.execution_id} has a lease")
        if execution.earliest_start > now:
            self.broken.append(f"{execution.execution_id} started before its time")
        for dependency, found in self.upstreams(execution) if execution.attempt == 1 else ():
            self.stage.let_go += 1
            if not any(dependency.condition.is_met_by(one.status) for one in found):
                self.broken.append(
                    f"{describe(execution)} started: {dependency} is not met by {list(map(describe, found))}"
                )
        if any(said.job.state in REMOVED_STATES and said.known_at for said in self.said[execution.job_id]):
            self.broken.append(f"{execution.execution_id} started although its job is gone")
        others = self.executions(Status.RUNNING, Status.RETRYING) if execution.gates else []
        others = [one for one in others if one.execution_id != execution.execution_id]
        for gate in execution.gates:
            inside = [
                one for one in others if stands_in(gate, one) and gate.name in {other.name for other in one.gates}
            ]
            if gate.limit is not None and len(inside) >= gate.limit:
                self.broken.append(f"{describe(execution)} started at {gate} beside {list(map(describe, inside))}")
        assert execution.lease_until is not None
        run = Run(execution, execution.lease_until)  # as granted: the worker may have been suspended since
        earlier.append(run)
        return run

    def check_idle(self) -> None:
        """After everything was delivered: every due instant is recorded, and there is no unexpected execution."""
        executions = self.executions()
        self.check_lines(executions)
        by_its_job = by_job(executions)
        for job_id in self.said:
            self.check_job(job_id, by_its_job.get(job_id, []), all_due=True)

    def check_lines(self, executions: Sequence[Execution]) -> None:
        """``queue_one`` and ``cancel_running`` have at most one waiter."""
        waiting = defaultdict(list)
        for one in executions:
            alone = {gate.name for gate in one.gates if gate.when_full in (WhenFull.WAIT_ALONE, WhenFull.TAKE_OVER)}
            if one.status is Status.WAITING and one.waits_at in alone:
                waiting[one.waits_at].append(describe(one))
        assert all(len(some) == 1 for some in waiting.values()), dict(waiting)

    def check_standing(self, one: Execution) -> None:
        history = self.said[one.job_id]
        job = history[-1].job
        passed_over = one.status is Status.SKIPPED and bool(one.depends_on)
        foreseen = one.status is Status.CANCELLED or passed_over  # may have been planned ahead
        was = [f"r{said.job.revision} {said.job.state} since {said.job.updated_at:%T}" for said in history]
        if is_own(one) and one.origin is Origin.BACKFILL:
            assert any(is_due(said.job, one.scheduled_at) for said in history), f"{describe(one)} is no instant: {was}"
        elif is_own(one):
            assert may_be_due(history, one.scheduled_at, foreseen), f"{describe(one)} was never due: {was}"
        if job.state in REMOVED_STATES:
            assert one.status in FINAL or one.cancel_at is not None, (
                f"{describe(one)} is still live: its job is {job.state}"
            )
        elif job.state is JobState.DONE:
            asked_for = one.origin is not Origin.SCHEDULE  # may have been requested while the last execution finished
            assert one.status in FINAL or asked_for, f"{describe(one)} is still live: its job is done"
        elif one.status not in FINAL and one.attempt == 0 and one.origin is Origin.SCHEDULE:
            assert one.revision == job.revision, f"{describe(one)} has an old revision: its job is at {job.revision}"
            assert job.state is JobState.ACTIVE, f"{describe(one)} has not started: its job is {job.state}"

    def nothing_lives_any_more(self) -> None:
        for seconds in (0, 1, 31, 60, 60, 60, 60, 120, 240, 480, 960, 60, 60, 60):
            self.pass_time(seconds)
            self.run_until_idle()
            gates = [item for item in self.stage.items("gates") if not item["gate"]["S"].startswith(("rate", "end#"))]
            live = [describe(one) for one in self.executions(*LIVE_STATUSES) if not self.may_wait_on(one)]
            if not live and not gates:
                return
        raise AssertionError(f"still live: {live}; gate entries: {gates}")


def by_job(executions: Sequence[Execution]) -> dict[str, list[Execution]]:
    found = defaultdict(list)
    for one in executions:
        found[one.job_id].append(one)
    return found


def is_own(one: Execution) -> bool:
    """Whether it is the scheduled execution of its instant, not a manual run or retry."""
    return one.execution_id == execution_id(one.job_id, one.scheduled_at)


def stands_in(gate: Gate, one: Execution) -> bool:
    """Whether it holds one of its gates: the gate of its job also between attempts."""
    return one.status is Status.RUNNING or (gate.of_job and one.status is Status.RETRYING)


def describe(one: Execution) -> str:
    reason = f" ({one.reason})" if one.reason else ""
    return f"{one.execution_id} r{one.revision} {one.origin} attempt {one.attempt}: {one.status}{reason}"


def picked(things: Sequence[T], number: int) -> T | None:
    return things[number % len(things)] if things else None
