"""Follows every write to the jobs and executions, and every task: checks what holds at each step.

The checks use the records and the tasks' own actions, not the code under test, except for reading items and schedules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.aws.dynamodb.execution_item import item_to_execution
from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.aws.dynamodb.shards import KEY as SHARDS_KEY
from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, UPSTREAM_BOUND_ORIGINS, Execution, Origin
from punctual.domain.jobs.dependency import Dependency
from punctual.domain.jobs.gate import OF_JOB
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.status import FINAL, PARENT_LIVE_STATUSES, TRANSITIONS, Status
from tests.simulator.aws.account import Account
from tests.simulator.aws.table import Change
from tests.simulator.coverage import Coverage
from tests.simulator.due_instants import JobVersion
from tests.simulator.kernel import Kernel, Process
from tests.simulator.starts import MAX_SKEW, Starts

REPLACED = (Status.SCHEDULED, Status.QUEUED, Status.WAITING)
"""An edit replaces an execution in one of these statuses by one with the next revision, in any status."""


@dataclass
class TaskRun:
    """A task that a worker runs, or ran."""

    execution: Execution
    started_at: datetime
    lease_until: datetime
    has_ended: bool = False


@dataclass
class Observer:
    kernel: Kernel
    account: Account
    on_change: Callable[[], None] = lambda: None
    jobs: dict[str, list[JobVersion]] = field(default_factory=lambda: defaultdict(list))
    executions: dict[str, Execution] = field(default_factory=dict)
    tasks: dict[str, list[TaskRun]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[str, Execution] = field(default_factory=dict)
    """Executions that were deleted, as they were."""
    claims: dict[Process, Execution] = field(default_factory=dict)
    """The attempt that a process has claimed and not begun to run."""
    workers: dict[Process, Execution] = field(default_factory=dict)
    """The attempt that a worker runs, or has run."""
    created: dict[Process, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The jobs and executions that a process has stored."""
    changed: dict[Process, list[Job]] = field(default_factory=lambda: defaultdict(list))
    """The versions of jobs that a process has stored."""
    last_created: list[str] = field(default_factory=list)
    """What the process stored that ended last."""
    stored_by_key: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    cancelled_at_once: set[str] = field(default_factory=set)
    """Executions that a user has cancelled while they ran, without any grace."""
    messages: dict[str, str] = field(default_factory=dict)
    """The bodies of the messages that producers have sent to the intake queue, by message id."""
    violations: list[str] = field(default_factory=list)
    starts: Starts = field(init=False)
    coverage: Coverage = field(default_factory=Coverage)
    _read: dict[str, int] = field(default_factory=lambda: {"jobs": 0, "executions": 0})

    def __post_init__(self) -> None:
        self.starts = Starts(self.kernel, self.account, self.jobs, self.violated)

    def poll(self) -> None:
        """Read the new writes, and let the event sources read them."""
        self.starts.poll()
        for name, read in self._read.items():
            history = self.account.dynamodb.tables[name].history
            for change in history[read:]:
                (self._job_changed if name == "jobs" else self._execution_changed)(change)
            self._read[name] = len(history)
        self.on_change()

    def job_known(self, job: Job) -> None:
        """The planner has processed this version of a job. It only plans for the current version."""
        versions = self.jobs[job.job_id]
        current = versions[-1].job
        if (current.state, current.updated_at, current.revision) == (job.state, job.updated_at, job.revision):
            for version in versions:
                version.known_at = version.known_at or self.kernel.now

    def violated(self, rule: str) -> None:
        self.kernel.log(f"VIOLATED: {rule}")
        self.violations.append(rule)

    # writes

    def _job_changed(self, change: Change) -> None:
        if change.new is None or "state" not in change.new:
            return
        job, versions = item_to_job(plain(change.new)), self.jobs[change.new["job_id"]["S"]]
        self._record_creation(change, job.job_id)
        if not versions or (versions[-1].job.state, versions[-1].job.revision) != (job.state, job.revision):
            self.kernel.log(f"job {job.job_id[-4:]} is {job.state}, revision {job.revision}: {job.schedule.to_spec()}")
            versions.append(JobVersion(job))
            if self.kernel.current is not None:
                self.changed[self.kernel.current].append(job)
            self._check_unique(job)

    def _check_unique(self, job: Job) -> None:
        others = [versions[-1].job for versions in self.jobs.values() if versions[-1].job.job_id != job.job_id]
        for other in others:
            if job.is_live and other.is_live and not set(job.unique_keys).isdisjoint(other.unique_keys):
                self.violated(f"jobs {job.job_id} and {other.job_id} are live and have {job.unique_keys}")

    def _execution_changed(self, change: Change) -> None:
        if change.key[0] == SHARDS_KEY["job_id"]:
            return
        old = item_to_execution(plain(change.old)) if change.old else None
        if change.new is None:
            assert old is not None
            self._removed(old, by_ttl=change.by_ttl)
            return
        new = item_to_execution(plain(change.new))
        self.executions[new.execution_id] = new
        self.coverage.execution_changed(old, new)
        self._record_creation(change, new.execution_id)
        if old is None or (old.status, old.attempt, old.revision) != (new.status, new.attempt, new.revision):
            self.kernel.log(f"  {describe(new)}" + (f" (was {old.status})" if old else ""))
            self._check_transition(old, new)
            self._check_fence(old, new)
            by_user = self.kernel.current is not None and self.kernel.current.name.startswith("api")
            if by_user and new.status is Status.CANCELLED:
                self.cancelled_at_once.add(new.execution_id)
            if new.status is Status.RUNNING and new.lane is Lane.SHORT:
                self._check_start(old, new)

    def _record_creation(self, change: Change, name: str) -> None:
        if change.old is None and self.kernel.current is not None:
            self.created[self.kernel.current].append(name)

    def _removed(self, old: Execution, *, by_ttl: bool) -> None:
        self.kernel.log(f"  removed: {describe(old)}")
        self.executions.pop(old.execution_id, None)
        self.removed[old.execution_id] = old
        if by_ttl and old.status not in FINAL:
            self.violated(f"TTL removed a live execution: {describe(old)}")
        elif not by_ttl and (old.attempt or old.status not in REPLACED):
            self.violated(f"an execution that had started was removed: {describe(old)}")

    def _check_transition(self, old: Execution | None, new: Execution) -> None:
        counted = new.attempt - sum(one.outcome in UNCOUNTED_OUTCOMES for one in new.attempts)
        if counted > new.retry.max_attempts:
            self.violated(f"more than {new.retry.max_attempts} attempts: {describe(new)}")
        if old is None:
            return
        if new.revision > old.revision:
            if old.attempt or old.status not in REPLACED:
                self.violated(f"an edit replaced {describe(old)} by {describe(new)}")
        elif old.status in FINAL:
            self.violated(f"{describe(old)} became {describe(new)}")
        elif new.lane is Lane.LONG and old.status in PARENT_LIVE_STATUSES:
            return
        elif new.status not in TRANSITIONS[old.status] and new.status is not old.status:
            self.violated(f"{describe(old)} became {describe(new)}")

    def _check_fence(self, old: Execution | None, new: Execution) -> None:
        """A worker changes a running execution only during the attempt that it has run."""
        ran = self.workers.get(self.kernel.current) if self.kernel.current is not None else None
        if ran is None or old is None or old.status is not Status.RUNNING or ran.execution_id != new.execution_id:
            return
        if new.status is not Status.RUNNING and old.attempt != ran.attempt:
            self.violated(f"the worker of attempt {ran.attempt} changed {describe(old)} to {describe(new)}")

    def _check_start(self, old: Execution | None, new: Execution) -> None:
        """A worker has claimed an attempt."""
        assert new.started_at is not None
        if self.kernel.current is not None:
            self.claims[self.kernel.current] = new
        if old is None or new.attempt != old.attempt + 1:
            self.violated(f"attempt {new.attempt} follows attempt {old.attempt if old else None}: {describe(new)}")
        for gate in new.gates:
            self._check_limit(gate.name)
        is_takeover = old is not None and old.status is Status.RUNNING
        self.starts.check_places(new, describe(new), first_attempt=1 if is_takeover else new.attempt)
        if not is_takeover:
            self.started(new, new.started_at, old.rate_at if old else None)

    def started(self, new: Execution, clock: datetime, reserved: datetime | None) -> None:
        """An attempt of an execution starts. In the long lane: its parts were created."""
        self.starts.check(new, describe(new), clock, reserved)
        for dependency, found in self.upstreams(new) if new.attempt <= 1 else ():
            if not any(dependency.condition.is_met_by(one.status) for one in found):
                self.violated(f"{describe(new)} started: {dependency} is not met by {[*map(describe, found)]}")

    def _check_limit(self, gate: str) -> None:
        """No more executions hold a gate than the largest of their limits: jobs that share a key may differ."""
        found = ((one, limit_at(one, gate)) for one in self.executions.values())
        inside = {describe(one): limit for one, limit in found if limit is not None}
        if inside and len(inside) > max(inside.values()):
            self.violated(f"{len(inside)} executions at once at {gate}, with limits: {inside}")

    def upstreams(self, one: Execution) -> Iterator[tuple[Dependency, list[Execution]]]:
        """The dependencies of an execution, each with the upstream executions of the same data window."""
        for dependency in one.depends_on if one.origin in UPSTREAM_BOUND_ORIGINS else ():
            found = [other for other in self.executions.values() if other.job_id == dependency.job]
            yield dependency, [other for other in found if other.window == one.window and other.origin != Origin.RUN]

    # tasks

    def task_started(self, execution: Execution, clock: datetime) -> TaskRun:
        if self.kernel.current is not None:
            self.claims.pop(self.kernel.current, None)
            self.workers[self.kernel.current] = execution
        earlier = self.tasks[execution.execution_id]
        if execution.lane is Lane.LONG:
            self.violated(f"a worker runs an execution of the long lane: {describe(execution)}")
        if any(run.execution.attempt >= execution.attempt for run in earlier):
            self.violated(f"attempt {execution.attempt} runs twice: {describe(execution)}")
        if clock < execution.earliest_start:
            self.violated(f"{describe(execution)} runs at {clock}, before {execution.earliest_start}")
        for run in earlier:
            if not run.has_ended and run.lease_until > self.kernel.now + MAX_SKEW:
                self.violated(f"{describe(execution)} runs beside {describe(run.execution)} until {run.lease_until}")
        assert execution.lease_until is not None
        run = TaskRun(execution, self.kernel.now, execution.lease_until)
        earlier.append(run)
        return run

    # processes

    def stored_under(self, key: str, expected: int | None) -> None:
        """The api process with this idempotency key that has just ended stored the last records.

        All tries together store no more than one successful request does: ``expected`` records, if that is known, and
        none of them twice.
        """
        stored = self.stored_by_key[key]
        stored += self.last_created
        if len(stored) > (len(set(stored)) if expected is None else expected):
            self.violated(f"requests with {key} have stored {stored}")

    def process_ended(self, process: Process) -> None:
        """A process that was not killed has run what it claimed, and has stored nothing if it answers with an error.

        If DynamoDB did not answer at all, the worker fails: it cannot know whether it has claimed. If the answer came
        so late that another worker has taken the attempt over, it does not run it.
        """
        claimed, created = self.claims.pop(process, None), self.created.pop(process, [])
        changed = self.changed.pop(process, [])
        self.last_created = created
        if process.is_dead:
            return
        is_held = claimed is not None and _is_held(self.executions.get(claimed.execution_id), claimed)
        if claimed is not None and is_held and process.error is None and not process.result["batchItemFailures"]:
            self.violated(f"{process.name} has claimed an attempt and not run it: {describe(claimed)}")
        is_reverted = len(changed) > 1  # an edit that closed a cycle of dependencies
        stored = [*created, *(f"{job.job_id} {job.state} r{job.revision}" for job in changed if not is_reverted)]
        if stored and process.name.startswith("api") and process.result and 400 <= process.result["statusCode"] < 500:
            self.violated(f"{process.name} answers {process.result['statusCode']}, but has stored {stored}")


def _is_held(current: Execution | None, claimed: Execution) -> bool:
    """Whether the claim still stands: the execution was neither taken over, cancelled nor removed meanwhile."""
    if current is None or current.status is not Status.RUNNING:
        return False
    return (current.attempt, current.worker_id) == (claimed.attempt, claimed.worker_id)


def limit_at(one: Execution, gate: str) -> int | None:
    """The limit of a gate that the execution occupies: it runs, or it is between attempts at the gate of its job."""
    if one.status not in (Status.RUNNING, Status.RETRYING):
        return None
    limits = (other.limit for other in one.gates if other.name == gate)
    return next(limits, None) if one.status is Status.RUNNING or gate.startswith(OF_JOB) else None


def describe(one: Execution) -> str:
    """An execution in one line: due instant, end of the job id, source, revision, attempt, status."""
    due = one.scheduled_at + timedelta()
    source = one.execution_id[len("20261115T070000000Z-") + 26 :]
    reason = f" ({one.reason})" if one.reason else ""
    return f"{one.job_id[-4:]}@{due:%H:%M:%S}{source} r{one.revision} a{one.attempt} {one.status}{reason}"
