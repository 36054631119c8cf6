"""Messages from upstream systems → the intake stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import dynamodb, sqs
from punctual.aws.dynamodb.queue_flows import DynamoFlows
from punctual.aws.dynamodb.table import Table
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.forecasts.queue_flow import INTAKE, Tally
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import IntakeSettings
from punctual.stages.plan.intake import Intake, Message

settings = IntakeSettings.from_env()
intake = Intake(
    jobs=wiring.jobs(settings),
    executions=wiring.executions(settings),
    dead_letters=SqsDeadLetters(settings.dead_letter_queue_url, sqs),
    clock=instant.now,
)
flows = DynamoFlows(Table(settings.signals_table, dynamodb()))
flow = Tally()


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """All of a batch at once; one by one when that fails, so that none is held up by another."""
    failures = _take_all(event["Records"])
    flow.tell(flows.add, instant.now(), logger.warning)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failures]}


def _take_all(records: list[dict[str, Any]]) -> list[str]:
    """The ids of those that could not be taken in."""
    try:
        _take(records)
        return []
    except Exception:
        logger.exception("the batch could not be taken in at once")
        return [record["messageId"] for record in records if not _taken(record)]


def _taken(record: dict[str, Any]) -> bool:
    try:
        _take([record])
        return True
    except Exception:
        logger.exception("a message could not be taken in", extra={"message_id": record["messageId"]})
        return False


def _take(records: list[dict[str, Any]]) -> None:
    began = instant.now()
    messages = [_message(record) for record in records]
    intake.take(messages)
    share = (instant.now() - began) / len(messages)
    for message in messages:
        flow.started(INTAKE, message.sent_at, began)
        flow.ended(INTAKE, share, succeeded=True)


def _message(record: dict[str, Any]) -> Message:
    sent_at = instant.from_epoch_ms(int(record["attributes"]["SentTimestamp"]))
    return Message(message_id=record["messageId"], sent_at=sent_at, body=record["body"])
