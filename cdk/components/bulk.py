"""api, monitor ─▶ bulk queue ─▶ bulk ─▶ operations, jobs and executions tables: carries out bulk operations."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import BULK_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.settings import Settings

MAX_BULK_CONCURRENCY = 2


class Bulk(Construct):
    """Reads one queue, applies the actions of operations to jobs and executions, and sends itself the next message."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "bulk",
            settings=settings,
            layers=layers,
            tasks=True,
            timeout=BULK_TIMEOUT,
            memory_mb=512,
            environment={"LONG_IMAGES": ",".join(settings.long.images), **settings.long.limits},
            # Each message leads to at most one other, and an operation ends after MAX_ITEMS items. Lambda would stop
            # the chain after about 16 messages.
            recursive_loop=lambda_.RecursiveLoop.ALLOW,
        )
        tables.jobs.grant(self.function, "GetItem", "BatchGetItem", "PutItem", "UpdateItem")
        tables.revisions.grant(self.function, "PutItem")
        tables.executions.grant(self.function, "PutItem", "Query")
        tables.grant_gates(self.function)
        tables.operations.grant(self.function, "GetItem", "PutItem", "UpdateItem", "DeleteItem")
        queues.bulk.queue.grant(self.function, "SendMessage")
        read_queue(
            self,
            "Source",
            function=self.function,
            queue=queues.bulk,
            batch_size=1,
            concurrency=MAX_BULK_CONCURRENCY,
        )
