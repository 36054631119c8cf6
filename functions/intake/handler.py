"""Messages from upstream systems → the intake stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.lanes import SqsDeadLetters
from punctual.domain import instant
from punctual.runtime import adapters
from punctual.runtime.function import function
from punctual.runtime.settings import IntakeSettings
from punctual.stages.intake import Intake, Message

settings = IntakeSettings.from_env()
intake = Intake(
    jobs=adapters.jobs(settings),
    executions=adapters.executions(settings),
    dead_letters=SqsDeadLetters(settings.dead_letter_queue_url, sqs),
    clock=instant.now,
)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """All of a batch or none of it: storing an execution twice changes nothing."""
    intake.take(_message(record) for record in event["Records"])
    return {"batchItemFailures": []}


def _message(record: dict[str, Any]) -> Message:
    sent_at = instant.from_epoch_ms(int(record["attributes"]["SentTimestamp"]))
    return Message(message_id=record["messageId"], sent_at=sent_at, body=record["body"])
