"""Messages from upstream systems → the intake stage."""

from __future__ import annotations

from typing import Any

from punctual.aws.clients import client
from punctual.aws.executions import DynamoExecutions
from punctual.aws.jobs import DynamoJobs
from punctual.aws.lanes import SqsDeadLetters
from punctual.aws.table import Table
from punctual.domain import instant
from punctual.runtime.function import function
from punctual.runtime.settings import IntakeSettings
from punctual.stages.intake import Intake, Message

settings = IntakeSettings.from_env()
dynamodb = client("dynamodb")
intake = Intake(
    jobs=DynamoJobs(Table(settings.jobs_table, dynamodb), settings.retention),
    executions=DynamoExecutions(Table(settings.executions_table, dynamodb), settings.timer_shards, settings.retention),
    dead_letters=SqsDeadLetters(settings.dead_letter_queue_url, client("sqs")),
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
