"""container, ECS when one runs or stopped ─▶ reporter: the only ear for what containers say, and for their deaths."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.results import Results
from cdk.components.tables import Tables
from cdk.names import state_machine_arn
from cdk.settings import Settings


class Reporter(Construct):
    """Holds the permissions that containers do not get: it checks whose word it is before it writes any."""

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
            "reporter",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(30),
            environment={
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "RESULTS_BUCKET": results.bucket.bucket_name,
                "CLUSTER": cluster.name,
                "HEARTBEAT_SECONDS": str(settings.long.heartbeat_seconds),
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow("dynamodb:GetItem", "dynamodb:UpdateItem", on=[tables.executions.table_arn])
        self.function.allow("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query", on=[tables.parts.table_arn])
        results.allow(self.function, "s3:GetObject", "s3:PutObject")
        cluster.allow(self.function, "ecs:StopTask")
        self.function.allow(
            "states:SendTaskSuccess",
            "states:SendTaskFailure",
            "states:SendTaskHeartbeat",
            on=[state_machine_arn(self)],
        )
        self._hear_of_changes(settings, cluster)

    def _hear_of_changes(self, settings: Settings, cluster: Cluster) -> None:
        events.Rule(
            self,
            "TaskChanges",
            description="A container of Punctual runs or stopped, whether or not it says so itself",
            event_pattern=events.EventPattern(
                source=list(settings.long.events_from),
                detail_type=["ECS Task State Change"],
                detail={"clusterArn": [cluster.arn], "lastStatus": ["RUNNING", "STOPPED"]},
            ),
            targets=[targets.LambdaFunction(self.function.resource)],
        )
