"""Messages on the queue of notices → the notify stage."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.aws.clients import dynamodb, sns, sqs
from punctual.aws.dynamodb.notice_ledger import DynamoNoticeLedger
from punctual.aws.dynamodb.table import Table
from punctual.aws.sns.topics import SnsTopics
from punctual.aws.sqs.notice_queue import SqsNotices
from punctual.aws.sqs.work_queues import SqsDeadLetters
from punctual.domain import instant
from punctual.domain.jobs.notify_rule import Topic
from punctual.domain.notices.digest_window import read_message
from punctual.domain.notices.notice import Notice
from punctual.runtime.lambdas.function import function, logger
from punctual.runtime.lambdas.settings import NotifierSettings
from punctual.stages.watch.notify import Fate, Notifier

settings = NotifierSettings.from_env()
notifier = Notifier(
    ledger=DynamoNoticeLedger(Table(settings.signals_table, dynamodb()), settings.retention),
    topics=SnsTopics({Topic.PAGE: settings.page_topic_arn, Topic.NOTICE: settings.notice_topic_arn}, sns),
    ends=SqsNotices(settings.notices_queue_url, sqs),
)
dead_letters = SqsDeadLetters(settings.dead_letter_queue_url, sqs)


@function
def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    failures = [record["messageId"] for record in event["Records"] if not _done_with(record)]
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failures]}


def _done_with(record: dict[str, Any]) -> bool:
    """Trouble with AWS itself passes, so the message comes again. What no retry will ever cure is buried at once."""
    try:
        return _tell(record["body"])
    except (ClientError, BotoCoreError):
        logger.exception("a notice could not be told", extra={"message_id": record["messageId"]})
        return False


def _tell(body: str) -> bool:
    try:
        message, now = read_message(body), instant.now()
        fate = notifier.tell(message, now) if isinstance(message, Notice) else notifier.end(message, now)
        logger.info(str(fate), extra={"notice": message.id if isinstance(message, Notice) else message.summary_id})
        return fate is not Fate.HELD
    except (ClientError, BotoCoreError):
        raise
    except Exception as error:
        logger.warning(f"buried a message: {type(error).__name__}: {error}")
        dead_letters.bury(body, f"{type(error).__name__}: {error}")
        return True
