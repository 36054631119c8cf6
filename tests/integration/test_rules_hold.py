"""The rules of scheduling hold, whatever happens, in whatever order, and wherever a process dies.

Hypothesis mixes what people do (submit, edit, pause, resume, cancel, delete, run, retry, backfill) with what AWS does
(ticks, records of streams, messages, each late, again, and in another order) and with what goes wrong: a function
stops before any of its calls of AWS, others go on meanwhile, and then it goes on or dies; a task outlives its lease;
the clock jumps. After each step the tables are held against the rules.

``PUNCTUAL_RULES_EXAMPLES=500 PUNCTUAL_RULES_SEEDS="7 8" pytest -s tests/integration/test_rules_hold.py`` takes longer
and goes other ways: that many stories, from each of these seeds. A story that breaks a rule is made shorter before it
is shown, which takes minutes; with ``PUNCTUAL_RULES_AS_FOUND=1`` it is shown at once, as long as it is.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from punctual.aws import clients
from punctual.aws.execution_item import item_to_execution
from punctual.aws.items import plain
from punctual.aws.job_item import item_to_job
from punctual.domain import identity
from punctual.domain.execution import Execution, Failure, Hold, Origin, Outcome
from punctual.domain.flow import Tally
from punctual.domain.gate import Gate
from punctual.domain.horizon import LEASE
from punctual.domain.identity import execution_id
from punctual.domain.instant import to_text
from punctual.domain.job import GONE, Job, JobState
from punctual.domain.settlement import Verdict
from punctual.domain.status import FINAL, LIVE, Status
from tests.integration.conftest import START
from tests.integration.event_sources import STREAM_CONSUMERS, EventSources, table_in_memory
from tests.integration.odd_tasks import Killed
from tests.integration.world import READERS, World

T = TypeVar("T")

EXAMPLES = int(os.environ.get("PUNCTUAL_RULES_EXAMPLES", "40"))
SEEDS = [int(one) for one in os.environ.get("PUNCTUAL_RULES_SEEDS", "1 2").split()]
STEPS = 50
MOST_JOBS = 3
LIMITS = {"api": 29, "planner": 120, "settler": 60, "dispatcher": 55, "worker": 900}
"""For how many seconds AWS lets each function run."""
HIDDEN = timedelta(minutes=16)
"""A message whose worker died comes again after this."""
MILLISECOND = timedelta(milliseconds=1)
FAR = START + timedelta(hours=9)
"""No story lasts as long."""
FILTERED = ("jobs", "executions")


class Process:
    """A function at work: a thread that runs only while the test waits for it, so that all is in the test's order."""

    def __init__(self, name: str, act: Callable[[], Any], ends_at: datetime) -> None:
        self.name, self.ends_at = name, ends_at
        self.over = self.died = False
        self.answer: Any = None
        self.run: Run | None = None
        """The task that it is in."""
        self.manner = Manner.STAYS
        self._act, self._error = act, None
        self._calls: int | None = None
        self._may_go, self._rests = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._live, name=name, daemon=True).start()

    def go(self, calls: int | None = None) -> None:
        """On, until it is over, in a task that takes long, or before the call of AWS with that number."""
        self._calls = calls
        self._may_go.release()
        self._rests.acquire()
        if self._error is not None:
            raise self._error

    def die(self) -> None:
        self.died = True
        self.go()

    def rest(self) -> None:
        """Called from within."""
        self._rests.release()
        self._may_go.acquire()
        if self.died:
            raise Killed

    def about_to_call(self) -> None:
        if self.died:
            raise Killed
        if self._calls is not None:
            self._calls -= 1
            if self._calls == 0:
                self.rest()

    def _live(self) -> None:
        self._may_go.acquire()
        PROCESS.set(self)
        try:
            if not self.died:
                self.answer = self._act()
        except Killed:
            pass
        except BaseException as error:
            self._error = error
        self.over = True
        self._rests.release()


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


def about_to_call(**_: Any) -> None:
    if process := PROCESS.get():
        process.about_to_call()


class Manner:
    """How a task goes."""

    THROUGH = "through"
    FAILS = "fails"
    STAYS = "stays"


@dataclass
class Run:
    """A task that was started."""

    execution: Execution
    lease_until: datetime
    stopping: bool = False
    returned: bool = False


@dataclass
class Said:
    """A job, as it was from an instant on."""

    job: Job
    known_at: datetime | None = None
    """When the planner had heard of it."""


