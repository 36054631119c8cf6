"""EventBridge Scheduler, every 30 minutes ─▶ reconciler: repairs differences between executions and their schedules."""

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.schedules import Schedules
from cdk.components.state_machine_grants import grant_callbacks, grant_list, grant_stop
from cdk.components.tables import HOLDING_INDEX, LONG_INDEX, Tables
from cdk.components.ticks import Ticks
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
            # No retries: the run half an hour later finds the same differences.
            retry_attempts=0,
        )
        tables.executions.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem")
        tables.executions.grant_query(self.function, LONG_INDEX)
        tables.parts.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem", "Query")
        tables.parts.grant_query(self.function, HOLDING_INDEX)
        schedules.grant_list(self.function)
        schedules.grant_write(self.function)
        grant_list(self.function)
        grant_stop(self.function)
        grant_callbacks(self.function, "SendTaskFailure")
        cluster.grant(self.function, "DescribeTasks", "StopTask")
        Ticks(self, self.function, "reconciler", ticks).every(
            "30 minutes", "Tick", "Compares executions with schedules, runs and containers"
        )
