"""Messages of the notice queue → the receive_notice stage."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.clients import dynamodb, ses, sns, sns_in, sqs
from punctual.aws.dynamodb.notice_ledger import DynamoNoticeLedger
from punctual.aws.dynamodb.table import Table
from punctual.aws.ses.mail import SesMail
from punctual.aws.sns.topics import SnsTopics
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.domain import instant
from punctual.domain.jobs.destination import Topic
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import NotifierSettings
from punctual.runtime.notices.destinations import StageDestinations
from punctual.stages.watch.notify import Notifier
from punctual.stages.watch.receive_notice import NoticeReceiver

settings = NotifierSettings.from_env()
notifier = Notifier(
    ledger=DynamoNoticeLedger(Table(settings.signals_table, dynamodb()), settings.retention),
    destinations=StageDestinations(
        topics=SnsTopics({Topic.PAGE: settings.page_topic_arn, Topic.NOTICE: settings.notice_topic_arn}, sns, sns_in),
        mail=SesMail(settings.email_sender or None, ses),
        jobs=wiring.jobs(settings),
        clock=instant.now,
        api_url=settings.api_url,
    ),
    window_ends=SqsNotices(settings.notices_queue_url, sqs),
)
receiver = NoticeReceiver(
    notifier=notifier,
    dead_letters=SqsDeadLetters(settings.dead_letter_queue_url, sqs),
    is_of_aws=lambda error: isinstance(error, ClientError | BotoCoreError),
)

RESERVED_SECONDS = 12
"""Left for one delivery. With less, the messages of a batch that slow destinations have delayed are redelivered."""


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    failures = [record["messageId"] for record in event["Records"] if not _is_done(record, context)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failures]}


def _is_done(record: dict[str, Any], context: Any) -> bool:
    """Handle one message; ``False`` requests its redelivery."""
    if context.get_remaining_time_in_millis() < RESERVED_SECONDS * 1000:
        return _redeliver(record, timedelta(seconds=1))
    try:
        reception = receiver.receive(record["body"], _deliveries(record), instant.now())
    except (ClientError, BotoCoreError):
        logger.exception("notice not published, will be redelivered", extra={"message_id": record["messageId"]})
        return False
    if reception.problem:
        logger.warning(reception.problem)
    else:
        logger.info(str(reception.result), extra={"notice": reception.notice_id})
    return reception.is_done if reception.delay is None else _redeliver(record, reception.delay)


def _deliveries(record: dict[str, Any]) -> int:
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))


def _redeliver(record: dict[str, Any], delay: timedelta) -> bool:
    sqs().change_message_visibility(
        QueueUrl=settings.notices_queue_url,
        ReceiptHandle=record["receiptHandle"],
        VisibilityTimeout=int(delay.total_seconds()),
    )
    return False
