"""A dead-letter queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

MAX_BODY_LENGTH = 250_000
"""Characters kept of a dead-lettered body, so that body and reason fit into one SQS message in any encoding."""


@dataclass(frozen=True)
class SqsDeadLetters:
    queue_url: str
    sqs: Callable[[], Any]
    """Called only when needed: most functions never send a dead letter, and creating the client is slow."""

    def dead_letter(self, body: str, reason: str) -> None:
        self.sqs().send_message(
            QueueUrl=self.queue_url,
            MessageBody=body[:MAX_BODY_LENGTH] or "(empty)",
            MessageAttributes={"reason": {"DataType": "String", "StringValue": reason[:1000]}},
        )


if TYPE_CHECKING:
    from punctual.ports.dead_letters import DeadLetters

    _dead_letters: type[DeadLetters] = SqsDeadLetters
