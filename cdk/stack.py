"""The stack, top to bottom as the way of one execution: submit, plan, dispatch, run, settle."""

from typing import Any

from aws_cdk import Stack
from constructs import Construct

from cdk.components.api import Api
from cdk.components.dispatcher import Dispatcher
from cdk.components.identity import Identity
from cdk.components.intake import Intake
from cdk.components.layers import Layers
from cdk.components.outputs import publish
from cdk.components.planner import Planner
from cdk.components.queues import Queues
from cdk.components.results import Results
from cdk.components.settler import Settler
from cdk.components.tables import Tables
from cdk.components.worker import Worker
from cdk.settings import Settings


class PunctualStack(Stack):
    """Punctual in one account and Region, whichever the deploying credentials name."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(
            scope, construct_id, description="Punctual: a serverless job scheduler", tags={"app": "punctual"}
        )
        # What everything stands on.
        self.identity = Identity(self, "Identity", settings=settings)
        self.tables = Tables(self, "Tables", settings=settings)
        self.queues = Queues(self, "Queues")
        self.results = Results(self, "Results", settings=settings)
        self.layers = Layers(self, "Layers", settings=settings)
        shared: dict[str, Any] = {"settings": settings, "layers": self.layers, "tables": self.tables}

        # SQS high / normal / low ─▶ worker ─▶ executions table, results bucket
        self.worker = Worker(self, "Worker", queues=self.queues, results=self.results, **shared)

        # client ─▶ API Gateway ─▶ api ─▶ jobs table
        self.api = Api(self, "Api", identity=self.identity, results=self.results, worker=self.worker, **shared)

        # jobs stream, executions stream ─▶ planner ─▶ executions table, timers table, queues
        self.planner = Planner(self, "Planner", queues=self.queues, **shared)

        # EventBridge Scheduler, every minute ─▶ dispatcher ─▶ queues, with the remaining delay
        self.dispatcher = Dispatcher(self, "Dispatcher", queues=self.queues, **shared)

        # upstream system ─▶ intake queue ─▶ intake ─▶ executions table
        self.intake = Intake(self, "Intake", queues=self.queues, **shared)

        # executions stream, terminal ─▶ settler ─▶ jobs table
        self.settler = Settler(self, "Settler", queues=self.queues, **shared)

        publish(self)
