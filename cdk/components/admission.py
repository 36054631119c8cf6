"""parts stream, every minute ─▶ admission ─▶ state machine: gives free slots to the least lax."""

import json

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.runner import Runner
from cdk.components.sources import read_stream
from cdk.components.tables import Tables
from cdk.components.ticks import Ticks
from cdk.names import state_machine_arn
from cdk.settings import Settings

# Somebody asks for a slot, was given one, or leaves one. What happens in between is no business of admission's.
PART_MOVED = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {
        "NewImage": {
            "status": {"S": ["waiting", "starting", "retrying", "succeeded", "failed", "timed_out", "cancelled"]}
        }
    },
}
# Two decisions at once would give the same slots, and one of them would have to be made again.
ONE_DECISION_AT_A_TIME = 1


class Admission(Construct):
    """Reads the parts' stream, decides within the limits of the settings, and answers those who wait."""

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
        runner: Runner,
        ticks: scheduler.CfnScheduleGroup,
    ) -> None:
        super().__init__(scope, construct_id)
        dead_letters = queues.admission_dead_letters
        self.function = Function(
            self,
            "admission",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(55),
            memory_mb=512,
            # A tick that failed is not repeated: the next one sees the same slots.
            retry_attempts=0,
            environment={
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "PARTS_TABLE": tables.parts.table_name,
                "CLUSTER": cluster.name,
                "TASK_DEFINITIONS": json.dumps(runner.families),
                "LONG_VCPUS": str(settings.long.vcpus),
                "LONG_TASKS": str(settings.long.tasks),
                "LONG_STARTS_PER_SECOND": str(settings.long.starts_per_second),
                "HEARTBEAT_SECONDS": str(settings.long.heartbeat_seconds),
                "DEAD_LETTER_QUEUE_URL": dead_letters.queue_url,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
            },
        )
        self.function.allow("dynamodb:UpdateItem", on=[tables.executions.table_arn])
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.parts.table_arn]
        )
        self.function.allow("dynamodb:Query", on=[tables.parts.table_arn, tables.waiting_parts, tables.held_slots])
        self.function.allow("states:SendTaskSuccess", "states:SendTaskFailure", on=[state_machine_arn(self)])
        cluster.allow(self.function, "ecs:StopTask")
        read_stream(
            self,
            "PartsSource",
            function=self.function,
            table=tables.parts,
            dead_letters=dead_letters,
            side_by_side=ONE_DECISION_AT_A_TIME,
            matching=[PART_MOVED],
        )
        Ticks(self, self.function, "admission", ticks).every(
            "1 minute", "Tick", "Finds slots whose container is gone, and who should make room", do="tick"
        )
