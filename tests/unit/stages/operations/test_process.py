"""A bulk operation with 10,000 items, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from punctual.domain.operations.operation import (
    MAX_ITEMS,
    STEP_SIZE,
    BulkAction,
    ItemOutcome,
    ItemResult,
    Kind,
    Operation,
    OperationState,
)
from punctual.domain.requests.caller import Caller, Role
from punctual.stages.operations.process import MAX_PROCESS_TIME, MAX_STEPS, OperationProcessor, ProcessOutcome

NOW = datetime(2026, 11, 19, tzinfo=UTC)
IDS = [f"job {number}" for number in range(MAX_ITEMS)]


@dataclass
class World:
    """The store, the queue, the clock, and the action on each item."""

    operation: Operation
    seconds_per_item: float = 0
    now: datetime = NOW
    sent: list[str] = field(default_factory=list)
    acted: Counter[str] = field(default_factory=Counter)

    def get(self, _: str) -> Operation:
        return self.operation

    def items(self, operation: Operation) -> Sequence[str]:
        return IDS[operation.position : operation.position + STEP_SIZE]

    def advance(self, before: Operation, after: Operation, _: Sequence[ItemResult]) -> bool:
        if self.operation != before:
            return False
        self.operation = after
        return True

    def send(self, operation_id: str) -> None:
        self.sent.append(operation_id)

    def act(self, _: Operation, item_id: str) -> ItemResult:
        self.now += timedelta(seconds=self.seconds_per_item)
        self.acted[item_id] += 1
        outcome = ItemOutcome.FAILED if item_id == IDS[-1] else ItemOutcome.DONE
        return ItemResult(item_id, outcome)

    @property
    def processor(self) -> OperationProcessor:
        fakes: Any = self
        return OperationProcessor(
            operations=fakes,
            queue=fakes,
            actor=fakes,
            clock=lambda: self.now,
            is_of_aws=lambda _: False,
            warn=lambda _: None,
        )


def world(**fields: Any) -> World:
    operation = Operation(
        operation_id="operation",
        kind=Kind.JOBS,
        action=BulkAction.PAUSE,
        created_by=Caller("ana", ("team",), Role.OPERATOR),
        created_at=NOW,
        total=MAX_ITEMS,
        step_at=NOW,
        items_of="operation",
    )
    return World(operation, **fields)


def test_10_000_items_take_ten_messages_and_each_item_is_changed_once() -> None:
    one = world()
    invocations = 1
    while one.processor.process("operation") is ProcessOutcome.CONTINUED:
        invocations += 1
    assert invocations == MAX_ITEMS // (STEP_SIZE * MAX_STEPS) + 1  # the last message finds that it has ended
    assert len(one.sent) == invocations - 1
    assert set(one.acted.values()) == {1}
    found = one.operation
    assert (found.state, found.position, found.done, found.failed) == (OperationState.FAILED, 10_000, 9_999, 1)


def test_an_invocation_with_slow_items_ends_in_time_and_has_the_rest_continued() -> None:
    one = world(seconds_per_item=0.5)
    assert one.processor.process("operation") is ProcessOutcome.CONTINUED
    assert one.sent == ["operation"]
    assert MAX_PROCESS_TIME < one.now - NOW < MAX_PROCESS_TIME + timedelta(seconds=STEP_SIZE)
    assert one.operation.position == one.operation.done == 75


def test_an_invocation_that_is_overtaken_neither_counts_nor_sends() -> None:
    one = world()
    slow = one.processor
    real = one.items

    def overtaken(operation: Operation) -> Sequence[str]:
        ids = real(operation)
        if operation.position == 0 and not one.sent:
            world_of_the_other = one.processor
            one.items = real  # type: ignore[method-assign]
            assert world_of_the_other.process("operation") is ProcessOutcome.CONTINUED
        return ids

    one.items = overtaken  # type: ignore[method-assign]
    assert slow.process("operation") is ProcessOutcome.OVERTAKEN
    assert one.sent == ["operation"]
    assert one.operation.position == one.operation.done == STEP_SIZE * MAX_STEPS
