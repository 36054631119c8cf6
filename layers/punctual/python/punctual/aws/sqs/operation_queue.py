"""The queue of bulk operations: each message has one operation continued."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any


@dataclass(frozen=True)
class SqsOperationQueue:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, operation_id: str) -> None:
        body = json.dumps({"operation_id": operation_id})
        self.sqs().send_message(QueueUrl=self.queue_url, MessageBody=body)


if TYPE_CHECKING:
    from punctual.ports.operations import OperationQueue

    _operation_queue: type[OperationQueue] = SqsOperationQueue
