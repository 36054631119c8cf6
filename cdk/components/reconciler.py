"""EventBridge Scheduler, every hour ─▶ reconciler: what should be scheduled is, and what should not is not."""

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.schedules import Schedules
from cdk.components.state_machine import allow_stopping
from cdk.components.tables import Tables
from cdk.components.ticks import Ticks
from cdk.names import state_machine_arn
from cdk.settings import Settings


class Reconciler(Construct):
    """Compares the long lane's live executions with its schedules, state machine runs and containers."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        cluster: Cluster,
        schedules: Schedules,
        ticks: scheduler.CfnScheduleGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "reconciler",
            settings=settings,
            layers=layers,
            timeout=Duration.minutes(5),
            memory_mb=512,
            # One that failed is not repeated: the next hour finds the same.
            retry_attempts=0,
            environment={
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "CLUSTER": cluster.name,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                **schedules.environment,
            },
        )
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.executions.table_arn]
        )
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.parts.table_arn]
        )
        self.function.allow("dynamodb:Query", on=[tables.long_executions, tables.parts.table_arn, tables.held_slots])
        schedules.allow_listing(self.function)
        schedules.allow_making(self.function)
        schedules.allow(self.function, "scheduler:DeleteSchedule")
        self.function.allow("states:ListExecutions", "states:SendTaskFailure", on=[state_machine_arn(self)])
        allow_stopping(self.function)
        cluster.allow(self.function, "ecs:DescribeTasks", "ecs:StopTask")
        Ticks(self, self.function, "reconciler", ticks).every(
            "1 hour", "Tick", "Compares executions, schedules, runs and containers"
        )
