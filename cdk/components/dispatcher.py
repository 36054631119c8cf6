"""EventBridge Scheduler, every minute ─▶ dispatcher: moves timers that are due soon to the queues."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.tables import BY_OWNER_INDEX, RUNNING_INDEX, Tables
from cdk.components.ticks import Ticks
from cdk.settings import Settings


class Dispatcher(Construct):
    """One schedule per timer shard: the shards are swept in parallel. Each also sweeps shards of a former number."""

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
            # No retries: the tick after a failed one starts from the same checkpoint.
            retry_attempts=0,
        )
        tables.timers.grant(self.function, "GetItem", "PutItem", "Query")
        tables.executions.grant_query(self.function, RUNNING_INDEX, BY_OWNER_INDEX)
        tables.jobs.grant(self.function, "GetItem")
        tables.grant_gates(self.function)
        queues.grant_enqueue(self.function)
        queues.grant_lengths(self.function)
        # One group holds the ticks of all functions: dispatcher, admission, monitor and reconciler.
        self.ticks = scheduler.CfnScheduleGroup(self, "Ticks", name=f"{Stack.of(self).stack_name}-ticks")
        ticks = Ticks(self, self.function, "dispatcher", self.ticks)
        shards, later = settings.timer_shards, None
        # CloudFormation changes the ticks from the last to the first. So each shard is swept at each moment of a change
        # of their number: tick 0 covers the shards of the others until those exist.
        for shard in reversed(range(shards)):
            covered = f"Sweeps every {shards}th timer shard, from {shard} on"
            tick = ticks.every("1 minute", f"Tick{shard}", covered, shard=shard, shards=shards)
            if later is not None:
                tick.add_dependency(later)
            later = tick
