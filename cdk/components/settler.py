"""executions stream, terminal ─▶ settler: finishes one-time jobs, clears up after long executions, tells of ends."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.schedules import Schedules
from cdk.components.sources import read_stream
from cdk.components.state_machine import allow_stopping
from cdk.components.tables import GATES, Tables
from cdk.settings import Settings

# Something follows from its end. Most executions of recurring jobs of the short lane never wake the function.
ENDED_WITH_AFTERMATH = {
    "dynamodb": {
        "NewImage": {
            "status": {"S": ["succeeded", "failed", "timed_out", "cancelled", "skipped", "missed"]},
            "aftermath": {"BOOL": [True]},
        }
    }
}
# A long one was asked to stop: its containers are told. Of a short one its worker hears by itself.
LONG_ASKED_TO_STOP = {
    "eventName": ["MODIFY"],
    "dynamodb": {
        "NewImage": {"status": {"S": ["running"]}, "lane": {"S": ["long"]}, "cancel_at": {"S": [{"exists": True}]}}
    },
}


class Settler(Construct):
    """Reads one stream, updates jobs, stops what an ended execution left running, and hands notices on."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        cluster: Cluster,
        schedules: Schedules,
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
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "GATES_TABLE": tables.gates.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "SIGNALS_TABLE": tables.signals.table_name,
                "NOTICES_QUEUE_URL": queues.notices.queue.queue_url,
                "SCHEDULE_GROUP": schedules.name,
                "CLUSTER": cluster.name,
                "DEAD_LETTER_QUEUE_URL": dead_letters.queue_url,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow(*GATES, on=[tables.gates.table_arn])
        self.function.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:UpdateItem",
            on=[tables.jobs.table_arn, tables.executions.table_arn],
        )
        self.function.allow("dynamodb:Query", on=[tables.executions.table_arn])
        self.function.allow("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query", on=[tables.parts.table_arn])
        self.function.allow("dynamodb:UpdateItem", on=[tables.signals.table_arn])
        self.function.allow("sqs:SendMessage", on=[queues.notices.queue.queue_arn])
        schedules.allow(self.function, "scheduler:DeleteSchedule")
        allow_stopping(self.function)
        cluster.allow(self.function, "ecs:StopTask")
        read_stream(
            self,
            "ExecutionsSource",
            function=self.function,
            table=tables.executions,
            dead_letters=dead_letters,
            side_by_side=settings.stream_parallelization,
            matching=[ENDED_WITH_AFTERMATH, LONG_ASKED_TO_STOP],
        )
