"""The work queues of the short lane."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from punctual.aws.sqs.sending import send_all
from punctual.domain.executions.horizon import MAX_SQS_DELAY
from punctual.domain.executions.work_order import WorkOrder
from punctual.domain.lane import Priority

_VISIBLE = "ApproximateNumberOfMessages"
MAX_WAIT = timedelta(milliseconds=250)
"""The longest wait of a worker that receives its order early. docs/benchmarks.md compares it with other values."""


@dataclass(frozen=True)
class SqsWorkQueues:
    queue_urls: Mapping[Priority, str]
    sqs: Callable[[], Any]

    def length(self, priority: Priority) -> int:
        answer = self.sqs().get_queue_attributes(QueueUrl=self.queue_urls[priority], AttributeNames=[_VISIBLE])
        return int(answer["Attributes"][_VISIBLE])

    def send(self, orders: Iterable[WorkOrder], now: datetime) -> None:
        by_priority: dict[Priority, list[WorkOrder]] = {}
        for order in orders:
            by_priority.setdefault(order.priority, []).append(order)
        for priority, group in by_priority.items():
            send_all(self.sqs(), self.queue_urls[priority], (_message(order, now) for order in group))


def _message(order: WorkOrder, now: datetime) -> dict[str, Any]:
    return {
        "MessageBody": order.to_body(),
        "DelaySeconds": delay_seconds(order, now),
        # the owner as message group: SQS fair queues prevent an owner from starving the others
        "MessageGroupId": group_id(order.owner),
    }


def delay_seconds(order: WorkOrder, now: datetime) -> int:
    """The delay in whole seconds: rounded down if the worker then waits for at most ``MAX_WAIT``, else rounded up.

    A worker that waits is billed. An order that is rounded up arrives less than ``1 s - MAX_WAIT`` after its instant.
    """
    remaining = min(max(order.not_before - now, timedelta()), MAX_SQS_DELAY)
    seconds, fraction = divmod(remaining, timedelta(seconds=1))
    return seconds + (fraction > MAX_WAIT)


def group_id(owner: str) -> str:
    """The owner as a message group id. An owner that is not a valid id, of up to 128 ASCII characters, is hashed."""
    plain = owner.isascii() and owner.isprintable() and " " not in owner and len(owner) <= 128
    return owner if plain else hashlib.sha256(owner.encode()).hexdigest()


if TYPE_CHECKING:
    from punctual.ports.planning import WorkQueues

    _work_queues: type[WorkQueues] = SqsWorkQueues
