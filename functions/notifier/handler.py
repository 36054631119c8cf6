"""Messages of the notice queue → the notify stage."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.clients import dynamodb, sns, sqs
from punctual.aws.dynamodb.notice_ledger import DynamoNoticeLedger
from punctual.aws.dynamodb.table import Table
from punctual.aws.sns.topics import SnsTopics
from punctual.aws.sqs.dead_letters import SqsDeadLetters
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.domain import instant
from punctual.domain.jobs.notify_rule import Topic
from punctual.domain.notices.digest_window import read_message
from punctual.domain.notices.notice import Notice
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import NotifierSettings
from punctual.stages.watch.notify import Notifier, NotifyResult

settings = NotifierSettings.from_env()
notifier = Notifier(
    ledger=DynamoNoticeLedger(Table(settings.signals_table, dynamodb()), settings.retention),
    topics=SnsTopics(
        {Topic.PAGE: settings.page_topic_arn, Topic.NOTICE: settings.notice_topic_arn}, sns, settings.api_url
    ),
    window_ends=SqsNotices(settings.notices_queue_url, sqs),
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    failures = [record["messageId"] for record in event["Records"] if not _is_done(record)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failures]}


def _is_done(record: dict[str, Any]) -> bool:
    """Handle one message; ``False`` requests its redelivery.

    AWS errors are transient, so the message is redelivered. Any other error is permanent, so the message goes to the
    dead-letter queue at once.
    """
    try:
        return _notify(record["body"])
    except (ClientError, BotoCoreError):
        logger.exception("notice not published, will be redelivered", extra={"message_id": record["messageId"]})
        return False


def _notify(body: str) -> bool:
    try:
        message, now = read_message(body), instant.now()
        if isinstance(message, Notice):
            result, notice_id = notifier.notify(message, now), message.id
        else:
            result, notice_id = notifier.end_window(message, now), message.summary_id
        logger.info(str(result), extra={"notice": notice_id})
        return result is not NotifyResult.RETRY
    except (ClientError, BotoCoreError):
        raise
    except Exception as error:
        logger.warning(f"moved a message to the dead-letter queue: {type(error).__name__}: {error}")
        dead_letters.dead_letter(body, f"{type(error).__name__}: {error}")
        return True
