"""The short lane's queues, and the dead-letter queues."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from punctual.aws.sqs.sending import send_all
from punctual.domain.executions.horizon import LONGEST_DELAY
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.lane import Priority

LARGEST_BODY = 250_000
"""Characters of a buried message: with its reason it must fit into a message itself, whatever it is made of."""


@dataclass(frozen=True)
class SqsLanes:
    queue_urls: Mapping[Priority, str]
    sqs: Callable[[], Any]

    def send(self, orders: Iterable[WorkOrder], now: datetime) -> None:
        by_priority: dict[Priority, list[WorkOrder]] = {}
        for order in orders:
            by_priority.setdefault(order.priority, []).append(order)
        for priority, group in by_priority.items():
            send_all(self.sqs(), self.queue_urls[priority], (_message(order, now) for order in group))


@dataclass(frozen=True)
class SqsDeadLetters:
    queue_url: str
    sqs: Callable[[], Any]
    """Made when first needed: most functions never bury anything, and a client is slow to make."""

    def bury(self, body: str, reason: str) -> None:
        self.sqs().send_message(
            QueueUrl=self.queue_url,
            MessageBody=body[:LARGEST_BODY] or "(empty)",
            MessageAttributes={"reason": {"DataType": "String", "StringValue": reason[:1000]}},
        )


def _message(order: WorkOrder, now: datetime) -> dict[str, Any]:
    return {
        "MessageBody": order.to_body(),
        "DelaySeconds": delay_seconds(order, now),
        # the owner as message group: SQS shares a queue fairly between groups
        "MessageGroupId": group_id(order.owner),
    }


def delay_seconds(order: WorkOrder, now: datetime) -> int:
    """Whole seconds, rounded down: the worker waits out the fraction, which a queue cannot."""
    remaining = min(order.not_before - now, LONGEST_DELAY)
    return max(0, math.floor(remaining / timedelta(seconds=1)))


def group_id(owner: str) -> str:
    """The owner as a message group: at most 128 characters of those that SQS allows."""
    plain = owner.isascii() and owner.isprintable() and " " not in owner and len(owner) <= 128
    return owner if plain else hashlib.sha256(owner.encode()).hexdigest()
