"""notices queue ─▶ notifier ─▶ topics: publishes each notice once, and groups frequent ones into digests."""

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.components.api import Api
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import NOTIFIER_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.components.topics import Topics
from cdk.settings import Settings

MAX_NOTICE_CONCURRENCY = 5


class Notifier(Construct):
    """Reads one queue, records published notices in the signals table, publishes to the topics."""

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
        api: Api,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "notifier",
            settings=settings,
            layers=layers,
            timeout=NOTIFIER_TIMEOUT,
            # A digest sends itself one delayed message per window. Lambda would end such a loop after 16 messages.
            recursive_loop=lambda_.RecursiveLoop.ALLOW,
            environment={**settings.of_tasks, **settings.of_email, "API_URL": api.http.api_endpoint},
        )
        tables.signals.grant(self.function, "GetItem", "UpdateItem")
        # The notifier sends itself a delayed message at the end of each digest window.
        queues.notices.queue.grant(self.function, "SendMessage")
        topics.grant_publish(self.function)
        tables.jobs.grant(self.function, "GetItem")  # the address and the secret of a webhook
        if settings.email_sender:
            self._grant_email(settings.email_sender)
        read_queue(
            self,
            "NoticesSource",
            function=self.function,
            queue=queues.notices,
            batch_size=10,
            concurrency=MAX_NOTICE_CONCURRENCY,
        )

    def _grant_email(self, sender: str) -> None:
        """Allow sending from this address only. It is verified as an address, or by its domain."""
        identities = [self._identity(name) for name in (sender, sender.partition("@")[2])]
        only_sender = {"StringEquals": {"ses:FromAddress": sender}}
        self.function.allow("ses:SendEmail", on=identities, when=only_sender)

    def _identity(self, name: str) -> str:
        return Stack.of(self).format_arn(service="ses", resource="identity", resource_name=name)
