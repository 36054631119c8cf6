"""What AWS delivers to the functions: stream records, messages and ticks, each at least once, late, and reordered."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from punctual.domain.triggers import filters
from tests.simulator.aws.account import Account
from tests.simulator.deployment import TIMEOUTS, Deployment
from tests.simulator.faults import Faults
from tests.simulator.kernel import Kernel, Process

STREAMS = (
    ("jobs", "planner"),
    ("executions", "planner"),
    ("timers", "planner"),
    ("executions", "settler"),
    ("parts", "admission"),
)
PARALLEL_BATCHES = 3
"""How many batches of a stream are processed concurrently. Records with one partition key stay in order."""
BATCH_SIZE = 100
QUEUES = {
    "high": "worker",
    "normal": "worker",
    "low": "worker",
    "intake": "intake",
    "checks": "monitor",
    "bulk": "bulk",
}
CONCURRENCY = {"high": 10, "normal": 10, "low": 4, "intake": 2, "checks": 2, "bulk": 2}
MESSAGES_PER_BATCH = {"intake": 10}
TICKS = (("monitor", {"do": "tick"}), ("admission", {"do": "tick"}))
RECONCILE_INTERVAL = 300.0
"""Seconds between two runs of the reconciler: more often than on AWS, so that runs are shorter."""
REORDERED_WITHIN, REORDER_GAP = timedelta(minutes=2), timedelta(milliseconds=50)
"""Messages that become visible within this time may be received in another order."""
STREAM_DELAY, QUEUE_DELAY, RETRY_DELAY = 0.1, 0.05, 2.0


@dataclass
class Invoker:
    """Starts invocations. A process is named after its function and a number: ``worker-3``."""

    kernel: Kernel
    deployment: Deployment
    faults: Faults
    ended: Callable[[Process], None]
    """Called with each process that has ended, before its own handler."""
    poll: Callable[[], None] = lambda: None
    """Lets all event sources read what has changed."""
    running: int = 0
    """How many functions are running."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def invoke(self, function: str, event: dict[str, Any], ends: Callable[[Process], None]) -> Process:
        self._numbers[function] = number = self._numbers.get(function, 0) + 1
        name = f"{function}-{number}"
        self.running += 1

        def has_ended(process: Process) -> None:
            self.running -= 1
            self.ended(process)
            ends(process)

        return self.kernel.start(
            name,
            partial(self.deployment.call, function, event),
            ends=has_ended,
            skew=self.faults.skew(name),
            timeout=TIMEOUTS[function],
        )


@dataclass
class StreamLane:
    """The records of one stream for one consumer whose partition keys have the same hash. One batch at a time."""

    table: str
    consumer: str
    number: int
    invoker: Invoker
    delivered: Callable[[str, list[dict[str, Any]]], None]
    pending: list[dict[str, Any]] = field(default_factory=list)
    is_busy: bool = False
    fails: int = 0

    @property
    def name(self) -> str:
        return f"{self.table}/{self.consumer}/{self.number}"

    def add(self, record: dict[str, Any]) -> None:
        self.pending.append(record)
        if not self.is_busy:
            self._schedule(STREAM_DELAY + self.invoker.faults.lag(self.name))

    def _schedule(self, seconds: float) -> None:
        self.is_busy = True
        self.invoker.kernel.after(seconds, self._deliver)

    def _deliver(self) -> None:
        # after a failure, Lambda bisects the batch
        size = max(1, min(len(self.pending), BATCH_SIZE) >> self.fails)
        batch = self.pending[:size]
        self.invoker.invoke(self.consumer, {"Records": batch}, partial(self._ended, batch))

    def _ended(self, batch: list[dict[str, Any]], process: Process) -> None:
        if process.is_dead or process.error is not None:
            self.fails = min(self.fails + 1, 8)
            self._schedule(RETRY_DELAY)
            return
        self.fails = 0
        self.delivered(self.table, batch)
        if not self.invoker.faults.happens("duplicate", self.name):
            del self.pending[: len(batch)]
        if self.pending:
            self._schedule(STREAM_DELAY + self.invoker.faults.lag(self.name))
        else:
            self.is_busy = False


