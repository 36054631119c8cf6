"""container ─▶ reporter: receives the reports of containers."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.results import Results
from cdk.components.state_machine_grants import grant_callbacks
from cdk.components.tables import Tables
from cdk.settings import Settings


class Reporter(Construct):
    """Has the permissions that containers do not have. It verifies the sender of a report before it writes anything."""

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
            environment={"HEARTBEAT_SECONDS": str(settings.long.heartbeat_seconds)},
        )
        tables.executions.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem")
        tables.parts.grant(self.function, "GetItem", "UpdateItem", "Query")
        tables.logs.grant(self.function, "BatchWriteItem")
        results.grant(self.function, "GetObject", "PutObject")
        cluster.grant(self.function, "DescribeTasks")
        grant_callbacks(self.function, "SendTaskSuccess", "SendTaskHeartbeat")
