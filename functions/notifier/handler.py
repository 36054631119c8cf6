"""Messages of the notice queue → the notify stage."""

from __future__ import annotations

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
from punctual.domain.errors import NotDelivered
from punctual.domain.jobs.destination import Topic
from punctual.domain.notices.digest_window import read_message
from punctual.domain.notices.notice import Notice
from punctual.runtime.lambdas import wiring
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import NotifierSettings
from punctual.runtime.notices.destinations import StageDestinations
from punctual.stages.watch.notify import Notifier, NotifyResult

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
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)


MAX_DELIVERIES = 20
"""Deliveries of a message for a destination that does not accept it: 4 hours with the delays below."""
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 65, 900
"""Bounds of the exponential backoff. Longer than ``PUBLICATION_LEASE``, after which a publication can be repeated."""
RESERVED_SECONDS = 12
"""Left for one delivery. With less, the messages of a batch that slow destinations have delayed are redelivered."""


@function
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    failures = [record["messageId"] for record in event["Records"] if not _is_done(record, context)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failures]}


def _is_done(record: dict[str, Any], context: Any) -> bool:
    """Handle one message; ``False`` requests its redelivery.

    AWS errors are transient, so the message is redelivered. So it is, after a delay, if its destination does not accept
    it now. Any other error is permanent, so the message goes to the dead-letter queue at once.
    """
    if context.get_remaining_time_in_millis() < RESERVED_SECONDS * 1000:
        return _redeliver(record, 1)
    try:
        return _notify(record)
    except (ClientError, BotoCoreError):
        logger.exception("notice not published, will be redelivered", extra={"message_id": record["messageId"]})
        return False
    except NotDelivered as error:
        logger.warning("notice not delivered, will be tried again", extra={"reason": str(error)})
        return _redeliver(record, min(MIN_RETRY_SECONDS * 2 ** min(_receives(record) - 1, 10), MAX_RETRY_SECONDS))


def _notify(record: dict[str, Any]) -> bool:
    try:
        message, now = read_message(record["body"]), instant.now()
        if isinstance(message, Notice):
            result, notice_id = notifier.notify(message, now), message.id
        else:
            result, notice_id = notifier.end_window(message, now), message.summary_id
        logger.info(str(result), extra={"notice": notice_id})
        return result is not NotifyResult.RETRY
    except (ClientError, BotoCoreError):
        raise
    except Exception as error:
        if isinstance(error, NotDelivered) and _receives(record) < MAX_DELIVERIES:
            raise
        logger.warning(f"moved a message to the dead-letter queue: {type(error).__name__}: {error}")
        dead_letters.dead_letter(record["body"], f"{type(error).__name__}: {error}")
        return True


def _receives(record: dict[str, Any]) -> int:
    return int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))


def _redeliver(record: dict[str, Any], seconds: int) -> bool:
    sqs().change_message_visibility(
        QueueUrl=settings.notices_queue_url, ReceiptHandle=record["receiptHandle"], VisibilityTimeout=seconds
    )
    return False