class Streams:
    def __init__(
        self, account: Account, invoker: Invoker, delivered: Callable[[str, list[dict[str, Any]]], None]
    ) -> None:
        self.lanes = {
            (table, consumer, n): StreamLane(table, consumer, n, invoker, delivered)
            for table, consumer in STREAMS
            for n in range(PARALLEL_BATCHES)
        }
        self._tables = account.dynamodb.tables
        self._read = dict.fromkeys(("jobs", "executions", "timers", "parts"), 0)
        self._patterns = {(table, consumer): filters(consumer, table) for table, consumer in STREAMS}

    def poll(self) -> None:
        """Read the new records of all streams."""
        for name, start in self._read.items():
            table = self._tables[name]
            if len(table.history) > start:
                self._read[name] = len(table.history)
                for record in table.records(start):
                    self._route(name, record)

    def _route(self, table: str, record: dict[str, Any]) -> None:
        key = next(iter(record["dynamodb"]["Keys"].values()))["S"]
        for (name, consumer), patterns in self._patterns.items():
            if name == table and any(matches(pattern, record) for pattern in patterns):
                lane = zlib.crc32(key.encode()) % PARALLEL_BATCHES
                self.lanes[table, consumer, lane].add(record)

    @property
    def is_idle(self) -> bool:
        return not any(lane.is_busy for lane in self.lanes.values())

    @property
    def is_settled(self) -> bool:
        """Whether the settler has processed all its records."""
        return not any(lane.is_busy for lane in self.lanes.values() if lane.consumer == "settler")


@dataclass
class QueueSource:
    """Delivers the messages of one queue to its function."""

    queue: str
    account: Account
    invoker: Invoker
    running: int = 0
    _poll_at: datetime | None = None

    def poll(self) -> None:
        """Schedule the next delivery: for messages that are visible, or will be."""
        kernel = self.invoker.kernel
        messages = self.account.sqs.queues[self.queue].messages.values()
        visible_at = min((message.visible_at for message in messages), default=None)
        if visible_at is None or self.running >= CONCURRENCY[self.queue]:
            return
        when = max(visible_at, kernel.now) + timedelta(seconds=QUEUE_DELAY)
        if self._poll_at is None or when < self._poll_at:
            self._poll_at = when
            kernel.at(when, self._receive)

    def _receive(self) -> None:
        kernel = self.invoker.kernel
        if self._poll_at is None or kernel.now < self._poll_at:
            return
        self._poll_at = None
        size = MESSAGES_PER_BATCH.get(self.queue, 1)
        while self.running < CONCURRENCY[self.queue]:
            messages = self._visible()[:size]
            if not messages:
                break
            self._deliver(messages)
        self.poll()

    def _visible(self) -> list[Any]:
        """The messages that can be received. The next one may overtake the first, even if it comes later."""
        queue, now = self.account.sqs.queues[self.queue], self.invoker.kernel.now
        if visible := queue.visible(now):
            soon = [one for one in queue.visible(now + REORDERED_WITHIN) if not one.receives or one.visible_at <= now]
            if len(soon) > 1 and self.invoker.faults.happens("reorder", self.queue):
                soon[0].visible_at = soon[1].visible_at + REORDER_GAP
                visible = queue.visible(now)
        return visible

    def _deliver(self, messages: list[Any]) -> None:
        queue, now, faults = self.account.sqs.queues[self.queue], self.invoker.kernel.now, self.invoker.faults
        for message in messages:
            message.receives += 1
            message.visible_at = now + queue.visibility_timeout
        lag = faults.lag(f"queue/{self.queue}")
        if lag:
            for message in messages:
                message.receives -= 1
                message.visible_at = now + timedelta(seconds=lag)
            return
        records = [self._record(message) for message in messages]
        self._invoke(records)
        if faults.happens("duplicate", f"queue/{self.queue}"):  # SQS delivers a message to two consumers
            self.invoker.kernel.after(0.02, partial(self._invoke, records))

    def _invoke(self, records: list[dict[str, Any]]) -> None:
        self.running += 1
        self.invoker.invoke(QUEUES[self.queue], {"Records": records}, partial(self._ended, records))

    def _ended(self, records: list[dict[str, Any]], process: Process) -> None:
        self.running -= 1
        if not process.is_dead and process.error is None:
            failed = {one["itemIdentifier"] for one in process.result["batchItemFailures"]}
            messages = self.account.sqs.queues[self.queue].messages
            for record in records:
                if record["messageId"] in failed or self.invoker.faults.happens("duplicate", f"kept/{self.queue}"):
                    continue  # not deleted: visible again after its timeout
                messages.pop(record["messageId"], None)
        self.poll()

    def _record(self, message: Any) -> dict[str, Any]:
        response = message.to_response()
        return {
            "messageId": response["MessageId"],
            "receiptHandle": response["ReceiptHandle"],
            "body": response["Body"],
            "attributes": response["Attributes"],
            "messageAttributes": response["MessageAttributes"],
            "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{self.queue}",
        }