@dataclass
class Mail:
    """A message that was received from a queue and not yet deleted."""

    message: dict[str, Any]
    visible_at: datetime
    busy: bool = False


@dataclass
class Runner:
    """In place of the one that calls a task's function: says when a task starts, and lets the test say how it ends.

    The real one renews its lease in a thread of its own, by a clock that nobody stops; here a rule renews it.
    """

    started: Callable[[Execution], Run]

    def run(self, execution: Execution, _seconds_left: float) -> Verdict:
        process = PROCESS.get()
        assert process is not None
        run = self.started(execution)
        if process.manner == Manner.STAYS:
            process.run = run
            process.rest()
        run.returned, process.run = True, None
        failed = process.manner == Manner.FAILS
        outcome = Outcome.CANCELLED if run.stopping else Outcome.FAILED if failed else Outcome.SUCCEEDED
        return Verdict(outcome=outcome, error=Failure(type="Error", message="no") if failed else None)


@dataclass
class Stage:
    """The one world in which all stories take place, one after the other, each from an empty start."""

    world: World
    monkeypatch: pytest.MonkeyPatch
    steps: int = 0
    stories: int = 0
    quiet: int = 0
    """How often a job was looked at of which all had been heard."""
    streams: EventSources = field(default_factory=EventSources)

    def __post_init__(self) -> None:
        for client, name in ((clients.dynamodb(), "dynamodb"), (clients.sqs(), "sqs")):
            client.meta.events.register(f"before-call.{name}", about_to_call)
        self.world.submit(schedule={"every_seconds": 60})  # what functions do once is done
        self.world.run_for(61, step=61)

    def clear(self, started: Callable[[Execution], Run]) -> None:
        world, numbers = self.world, itertools.count(1)
        self.stories += 1
        self.streams = EventSources()
        for table in world.dynamodb.list_tables()["TableNames"]:
            world.dynamodb.delete_table(TableName=table)
        world._create_tables()
        for url in world.queues.values():
            world.sqs.delete_queue(QueueUrl=url)
        assert world._create_queues() == world.queues
        world._traveller.move_to(START)
        self.monkeypatch.setattr(identity.secrets, "randbits", lambda _: next(numbers))
        self.monkeypatch.setattr(identity.secrets, "token_hex", lambda _: f"{next(numbers):08d}")
        module = world.function("worker")
        module.flow = Tally()
        module.worker = replace(module.worker, flow=module.flow, runner=Runner(started))

    def items(self, table: str) -> list[dict[str, Any]]:
        """All of a table, from the emulator's own memory: that is quicker than to scan it."""
        return [item.to_json()["Attributes"] for item in table_in_memory(table).all_items()]

    def new_records(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """What the streams have, once: the table, who is to get the record, and the record."""
        for table in FILTERED:
            for consumer in STREAM_CONSUMERS[table]:
                for record in self.streams.new_records(table, consumer):
                    yield table, consumer, record


STAGE: list[Stage] = []

numbers = st.integers(0, 30)
calls = st.none() | st.none() | st.integers(1, 12)
"""Before which call of AWS a function stops; most go through."""
intervals = st.sampled_from([30, 60, 90, 300, 900])
recurring = st.one_of(
    st.fixed_dictionaries({"every_seconds": intervals}),
    st.fixed_dictionaries({"every_seconds": intervals, "max_runs": st.integers(1, 8)}),
    st.fixed_dictionaries({"cron": st.sampled_from(["* * * * *", "*/7 * * * *"])}),
)
schedules = recurring | recurring | st.fixed_dictionaries({"in_seconds": st.sampled_from([0, 70, 600])})
overlaps = st.sampled_from(["allow", "skip", "queue_one", "queue_all", "cancel_running"])
misfires = st.fixed_dictionaries(
    {"policy": st.sampled_from(["run_latest", "run_all", "skip"]), "grace_seconds": st.sampled_from([0, 45, 300])}
)
limits = st.fixed_dictionaries({"key": st.just("k"), "limit": st.integers(1, 2)})
rates = st.fixed_dictionaries({"key": st.just("k"), "rate": st.just({"starts": 1, "per_seconds": 4})})
keys = st.none() | limits | rates | st.builds(lambda limit, rate: {**limit, **rate}, limits, rates)
retries = st.sampled_from([{"max_attempts": 1}, {"max_attempts": 3, "backoff_seconds": 5, "max_backoff_seconds": 5}])
changes = st.one_of(
    st.fixed_dictionaries({"schedule": recurring}),
    st.fixed_dictionaries({"overlap": overlaps}),
    st.fixed_dictionaries({"parameters": st.fixed_dictionaries({"n": numbers})}),
    st.fixed_dictionaries({"concurrency": keys}),
    st.fixed_dictionaries({"misfire": misfires}),
)


class Rules(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.stage = STAGE[0]
        self.world = self.stage.world
        self.processes: list[Process] = []
        self.jobs: list[str] = []
        self.said: dict[str, list[Said]] = defaultdict(list)
        self.pending: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        """Records by table, consumer and job: a stream keeps the order of what has one key."""
        self.busy: set[tuple[str, str, str]] = set()
        self.mail: list[Mail] = []
        self.runs: dict[str, list[Run]] = defaultdict(list)
        self.broken: list[str] = []
        self.recorded: dict[str, Execution] = {}
        self.ended: dict[str, Execution] = {}
        self.outages = 0
        self.stage.clear(self.started)

    # what people do

    @initialize(every=intervals, overlap=overlaps)
    def first_job(self, every: int, overlap: str) -> None:
        misfire = {"policy": "run_latest", "grace_seconds": 300}
        self.submit({"every_seconds": every}, overlap, misfire, None, {"max_attempts": 3}, None)
        self.settle()

    @precondition(lambda self: len(self.jobs) < MOST_JOBS)
    @rule(schedule=schedules, overlap=overlaps, misfire=misfires, key=keys, retry=retries, stop=calls)
    def submit(self, schedule: Any, overlap: str, misfire: Any, key: Any, retry: Any, stop: int | None) -> None:
        if "in_seconds" in schedule:
            schedule = {"at": to_text(self.world.now + timedelta(seconds=schedule["in_seconds"]))}
        job = {"task": "echo", "schedule": schedule, "overlap": overlap, "misfire": misfire}
        self.ask("POST", "/jobs", {**job, "retry": retry, **({"concurrency": key} if key else {})}, stop)

    @rule(number=numbers, change=changes, stop=calls)
    def edit(self, number: int, change: Any, stop: int | None) -> None:
        self.ask("PATCH", f"/jobs/{self.job(number)}", change, stop)

    @rule(number=numbers, stop=calls)
    def pause(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/pause", None, stop)

    @rule(number=numbers, stop=calls)
    def resume(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/resume", None, stop)

    @precondition(lambda self: len(self.jobs) > 1)
    @rule(number=numbers, stop=calls)
    def cancel_job(self, number: int, stop: int | None) -> None:
        self.ask("PUT", f"/jobs/{self.job(number)}/cancel", None, stop)

    @precondition(lambda self: len(self.jobs) > 1)
    @rule(number=numbers, stop=calls)
    def delete(self, number: int, stop: int | None) -> None:
        self.ask("DELETE", f"/jobs/{self.job(number)}", None, stop)

    @rule(number=numbers, stop=calls)
    def run_now(self, number: int, stop: int | None) -> None:
        self.ask("POST", f"/jobs/{self.job(number)}/run", {}, stop)

    @rule(number=numbers, stop=calls)
    def retry(self, number: int, stop: int | None) -> None:
        if one := picked(self.executions(*FINAL - {Status.SUCCEEDED}), number):
            self.ask("POST", f"/executions/{one.execution_id}/retry", {}, stop)

    @rule(
        number=numbers,
        minutes=st.integers(1, 6),
        which=st.sampled_from(["missing", "all"]),
        order=st.sampled_from(["oldest_first", "newest_first"]),
        at_once=st.sampled_from([{}, {"at_once": 1}, {"at_once": 2}]),
        stop=calls,
    )
    def backfill(self, number: int, minutes: int, which: str, order: str, at_once: Any, stop: int | None) -> None:
        since, until = self.world.now - timedelta(minutes=minutes), self.world.now
        span = {"from": to_text(since), "to": to_text(until), "which": which, "order": order, **at_once}
        self.ask("POST", f"/jobs/{self.job(number)}/backfill", span, stop)

    @rule(number=numbers, grace=st.sampled_from([0, 30]), stop=calls)
    def cancel(self, number: int, grace: int, stop: int | None) -> None:
        if one := picked(self.executions(*LIVE), number):
            self.ask("PUT", f"/executions/{one.execution_id}/cancel?grace_seconds={grace}", None, stop)

    @rule(number=numbers, stop=calls)
    def cancel_before_its_time(self, number: int, stop: int | None) -> None:
        if one := picked(self.executions(Status.SCHEDULED), number):
            self.ask("PUT", f"/executions/{one.execution_id}/cancel", None, stop)

    # what AWS does

    @rule(stop=calls)
    def tick(self, stop: int | None) -> None:
        self.start("dispatcher", self.world.tick, stop)

    @rule(number=numbers, count=st.integers(1, 10), stop=calls, again=st.booleans())
    def deliver_records(self, number: int, count: int, stop: int | None, again: bool) -> None:
        self.read_streams()
        if key := picked(sorted(key for key, some in self.pending.items() if some and key not in self.busy), number):
            self.deliver([key], count, stop, again=again)

    @rule(
        number=numbers,
        manner=st.sampled_from([Manner.THROUGH, Manner.FAILS, Manner.STAYS, Manner.STAYS]),
        stop=calls,
        again=st.booleans(),
    )
    def deliver_message(self, number: int, manner: str, stop: int | None, again: bool) -> None:
        self.read_queues()
        if mail := picked([mail for mail in self.mail if self.is_visible(mail)], number):
            self.work(mail, manner, stop, again=again)

    @precondition(lambda self: self.stopped())
    @rule(number=numbers, stop=calls)
    def go_on(self, number: int, stop: int | None) -> None:
        self.advance(self.stopped()[number % len(self.stopped())], stop)

    @precondition(lambda self: self.processes)
    @rule(number=numbers)
    def die(self, number: int) -> None:
        self.kill(self.processes[number % len(self.processes)])

    @precondition(lambda self: self.inside())
    @rule(number=numbers, manner=st.sampled_from([Manner.THROUGH, Manner.FAILS]), stop=calls)
    def task_ends(self, number: int, manner: str, stop: int | None) -> None:
        process = self.inside()[number % len(self.inside())]
        process.manner = manner
        self.advance(process, stop)

    @precondition(lambda self: self.inside())
    @rule(number=numbers)
    def renew(self, number: int) -> None:
        run = self.inside()[number % len(self.inside())].run
        assert run is not None
        hold = self.world.function("worker").executions.renew(run.execution, self.world.now, None)
        if hold is not Hold.LOST:
            run.lease_until = self.world.now + LEASE
        run.stopping = run.stopping or hold is Hold.STOPPING

    @rule(seconds=st.sampled_from([1, 10, 31, 60, 125]))
    def time_passes(self, seconds: int) -> None:
        self.pass_time(seconds)

    @precondition(lambda self: self.outages < 2)
    @rule(seconds=st.sampled_from([600, 1000, 3600]))
    def outage(self, seconds: int) -> None:
        self.outages += 1
        self.pass_time(seconds)

    @rule(seconds=st.sampled_from([0, 31, 60]))
    def all_is_delivered(self, seconds: int) -> None:
        self.pass_time(seconds)
        self.settle()
        self.check_settled()

    @precondition(lambda self: self.outages < 2)
    @rule()
    def all_runs_dry(self) -> None:
        """What is due now ends, in time, although more comes due meanwhile."""
        self.outages += 1
        self.end_tasks()
        until = self.world.now
        for _ in range(25):
            self.settle()
            stuck = [told(one) for one in self.executions(*LIVE) if one.released_at <= until]
            if not stuck:
                break
            self.pass_time(60)
        assert not stuck, f"these do not end: {stuck}"
        self.check_settled()

    def teardown(self) -> None:
        try:
            if self.jobs and not self.broken:
                self.come_to_an_end()
        finally:
            for process in self.processes:
                process.died or process.die()

    def come_to_an_end(self) -> None:
        self.settle()
        self.check_settled()
        self.end_tasks()
        self.each_job("POST", "pause", JobState.ACTIVE)
        self.nothing_lives_any_more()
        self.each_job("POST", "resume", JobState.PAUSED)
        self.settle()
        self.check_settled()
        self.each_job("DELETE", "", JobState.ACTIVE)
        self.nothing_lives_any_more()
        for name in READERS:
            assert not (buried := self.world.receive(f"{name}-dead")), buried

    # how it is done

    def ask(self, method: str, path: str, body: Any, stop: int | None = None) -> None:
        self.start("api", lambda: self.world.request(method, path, body), stop, self.answered)

    def answered(self, process: Process) -> None:
        status, body = process.answer
        assert status < 500, body
        if status == 201 and "job_id" in body:
            self.jobs.append(body["job_id"])

    def job(self, number: int) -> str:
        return self.jobs[number % len(self.jobs)] if self.jobs else "none"

    def start(
        self,
        name: str,
        act: Callable[[], Any],
        stop: int | None = None,
        done: Callable[[Process], None] = lambda _: None,
        given_up: Callable[[], None] = lambda: None,
        manner: str = Manner.STAYS,
    ) -> None:
        process = Process(name, act, self.world.now + timedelta(seconds=LIMITS[name]))
        process.manner, process.done, process.given_up = manner, done, given_up
        self.processes.append(process)
        self.advance(process, stop)

    def advance(self, process: Process, stop: int | None = None) -> None:
        process.go(stop)
        if process.over:
            self.processes.remove(process)
            process.done(process)
        assert not self.broken, self.broken

    def kill(self, process: Process) -> None:
        process.die()
        self.processes.remove(process)
        process.given_up()

    def stopped(self) -> list[Process]:
        return [process for process in self.processes if process.run is None]

    def inside(self) -> list[Process]:
        return [process for process in self.processes if process.run is not None]

    def read_streams(self) -> None:
        for table, consumer, record in self.stage.new_records():
            job_id = record["dynamodb"]["Keys"]["job_id"]["S"]
            self.pending[table, consumer, job_id].append(record)
            if table == "jobs":
                self.say(item_to_job(plain(record["dynamodb"]["NewImage"])))
        for item in self.stage.items("jobs"):  # the planner is not told that one is done
            if item.get("state", {}).get("S") == JobState.DONE:
                self.say(item_to_job(plain(item)))

    def say(self, job: Job) -> None:
        before = self.said[job.job_id][-1].job if self.said[job.job_id] else None
        if before is None or (before.state, before.revision) != (job.state, job.revision):
            self.said[job.job_id].append(Said(job))

    def deliver(self, keys: list[tuple[str, str, str]], count: int, stop: int | None, again: bool = False) -> None:
        """Records of these keys, of one table and consumer, as one batch; ``again``: and once more later."""
        batch = {key: self.pending[key][:count] for key in keys}
        records = [record for some in batch.values() for record in some]
        self.busy |= set(keys)

        def done(_: Process) -> None:
            self.busy -= set(keys)
            for key, some in batch.items():
                if key[0] == "jobs":
                    self.heard(key[2], some)
                if not again:
                    del self.pending[key][: len(some)]

        def given_up() -> None:
            self.busy -= set(keys)

        self.start(keys[0][1], lambda: self.world.call(keys[0][1], {"Records": records}), stop, done, given_up)

    def heard(self, job_id: str, records: list[dict[str, Any]]) -> None:
        jobs = [item_to_job(plain(record["dynamodb"]["NewImage"])) for record in records]
        for said in self.said[job_id]:
            if any((job.state, job.updated_at, job.revision) == _version(said.job) for job in jobs):
                said.known_at = said.known_at or self.world.now

    def read_queues(self) -> None:
        while messages := self.world.orders():
            self.mail += [Mail(message, self.world.now) for message in messages]

    def is_visible(self, mail: Mail) -> bool:
        return not mail.busy and mail.visible_at <= self.world.now

    def work(self, mail: Mail, manner: str, stop: int | None = None, again: bool = False) -> None:
        mail.busy = True

        def done(process: Process) -> None:
            assert process.answer == {"batchItemFailures": []}
            mail.busy = False
            if not again:
                self.mail.remove(mail)

        def given_up() -> None:
            mail.busy, mail.visible_at = False, self.world.now + HIDDEN

        self.start("worker", lambda: self.world.work(mail.message), stop, done, given_up, manner)

    def pass_time(self, seconds: float) -> None:
        until = self.world.now + timedelta(seconds=seconds)
        for process in [one for one in self.processes if one.ends_at < until]:
            self.kill(process)
        self.world.pass_time(seconds)

    def end_tasks(self) -> None:
        for process in self.stopped():
            self.advance(process)
        for process in self.inside():
            process.manner = Manner.THROUGH
            self.advance(process)

    def settle(self) -> None:
        """Whoever stopped goes on, the dispatcher ticks, and all is delivered until nothing moves."""
        for process in self.stopped():
            self.advance(process)
        self.start("dispatcher", self.world.tick)
        for _ in range(60):
            self.read_streams()
            self.read_queues()
            waiting = sorted(key for key, some in self.pending.items() if some)
            visible = [mail for mail in self.mail if self.is_visible(mail)]
            for _, some in itertools.groupby(waiting, key=lambda key: key[:2]):
                self.deliver(list(some), 1000, None)
            for mail in visible:
                self.work(mail, Manner.THROUGH)
            if not waiting and not visible:
                return
        raise AssertionError("it does not come to rest")

    def each_job(self, method: str, what: str, state: JobState) -> None:
        for job_id in self.jobs:
            status, job = self.world.request("GET", f"/jobs/{job_id}")
            if status == 200 and job["state"] == state:
                self.ask(method, f"/jobs/{job_id}/{what}".rstrip("/"), None)

    # what must hold

    @invariant()
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
        executions = by_job(self.executions())
        for job_id in self.said:
            self.check_job(job_id, executions.get(job_id, []), all_due=True)

    def check_standing(self, one: Execution) -> None:
        history = self.said[one.job_id]
        job = history[-1].job
        foreseen = one.status is Status.CANCELLED  # it may have been planned ahead
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
            gates = [item for item in self.stage.items("gates") if item["gate"]["S"] != "rate"]
            live = list(map(told, self.executions(*LIVE)))
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


def due_instants(history: Sequence[Said], now: datetime) -> Iterator[datetime]:
    """Those up to now that must be on record: of each revision while it was in force, up to its last active time.

    What came due in a pause is made up for when the job is resumed, unless it was edited meanwhile. What nobody got
    round to before a job was cancelled or deleted is dropped.
    """
    for revision, group in itertools.groupby(enumerate(history), key=lambda pair: pair[1].job.revision):
        numbers = [number for number, _ in group]
        active = [number for number in numbers if history[number].job.state is JobState.ACTIVE]
        if not active:
            continue
        first = history[numbers[0]].job
        last = active[-1]
        followed = history[last + 1].job if last + 1 < len(history) else None
        if followed is not None and followed.state is JobState.DONE:
            followed = None
        if followed is not None and followed.revision == revision:  # paused, or gone: only up to its pause before
            if len(active) < 2:
                continue
            last = active[-2]
            followed = history[last + 1].job
        start = first.created_at if first.revision == 1 else first.updated_at
        yield from instants(history[last].job, start, followed.updated_at - MILLISECOND if followed else now)


def instants(job: Job, since: datetime, until: datetime) -> Iterator[datetime]:
    due = job.schedule.next_after(since - MILLISECOND)
    while due is not None and due <= until:
        yield due
        due = job.schedule.next_after(due)


def is_due(job: Job, instant: datetime) -> bool:
    return job.schedule.next_after(instant - MILLISECOND) == instant


def may_be_due(history: Sequence[Said], instant: datetime, foreseen: bool) -> bool:
    """Whether a revision has this instant, and was in force then, or the planner had not yet heard otherwise."""
    for revision, group in itertools.groupby(history, key=lambda said: said.job.revision):
        job = next(iter(group)).job
        start = job.created_at if revision == 1 else job.updated_at
        later = [said for said in history if said.job.revision > revision or said.job.state in GONE]
        ends = later[0].known_at if later else None
        if start <= instant and (foreseen or ends is None or instant <= ends) and is_due(job, instant):
            return True
    return False


def _version(job: Job) -> tuple[JobState, datetime, int]:
    return job.state, job.updated_at, job.revision


def picked(things: Sequence[T], number: int) -> T | None:
    return things[number % len(things)] if things else None


def told(one: Execution) -> str:
    reason = f" ({one.reason})" if one.reason else ""
    return f"{one.execution_id} r{one.revision} {one.origin} attempt {one.attempt}: {one.status}{reason}"


@pytest.mark.parametrize("first", SEEDS)
def test_the_rules_hold_whatever_happens_in_whatever_order(
    world: World, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    STAGE[:] = [Stage(world, monkeypatch)]
    run_state_machine_as_test(
        seed(first)(Rules),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate] if "PUNCTUAL_RULES_AS_FOUND" in os.environ else settings.default.phases,
        ),
    )
    print(f"{STAGE[0].stories} stories, {STAGE[0].steps} steps, {STAGE[0].quiet} looks at a job of which all was heard")
    assert STAGE[0].steps >= 30 * EXAMPLES, "the stories are too short to tell anything"
