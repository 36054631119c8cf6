"""Lambda handler of the intake: stores executions for the messages of an SQS batch."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import sqs
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.forecasts.queue_flow import INTAKE, FlowCounter
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import IntakeSettings
from punctual.stages.plan.intake import Delivery, Intake

settings = IntakeSettings.from_env()
intake = Intake(
    jobs=wiring.jobs(settings),
    executions=wiring.executions(settings),
    arrivals=wiring.arrivals(settings),
    dead_letters=SqsDeadLetters(settings.dead_letter_queue_url, sqs),
    warn=logger.warning,
    clock=instant.now,
)
flows = wiring.flows(settings)
flow = FlowCounter()


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Take the whole batch at once; if that fails, take the messages one by one, so that none blocks another."""
    failures = _take_all(event["Records"])
    flow.flush(flows.add, instant.now(), logger.warning)
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failures]}


def _take_all(records: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the messages that failed. SQS delivers those again."""
    try:
        _take(records)
        return []
    except Exception:
        logger.exception("intake of the batch failed; its messages are taken one by one")
        return [record["messageId"] for record in records if not _try_take(record)]


def _try_take(record: dict[str, Any]) -> bool:
    try:
        _take([record])
        return True
    except Exception:
        logger.exception("intake of a message failed; it is delivered again", extra={"message_id": record["messageId"]})
        return False


def _take(records: list[dict[str, Any]]) -> None:
    began = instant.now()
    messages = [_message(record) for record in records]
    intake.take(messages)
    share = (instant.now() - began) / len(messages)
    for message in messages:
        flow.count_start(INTAKE, message.sent_at, began)
        flow.count_end(INTAKE, share, succeeded=True)


def _message(record: dict[str, Any]) -> Delivery:
    sent_at = instant.from_epoch_ms(int(record["attributes"]["SentTimestamp"]))
    return Delivery(message_id=record["messageId"], sent_at=sent_at, body=record["body"])
