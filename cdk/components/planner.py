"""jobs stream, executions stream, timers that TTL removed ─▶ planner: writes the next execution of a job."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.sources import read_stream
from cdk.components.tables import Tables
from cdk.settings import Settings
from punctual.domain.triggers import EXECUTIONS, JOBS, TIMERS, filters


class Planner(Construct):
    """Reads three streams, writes executions, timers and schedules, and enqueues or starts executions due soon."""

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
        dead_letters = queues.dead_letters_of["planner"]
        self.function = Function(
            self,
            "planner",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(120),
            memory_mb=512,
            provisioned=settings.provisioned.planner,
            # Of the long lane, if the stage has one.
            environment=dict.fromkeys(("STATE_MACHINE_ARN", "SCHEDULE_GROUP", "SCHEDULE_ROLE_ARN"), ""),
        )
        tables.jobs.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem", "ConditionCheckItem")
        # The revisions of an ended job expire with it.
        tables.revisions.grant(self.function, "Query", "BatchWriteItem")
        tables.executions.grant(self.function, "PutItem", "DeleteItem", "Query")
        tables.timers.grant(self.function, "PutItem")
        tables.grant_gates(self.function)
        queues.grant_enqueue(self.function)
        queues.checks.queue.grant(self.function, "SendMessage")

        for construct, table, name in (
            ("JobsSource", tables.jobs, JOBS),
            ("ExecutionsSource", tables.executions, EXECUTIONS),
            ("TimersSource", tables.timers, TIMERS),
        ):
            read_stream(
                self,
                construct,
                function=self.function,
                table=table,
                dead_letters=dead_letters,
                side_by_side=settings.stream_parallelization,
                matching=filters("planner", name),
            )
