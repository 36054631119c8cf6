"""EventBridge Scheduler, every minute ─▶ dispatcher: sweeps timers ahead of time into the queues."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.tables import GATES, Tables
from cdk.components.ticks import Ticks
from cdk.settings import Settings


class Dispatcher(Construct):
    """One schedule per shard of the timers: shards are swept side by side."""

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
        self.function = Function(
            self,
            "dispatcher",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(55),
            memory_mb=512,
            # A tick that failed is not repeated: the next one starts from the same checkpoint.
            retry_attempts=0,
            environment={
                "GATES_TABLE": tables.gates.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "TIMERS_TABLE": tables.timers.table_name,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                **queues.short_urls,
            },
        )
        self.function.allow(*GATES, on=[tables.gates.table_arn])
        self.function.allow("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", on=[tables.timers.table_arn])
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.executions.table_arn]
        )
        self.function.allow("dynamodb:Query", on=[tables.running_executions])
        self.function.allow("sqs:SendMessage", on=queues.short_arns)
        # All that wakes somebody at a steady rate is in one group: this, admission, the monitor and the reconciler.
        self.ticks = scheduler.CfnScheduleGroup(self, "Ticks", name=f"{Stack.of(self).stack_name}-ticks")
        ticks = Ticks(self, self.function, "dispatcher", self.ticks)
        for shard in range(settings.timer_shards):
            ticks.every("1 minute", f"Tick{shard}", f"Sweeps shard {shard} of the timers", shard=shard)
