"""Messages from upstream systems → the intake stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.lanes import SqsDeadLetters
from punctual.domain import instant
from punctual.runtime import adapters
from punctual.runtime.function import function, logger
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
    """All of a batch at once; one by one when that fails, so that none is held up by another."""
    try:
        intake.take(_message(record) for record in event["Records"])
        return {"batchItemFailures": []}
    except Exception:
        logger.exception("the batch could not be taken in at once")
        failures = [record["messageId"] for record in event["Records"] if not _taken(record)]
        return {"batchItemFailures": [{"itemIdentifier": one} for one in failures]}


def _taken(record: dict[str, Any]) -> bool:
    try:
        intake.take([_message(record)])
        return True
    except Exception:
        logger.exception("a message could not be taken in", extra={"message_id": record["messageId"]})
        return False


def _message(record: dict[str, Any]) -> Message:
    sent_at = instant.from_epoch_ms(int(record["attributes"]["SentTimestamp"]))
    return Message(message_id=record["messageId"], sent_at=sent_at, body=record["body"])
