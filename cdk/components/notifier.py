"""notices queue ─▶ notifier ─▶ topics: tells people once, and groups what comes too often."""

from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import NOTIFIER_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.components.topics import Topics
from cdk.settings import Settings

NOTICES_AT_ONCE = 5


class Notifier(Construct):
    """Reads one queue, remembers in the signals table what was told, publishes to the topics."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        topics: Topics,
    ) -> None:
        super().__init__(scope, construct_id)
        notices = queues.notices
        self.function = Function(
            self,
            "notifier",
            settings=settings,
            layers=layers,
            timeout=NOTIFIER_TIMEOUT,
            environment={
                "SIGNALS_TABLE": tables.signals.table_name,
                "NOTICES_QUEUE_URL": notices.queue.queue_url,
                "DEAD_LETTER_QUEUE_URL": notices.dead_letters.queue_url,
                "PAGE_TOPIC_ARN": topics.page.topic_arn,
                "NOTICE_TOPIC_ARN": topics.notice.topic_arn,
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow("dynamodb:GetItem", "dynamodb:UpdateItem", on=[tables.signals.table_arn])
        self.function.allow("sns:Publish", on=topics.arns)
        # To itself, delayed: the end of a group.
        self.function.allow("sqs:SendMessage", on=[notices.queue.queue_arn, notices.dead_letters.queue_arn])
        read_queue(
            self,
            "NoticesSource",
            function=self.function,
            queue=notices.queue,
            batch_size=10,
            concurrency=NOTICES_AT_ONCE,
        )
