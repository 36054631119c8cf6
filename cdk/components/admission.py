"""parts stream, every minute ─▶ admission ─▶ state machine: grants free slots in order of laxity."""

import json

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.containers import Containers
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.sources import read_stream
from cdk.components.state_machine_grants import grant_callbacks
from cdk.components.tables import HOLDING_INDEX, WAITING_INDEX, Tables
from cdk.components.ticks import Ticks
from cdk.settings import Settings
from punctual.domain.triggers import PARTS, filters

# Concurrent decisions would grant the same slots, and one of them would have to be retried.
ONE_DECISION_AT_A_TIME = 1


class Admission(Construct):
    """Reads the parts' stream, grants slots within the limits of the settings, and resumes the runs that wait."""

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
        containers: Containers,
        ticks: scheduler.CfnScheduleGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        dead_letters = queues.dead_letters_of["admission"]
        self.function = Function(
            self,
            "admission",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(55),
            memory_mb=512,
            # No retries: the tick after a failed one sees the same slots.
            retry_attempts=0,
            environment={
                "TASK_DEFINITIONS": json.dumps(containers.families),
                "LONG_STARTS_PER_SECOND": str(settings.long.starts_per_second),
                "HEARTBEAT_SECONDS": str(settings.long.heartbeat_seconds),
                **settings.long.limits,
            },
        )
        tables.executions.grant(self.function, "GetItem", "UpdateItem")
        tables.parts.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem", "Query")
        tables.parts.grant_query(self.function, WAITING_INDEX, HOLDING_INDEX)
        grant_callbacks(self.function, "SendTaskSuccess", "SendTaskFailure")
        cluster.grant(self.function, "StopTask")
        read_stream(
            self,
            "PartsSource",
            function=self.function,
            table=tables.parts,
            dead_letters=dead_letters,
            side_by_side=ONE_DECISION_AT_A_TIME,
            matching=filters("admission", PARTS),
        )
        Ticks(self, self.function, "admission", ticks).every(
            "1 minute", "Tick", "Frees slots whose container is gone, and finds parts to preempt", do="tick"
        )
