"""The world that all examples share, reset before each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from punctual.aws import clients
from punctual.domain import identity
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.queue_flow import FlowCounter
from tests.integration.conftest import START
from tests.integration.event_sources import STREAM_CONSUMERS, EventSources, table_in_memory
from tests.integration.rules.process import Run, Runner, about_to_call
from tests.integration.world import World
from tests.resources import create_tables

FILTERED = ("jobs", "executions")


class SharedFlowCounter(FlowCounter):
    """A counter that is never flushed: on AWS each worker has its own, here concurrent workers share one."""

    def flush(self, *_: Any) -> None:
        """Do nothing."""


@dataclass
class Stage:
    world: World = field(repr=False)
    monkeypatch: pytest.MonkeyPatch = field(repr=False)
    steps: int = 0
    stories: int = 0
    quiet: int = 0
    """How many checks of a job happened while the planner was up to date."""
    let_go: int = 0
    """How many dependants started."""
    streams: EventSources = field(default_factory=EventSources, repr=False)

    def __post_init__(self) -> None:
        for client, name in ((clients.dynamodb(), "dynamodb"), (clients.sqs(), "sqs")):
            client.meta.events.register(f"before-call.{name}", about_to_call)
        self.world.submit(schedule={"every_seconds": 60})  # warms up the functions
        self.world.run_for(61, step=61)

    def clear(self, started: Callable[[Execution], Run]) -> None:
        world, numbers = self.world, itertools.count(1)
        self.stories += 1
        self.streams = EventSources()
        for table in world.dynamodb.list_tables()["TableNames"]:
            world.dynamodb.delete_table(TableName=table)
        create_tables(world.dynamodb)
        for url in world.queues.values():
            world.sqs.delete_queue(QueueUrl=url)
        assert world._create_queues() == world.queues
        world._traveller.move_to(START)
        self.monkeypatch.setattr(identity.secrets, "randbits", lambda _: next(numbers))
        self.monkeypatch.setattr(identity.secrets, "token_hex", lambda _: f"{next(numbers):08d}")
        module = world.function("worker")
        module.flow = SharedFlowCounter()
        module.worker = replace(module.worker, flow=module.flow, runner=Runner(started))

    def items(self, table: str) -> list[dict[str, Any]]:
        """All items of a table, read from moto's memory because that is faster than a scan."""
        return [item.to_json()["Attributes"] for item in table_in_memory(table).all_items()]

    def new_records(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """New stream records: the table, the consumer and the record. Each record is returned once."""
        for table in FILTERED:
            for consumer in STREAM_CONSUMERS[table]:
                for record in self.streams.new_records(table, consumer):
                    yield table, consumer, record
