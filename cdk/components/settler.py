"""executions stream, ended ─▶ settler: counts, finishes one-time jobs, cleans up long executions, sends notices."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.sources import read_stream
from cdk.components.tables import Tables
from cdk.settings import Settings
from punctual.domain.triggers import EXECUTIONS, filters


class Settler(Construct):
    """Reads one stream, counts ends, updates jobs, stops runs and containers of ended executions, and sends notices."""

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
        dead_letters = queues.dead_letters_of["settler"]
        self.function = Function(
            self,
            "settler",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(60),
            # Of the long lane, if the stage has one.
            environment=dict.fromkeys(("SCHEDULE_GROUP", "CLUSTER"), ""),
        )
        tables.jobs.grant(self.function, "GetItem", "BatchGetItem", "UpdateItem")
        tables.executions.grant(self.function, "Query")
        tables.parts.grant(self.function, "GetItem", "UpdateItem", "Query")
        tables.grant_gates(self.function)
        tables.signals.grant(self.function, "UpdateItem")
        tables.statistics.grant(self.function, "BatchGetItem", "UpdateItem", "Query")
        queues.notices.queue.grant(self.function, "SendMessage")
        read_stream(
            self,
            "ExecutionsSource",
            function=self.function,
            table=tables.executions,
            dead_letters=dead_letters,
            side_by_side=settings.stream_parallelization,
            matching=filters("settler", EXECUTIONS),
        )
