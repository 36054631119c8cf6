"""Simulation of AWS for the property tests: processes, deliveries of records and messages, and time."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.job_item import item_to_job
from punctual.domain.jobs.job import Job, JobState
from tests.integration.rules.history import Said
from tests.integration.rules.process import Manner, Process
from tests.integration.rules.stage import Stage

LIMITS = {"api": 29, "planner": 120, "settler": 60, "dispatcher": 55, "worker": 900}
"""The timeout of each function in seconds."""
HIDDEN = timedelta(minutes=16)
"""The visibility timeout: a message whose worker crashed is redelivered after this."""
MOST_ROUNDS = 400
"""Enough rounds for an hour of instants that run sequentially after an outage."""


@dataclass
class Mail:
    """A message that was received from a queue and not yet deleted."""

    message: dict[str, Any]
    visible_at: datetime
    busy: bool = False


class Backstage:
    def __init__(self, stage: Stage) -> None:
        self.stage, self.world = stage, stage.world
        self.processes: list[Process] = []
        self.jobs: list[str] = []
        self.said: dict[str, list[Said]] = defaultdict(list)
        self.pending: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        """Records by table, consumer and job: a stream keeps the order of records of one key."""
        self.busy: set[tuple[str, str, str]] = set()
        self.mail: list[Mail] = []
        self.broken: list[str] = []
        """Invariants that were violated when a task started."""

    def ask(self, method: str, path: str, body: Any, stop: int | None = None) -> None:
        self.start("api", lambda: self.world.request(method, path, body), stop, self.answered)

    def answered(self, process: Process) -> None:
        status, body = process.answer
        assert status < 500, body
        if status == 201:
            self.jobs += [job["job_id"] for job in body.get("items", [body]) if "job_id" in job]

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
        try:
            process.go(stop)
        finally:
            if process.over:
                self.processes.remove(process)
        if process.over:
            process.done(process)
        assert not self.broken, self.broken

    def kill(self, process: Process) -> None:
        process.die()
        self.processes.remove(process)
        process.given_up()

    def break_off(self) -> None:
        for process in self.processes:
            process.died or process.die()

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
        for item in self.stage.items("jobs"):  # the planner receives no record when a job becomes done
            if item.get("state", {}).get("S") == JobState.DONE:
                self.say(item_to_job(plain(item)))

    def say(self, job: Job) -> None:
        before = self.said[job.job_id][-1].job if self.said[job.job_id] else None
        if before is None or (before.state, before.revision) != (job.state, job.revision):
            self.said[job.job_id].append(Said(job))

    def deliver(self, keys: list[tuple[str, str, str]], count: int, stop: int | None, again: bool = False) -> None:
        """Deliver records of these keys, of one table and consumer, as one batch. ``again``: redeliver them later."""
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

    def run_until_idle(self) -> None:
        """Resume suspended processes, tick the dispatcher, and deliver everything until nothing is left."""
        for process in self.stopped():
            self.advance(process)
        self.start("dispatcher", self.world.tick)
        for _ in range(MOST_ROUNDS):
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
        raise AssertionError(f"there are still records or messages to deliver after {MOST_ROUNDS} rounds")

    def each_job(self, method: str, what: str, state: JobState) -> None:
        for job_id in self.jobs:
            status, job = self.world.request("GET", f"/jobs/{job_id}")
            if status == 200 and job["state"] == state:
                self.ask(method, f"/jobs/{job_id}/{what}".rstrip("/"), None)


def _version(job: Job) -> tuple[JobState, datetime, int]:
    return job.state, job.updated_at, job.revision
