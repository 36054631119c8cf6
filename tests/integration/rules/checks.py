"""What must hold, whatever happens: the tables, and each task that starts, are held against the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.items import plain
from punctual.domain.executions.execution import DEPENDENT, Execution, Origin
from punctual.domain.identity import execution_id
from punctual.domain.instant import to_text
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.gate import Gate, WhenFull
from punctual.domain.jobs.job import GONE, JobState
from punctual.domain.status import FINAL, LIVE, Status
from tests.integration.conftest import START
from tests.integration.rules.backstage import Backstage
from tests.integration.rules.history import due_instants, instants, is_due, may_be_due
from tests.integration.rules.process import Run
from tests.integration.rules.stage import Stage

T = TypeVar("T")
FAR = START + timedelta(hours=9)
"""No story lasts as long."""


class Checks(Backstage):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.runs: dict[str, list[Run]] = defaultdict(list)
        self.recorded: dict[str, Execution] = {}
        self.ended: dict[str, Execution] = {}
        stage.clear(self.started)

    def upstreams(self, one: Execution) -> Iterator[tuple[Dependency, list[Execution]]]:
        """What it has to wait for, each with the executions that are about the same data."""
        for dependency in one.depends_on if one.origin in DEPENDENT else ():
            found = [other for other in self.executions() if other.job_id == dependency.job]
            yield dependency, [other for other in found if other.window == one.window and other.origin != Origin.RUN]

    def may_wait_on(self, one: Execution) -> bool:
        """For an execution that does not come: its job is paused, or was edited. That is looked at now and then."""
        if not one.held or self.said[one.job_id][-1].job.state in GONE:
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
        """Whether the planner has heard all that there is to hear about a job, and nobody is at work on it."""
        return not self.stopped() and not any(some and key[2] == job_id for key, some in self.pending.items())

    def check_leases(self) -> None:
        """No two attempts of one execution hold a lease."""
        for name, runs in self.runs.items():
            holders = [run for run in runs if not run.returned and run.lease_until >= self.world.now]
            assert len(holders) <= 1, f"{name}: attempts {[run.execution.attempt for run in holders]} have a lease"

    def check_gates(self, executions: Sequence[Execution]) -> None:
        """No overlap rule is broken, and no more of a key run than may."""
        inside = defaultdict(list)
        for one in executions:
            for gate in one.gates:
                if gate.limit is not None and stands_in(gate, one):
                    inside[gate.name].append((gate.limit, told(one)))
        for name, some in inside.items():
            assert len(some) <= max(limit for limit, _ in some), f"at {name} are {some}"

    def check_records(self, executions: Sequence[Execution]) -> None:
        """What has come due and is on record stays there."""
        by_id = {one.execution_id: one for one in executions}
        for name in self.recorded.keys() - by_id.keys():
            gone = self.recorded.pop(name)
            may_go = is_own(gone) and gone.scheduled_at not in due_instants(self.said[gone.job_id], self.world.now)
            assert may_go, f"{told(gone)} is not on record any more"
        self.recorded |= {name: one for name, one in by_id.items() if one.scheduled_at <= self.world.now}

    def check_job(self, job_id: str, executions: Sequence[Execution], all_due: bool = False) -> None:
        """Every due instant has one outcome or lives, or one that is planned leads to it; nothing else stands.

        ``all_due``: the dispatcher has ticked, so nothing leads any further.
        """
        instants_of = {one.scheduled_at for one in executions if is_own(one)}
        leaders = [one.scheduled_at for one in executions if one.leads and one.status is Status.SCHEDULED]
        led_to = min(leaders, default=None) if not all_due else None
        due = due_instants(self.said[job_id], self.world.now)
        missing = [at for at in due if at not in instants_of and (led_to is None or at < led_to)]
        assert not missing, f"{job_id}: no record of {list(map(to_text, missing))}"
        job = self.said[job_id][-1].job
        if job.state is JobState.ACTIVE and job.schedule.next_after(max(instants_of, default=job.created_at)):
            assert leaders, f"{job_id}: nothing leads on to what comes next; there are {list(map(told, executions))}"
        if all_due and job.state is JobState.ACTIVE:
            over = {one.scheduled_at for one in executions if one.status in FINAL}
            comes = [at for at in instants(job, self.world.now, FAR) if at not in over]
            assert comes or LIVE & {one.status for one in executions}, (
                f"{job_id}: nothing more comes, it is not done; there are {list(map(told, executions))}"
            )
        for one in executions:
            self.check_standing(one)

    def executions(self, *statuses: Status) -> list[Execution]:
        """In the order of their instants; those with one of these statuses, if any are named."""
        found = [item for item in self.stage.items("executions") if not statuses or item["status"]["S"] in statuses]
        return sorted(map(self.read, found), key=lambda one: one.execution_id)

    def read(self, item: dict[str, Any]) -> Execution:
        name = item["execution_id"]["S"]
        if name not in self.ended:
            execution = item_to_execution(plain(item))
            if execution.status not in FINAL:
                return execution
            self.ended[name] = execution
        assert self.ended[name].status == item["status"]["S"], f"{told(self.ended[name])} has changed once more"
        return self.ended[name]

    def started(self, execution: Execution) -> Run:
        """A task starts: nobody else has this attempt, or stands where only so many may."""
        now, earlier = self.world.now, self.runs[execution.execution_id]
        if any(run.execution.attempt >= execution.attempt for run in earlier):
            self.broken.append(f"attempt {execution.attempt} of {execution.execution_id} started again")
        if any(not run.returned and run.lease_until >= now for run in earlier):
            self.broken.append(f"the attempt before {execution.attempt} of {execution.execution_id} has a lease")
        if execution.released_at > now:
            self.broken.append(f"{execution.execution_id} started before its time")
        for dependency, found in self.upstreams(execution) if execution.attempt == 1 else ():
            self.stage.let_go += 1
            if not any(dependency.condition.is_met_by(one.status) for one in found):
                self.broken.append(f"{told(execution)} started: {dependency} is not met by {list(map(told, found))}")
        if any(said.job.state in GONE and said.known_at for said in self.said[execution.job_id]):
            self.broken.append(f"{execution.execution_id} started although its job is gone")
        others = self.executions(Status.RUNNING, Status.RETRYING) if execution.gates else []
        others = [one for one in others if one.execution_id != execution.execution_id]
        for gate in execution.gates:
            inside = [
                one for one in others if stands_in(gate, one) and gate.name in {other.name for other in one.gates}
            ]
            if gate.limit is not None and len(inside) >= gate.limit:
                self.broken.append(f"{told(execution)} started at {gate} beside {list(map(told, inside))}")
        assert execution.lease_until is not None
        run = Run(execution, execution.lease_until)  # as it was granted: the worker may have stood still before that
        earlier.append(run)
        return run

    def check_settled(self) -> None:
        """All has been delivered: every due instant is on record, and nothing stands that should not."""
        executions = self.executions()
        self.check_lines(executions)
        by_its_job = by_job(executions)
        for job_id in self.said:
            self.check_job(job_id, by_its_job.get(job_id, []), all_due=True)

    def check_lines(self, executions: Sequence[Execution]) -> None:
        """Where only one may wait, one does: ``queue_one`` and ``cancel_running`` let nothing pile up."""
        waiting = defaultdict(list)
        for one in executions:
            alone = {gate.name for gate in one.gates if gate.when_full in (WhenFull.WAIT_ALONE, WhenFull.TAKE_OVER)}
            if one.status is Status.WAITING and one.waits_at in alone:
                waiting[one.waits_at].append(told(one))
        assert all(len(some) == 1 for some in waiting.values()), dict(waiting)

    def check_standing(self, one: Execution) -> None:
        history = self.said[one.job_id]
        job = history[-1].job
        passed_over = one.status is Status.SKIPPED and bool(one.depends_on)
        foreseen = one.status is Status.CANCELLED or passed_over  # it may have been planned ahead
        was = [f"r{said.job.revision} {said.job.state} since {said.job.updated_at:%T}" for said in history]
        if is_own(one) and one.origin is Origin.BACKFILL:
            assert any(is_due(said.job, one.scheduled_at) for said in history), f"{told(one)} is no instant: {was}"
        elif is_own(one):
            assert may_be_due(history, one.scheduled_at, foreseen), f"{told(one)} was never due: {was}"
        if job.state in GONE:
            assert one.status in FINAL or one.cancel_at is not None, f"{told(one)} lives on: its job is {job.state}"
        elif job.state is JobState.DONE:
            asked_for = one.origin is not Origin.SCHEDULE  # perhaps while the last one ended
            assert one.status in FINAL or asked_for, f"{told(one)} lives on: its job is done"
        elif one.status not in FINAL and one.attempt == 0 and one.origin is Origin.SCHEDULE:
            assert one.revision == job.revision, f"{told(one)} has rules of old: its job is at {job.revision}"
            assert job.state is JobState.ACTIVE, f"{told(one)} has not started: its job is {job.state}"

    def nothing_lives_any_more(self) -> None:
        for seconds in (0, 1, 31, 60, 60, 60, 60, 120, 240, 480, 960, 60, 60, 60):
            self.pass_time(seconds)
            self.settle()
            gates = [item for item in self.stage.items("gates") if not item["gate"]["S"].startswith(("rate", "end#"))]
            live = [told(one) for one in self.executions(*LIVE) if not self.may_wait_on(one)]
            if not live and not gates:
                return
        raise AssertionError(f"these live on: {live}; at the gates: {gates}")


def by_job(executions: Sequence[Execution]) -> dict[str, list[Execution]]:
    found = defaultdict(list)
    for one in executions:
        found[one.job_id].append(one)
    return found


def is_own(one: Execution) -> bool:
    """Whether it is the one of its instant: not one that a person asked for besides."""
    return one.execution_id == execution_id(one.job_id, one.scheduled_at)


def stands_in(gate: Gate, one: Execution) -> bool:
    """Whether it counts at one of its gates: at its job's also between attempts."""
    return one.status is Status.RUNNING or (gate.of_job and one.status is Status.RETRYING)


def told(one: Execution) -> str:
    reason = f" ({one.reason})" if one.reason else ""
    return f"{one.execution_id} r{one.revision} {one.origin} attempt {one.attempt}: {one.status}{reason}"


def picked(things: Sequence[T], number: int) -> T | None:
    return things[number % len(things)] if things else None
