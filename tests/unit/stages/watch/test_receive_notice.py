from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import NotDelivered, Undeliverable
from punctual.stages.watch.notify import NotifyResult
from punctual.stages.watch.receive_notice import MAX_DELAY, MAX_DELIVERIES, MIN_DELAY, NoticeReceiver
from tests.unit.stages.watch.test_notify import notice

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class OfAws(Exception):
    pass


@dataclass
class FakeNotifier:
    outcome: NotifyResult | Exception

    def notify(self, *_: Any) -> NotifyResult:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@dataclass
class World:
    outcome: NotifyResult | Exception
    dead: list[str] = field(default_factory=list)

    def dead_letter(self, _body: str, reason: str) -> None:
        self.dead.append(reason)

    def receive(self, body: str = "", deliveries: int = 1) -> tuple[bool, timedelta | None]:
        receiver = NoticeReceiver(FakeNotifier(self.outcome), self, lambda error: isinstance(error, OfAws))
        reception = receiver.receive(body or notice(1).to_body(), deliveries, NOW)
        return reception.is_done, reception.delay


@pytest.mark.parametrize(
    ("result", "is_done"), [(NotifyResult.PUBLISHED, True), (NotifyResult.COUNTED, True), (NotifyResult.RETRY, False)]
)
def test_a_message_is_deleted_unless_the_notifier_asks_for_its_redelivery(result: NotifyResult, is_done: bool) -> None:
    assert World(result).receive() == (is_done, None)


@pytest.mark.parametrize(("deliveries", "delay"), [(1, MIN_DELAY), (2, 2 * MIN_DELAY), (MAX_DELIVERIES - 1, MAX_DELAY)])
def test_a_refused_notice_is_redelivered_by_exponential_backoff(deliveries: int, delay: timedelta) -> None:
    world = World(NotDelivered("503"))
    assert world.receive(deliveries=deliveries) == (False, delay)
    assert world.dead == []


def test_a_notice_that_is_refused_at_its_last_delivery_becomes_a_dead_letter() -> None:
    world = World(NotDelivered("503"))
    assert world.receive(deliveries=MAX_DELIVERIES) == (True, None)
    assert world.dead == ["NotDelivered: 503"]


def test_a_permanent_error_becomes_a_dead_letter_at_once() -> None:
    world = World(Undeliverable("no such address"))
    assert world.receive() == (True, None)
    assert world.dead == ["Undeliverable: no such address"]


def test_an_unreadable_message_becomes_a_dead_letter() -> None:
    world = World(NotifyResult.PUBLISHED)
    assert world.receive("no JSON") == (True, None)
    assert len(world.dead) == 1


def test_an_error_of_aws_is_left_to_the_caller() -> None:
    world = World(OfAws())
    with pytest.raises(OfAws):
        world.receive()
    assert world.dead == []
