"""state machine ─▶ conductor: says what is left to run, asks for slots, settles parts."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.results import Results
from cdk.components.tables import GATES, Tables
from cdk.names import state_machine_arn
from cdk.settings import Settings


class Conductor(Construct):
    """Writes executions and parts; stops the container of a part that is over."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        results: Results,
        cluster: Cluster,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "conductor",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(60),
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "GATES_TABLE": tables.gates.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "RESULTS_BUCKET": results.bucket.bucket_name,
                "CLUSTER": cluster.name,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow(*GATES, on=[tables.gates.table_arn])
        self.function.allow("dynamodb:GetItem", on=[tables.jobs.table_arn])
        self.function.allow("dynamodb:GetItem", "dynamodb:UpdateItem", on=[tables.executions.table_arn])
        self.function.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:Query",
            on=[tables.parts.table_arn],
        )
        results.allow(self.function, "s3:PutObject")
        self.function.allow("states:SendTaskFailure", on=[state_machine_arn(self)])
        cluster.allow(self.function, "ecs:StopTask")
