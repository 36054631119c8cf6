"""producer ─▶ intake queue ─▶ intake: each message becomes an execution of its queue job."""

from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import INTAKE_TIMEOUT, Queues
from cdk.components.sources import read_queue
from cdk.components.tables import Tables
from cdk.settings import Settings


class Intake(Construct):
    """Reads the intake queue, looks up the queue jobs that its messages name, and writes executions."""

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
            "intake",
            settings=settings,
            layers=layers,
            timeout=INTAKE_TIMEOUT,
        )
        tables.jobs.grant(self.function, "BatchGetItem")
        tables.executions.grant(self.function, "GetItem", "PutItem", "UpdateItem")
        tables.signals.grant(self.function, "UpdateItem")
        read_queue(
            self,
            "Source",
            function=self.function,
            queue=queues.intake,
            batch_size=10,
            concurrency=settings.concurrency.intake,
        )
