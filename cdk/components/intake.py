"""upstream system ─▶ intake queue ─▶ intake: each message becomes an execution of its queue job."""

from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import INTAKE_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.settings import Settings


class Intake(Construct):
    """Reads the intake queue, looks up the jobs it names, writes executions."""

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
        dead_letters = queues.intake.dead_letters
        self.function = Function(
            self,
            "intake",
            settings=settings,
            layers=layers,
            timeout=INTAKE_TIMEOUT,
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "SIGNALS_TABLE": tables.signals.table_name,
                "DEAD_LETTER_QUEUE_URL": dead_letters.queue_url,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow("dynamodb:BatchGetItem", on=[tables.jobs.table_arn])
        self.function.allow("dynamodb:PutItem", on=[tables.executions.table_arn])
        self.function.allow("dynamodb:UpdateItem", on=[tables.signals.table_arn])
        self.function.allow("sqs:SendMessage", on=[dead_letters.queue_arn])
        read_queue(
            self,
            "Source",
            function=self.function,
            queue=queues.intake.queue,
            batch_size=10,
            concurrency=settings.concurrency.intake,
        )
