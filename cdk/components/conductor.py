"""state machine ─▶ conductor: lists the parts that remain, requests slots, records the end of parts."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.results import Results
from cdk.components.state_machine_grants import grant_callbacks
from cdk.components.tables import Tables
from cdk.settings import Settings


class Conductor(Construct):
    """Writes executions and parts. Stops the container of a part that has ended."""

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
        )
        tables.jobs.grant(self.function, "GetItem")
        tables.parts.grant(self.function, "GetItem", "PutItem", "UpdateItem", "Query")
        tables.grant_gates(self.function)
        results.grant(self.function, "PutObject")
        cluster.grant(self.function, "StopTask")
        grant_callbacks(self.function, "SendTaskFailure")