class OneTimeSchedules:
    """EventBridge Scheduler: starts the state machine of a long execution, up to a minute late."""

    def __init__(self, account: Account, invoker: Invoker) -> None:
        self._account, self._invoker = account, invoker
        self._armed: set[Any] = set()

    def poll(self) -> None:
        for schedule in self._account.scheduler.schedules.values():
            key = (schedule.name, schedule.at)
            if key not in self._armed:
                self._armed.add(key)
                late = self._invoker.faults.lag("schedule") or 0.2
                self._invoker.kernel.at(schedule.at + timedelta(seconds=late), partial(self._fire, schedule))

    def _fire(self, schedule: Any) -> None:
        self._armed.discard((schedule.name, schedule.at))
        if self._account.scheduler.schedules.get((schedule.group, schedule.name)) != schedule:
            return
        self._account.scheduler.complete(schedule)
        copies = 2 if self._invoker.faults.happens("duplicate", "schedule") else 1
        for number in range(copies):  # EventBridge delivers at least once, each time with a new name
            name = f"{schedule.name}-schedule-{self._invoker.kernel.steps}-{number}"
            self._account.states.start_execution(
                stateMachineArn=schedule.target["Arn"], name=name, input=schedule.target["Input"]
            )
        self._invoker.kernel.log(f"the schedule {schedule.name} starts {copies} runs")
        self._invoker.poll()


class Ticks:
    """The functions that are invoked every minute, and the reconciler."""

    def __init__(self, invoker: Invoker) -> None:
        self._invoker = invoker
        invoker.kernel.after(1.0, self._tick)
        invoker.kernel.after(RECONCILE_INTERVAL, self._reconcile)

    def _reconcile(self) -> None:
        self._invoker.kernel.after(RECONCILE_INTERVAL, self._reconcile)
        self._invoker.invoke("reconciler", {}, lambda _: None)

    def _tick(self) -> None:
        self._invoker.kernel.after(60.0, self._tick)
        shards = self._invoker.deployment.ticks
        sweeps = [("dispatcher", {"shard": shard, "shards": shards}) for shard in range(shards)]
        for function, event in (*sweeps, *TICKS):
            if not self._invoker.faults.happens("tick", function):
                self._invoker.invoke(function, dict(event), lambda _: None)


def matches(pattern: dict[str, Any], value: dict[str, Any]) -> bool:
    """Whether a record passes a filter pattern of an event source mapping."""
    for name, wanted in pattern.items():
        have = value.get(name)
        if isinstance(wanted, list):
            if have not in wanted and not (have is not None and {"exists": True} in wanted):
                return False
        elif not isinstance(have, dict) or not matches(wanted, have):
            return False
    return True
