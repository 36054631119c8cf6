"""SQS high / normal / low ─▶ worker: claims an execution, runs its task, settles it."""

from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import PRIORITIES, WORKER_TIMEOUT, Queues
from cdk.components.results import Results
from cdk.components.sources import read_queue
from cdk.components.tables import GATES, Tables
from cdk.settings import Settings


class Worker(Construct):
    """One message is one execution. Each priority has a concurrency of its own, so none starves another."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        results: Results,
    ) -> None:
        super().__init__(scope, construct_id)
        dead_letters = {name: queues.short[name].dead_letters for name in PRIORITIES}
        self.function = Function(
            self,
            "worker",
            settings=settings,
            layers=layers,
            tasks=True,
            timeout=WORKER_TIMEOUT,
            memory_mb=512,
            environment={
                "GATES_TABLE": tables.gates.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "SIGNALS_TABLE": tables.signals.table_name,
                "RESULTS_BUCKET": results.bucket.bucket_name,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                **queues.short_urls,
                **{f"{name.upper()}_DEAD_LETTER_QUEUE_URL": q.queue_url for name, q in dead_letters.items()},
            },
        )
        self.function.allow(*GATES, on=[tables.gates.table_arn])
        self.function.allow("dynamodb:UpdateItem", on=[tables.executions.table_arn, tables.signals.table_arn])
        self.function.allow("dynamodb:GetItem", on=[tables.executions.table_arn])
        results.allow(self.function, "s3:PutObject")
        self.function.allow("sqs:SendMessage", on=[queue.queue_arn for queue in dead_letters.values()])
        for name in PRIORITIES:
            read_queue(
                self,
                f"{name.title()}Source",
                function=self.function,
                queue=queues.short[name].queue,
                batch_size=1,
                concurrency=getattr(settings.concurrency, name),
            )
