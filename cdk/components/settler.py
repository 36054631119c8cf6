"""executions stream, terminal ─▶ settler: finishes the job whose only execution ended."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.sources import read_stream
from cdk.components.tables import Tables
from cdk.settings import Settings

TERMINAL = ["succeeded", "failed", "timed_out", "cancelled"]
# Recurring jobs have nothing to settle, so their records never wake the function.
ENDED_ONCE = {"dynamodb": {"NewImage": {"status": {"S": TERMINAL}, "once": {"BOOL": [True]}}}}


class Settler(Construct):
    """Reads one stream, updates one table."""

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
        dead_letters = queues.settler_dead_letters
        self.function = Function(
            self,
            "settler",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(60),
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "DEAD_LETTER_QUEUE_URL": dead_letters.queue_url,
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow("dynamodb:UpdateItem", on=[tables.jobs.table_arn])
        read_stream(
            self,
            "ExecutionsSource",
            function=self.function,
            table=tables.executions,
            dead_letters=dead_letters,
            settings=settings,
            matching=ENDED_ONCE,
        )
