"""The stack, in the order of an execution's life cycle: submit, plan, dispatch, run, settle; then monitoring."""

from typing import Any

from aws_cdk import Stack
from constructs import Construct

from cdk.components.alarms import Alarms
from cdk.components.api import Api
from cdk.components.bulk import Bulk
from cdk.components.console import Console
from cdk.components.dashboard import Dashboard
from cdk.components.dispatcher import Dispatcher
from cdk.components.function import Function
from cdk.components.identity import Identity
from cdk.components.intake import Intake
from cdk.components.layers import Layers
from cdk.components.long_lane import LongLane
from cdk.components.monitor import Monitor
from cdk.components.notifier import Notifier
from cdk.components.outputs import publish
from cdk.components.planner import Planner
from cdk.components.queues import Queues
from cdk.components.results import Results
from cdk.components.settler import Settler
from cdk.components.tables import Tables
from cdk.components.topics import Topics
from cdk.components.worker import Worker
from cdk.settings import Settings

# Those that every stage has.
FUNCTIONS = (
    *("api", "console", "planner", "dispatcher", "worker", "settler", "intake"),
    *("monitor", "notifier", "bulk"),
)


class PunctualStack(Stack):
    """Punctual in the account and Region of the deploying credentials."""

    def __init__(self, scope: Construct, *, settings: Settings) -> None:
        super().__init__(
            scope,
            settings.stack_name,
            description=f"Punctual: a serverless job scheduler, stage {settings.stage}",
            tags={"app": "punctual", "stage": settings.stage},
        )
        # Shared resources.
        self.identity = Identity(self, "Identity", settings=settings)
        self.tables = Tables(self, "Tables", settings=settings)
        self.queues = Queues(self, "Queues", settings=settings)
        self.results = Results(self, "Results", settings=settings)
        self.layers = Layers(self, "Layers", settings=settings)
        self.topics = Topics(self, "Topics", settings=settings)
        shared: dict[str, Any] = {"settings": settings, "layers": self.layers, "tables": self.tables}
        queues, results = self.queues, self.results

        # SQS high / normal / low ─▶ worker ─▶ executions table, results bucket
        self.worker = Worker(self, "Worker", queues=queues, results=results, **shared)

        # client ─▶ API Gateway ─▶ api ─▶ jobs table
        self.api = Api(self, "Api", identity=self.identity, results=results, queues=queues, **shared)

        # browser ─▶ API Gateway ─▶ console: the web console's files
        self.console = Console(
            self, "Console", settings=settings, layers=self.layers, api=self.api, identity=self.identity
        )

        # jobs stream, executions stream ─▶ planner ─▶ executions table, timers table, queues
        self.planner = Planner(self, "Planner", queues=queues, **shared)

        # EventBridge Scheduler, every minute ─▶ dispatcher ─▶ queues, with the remaining delay
        self.dispatcher = Dispatcher(self, "Dispatcher", queues=queues, **shared)
        ticks = self.dispatcher.ticks

        # producer ─▶ intake queue ─▶ intake ─▶ executions table
        self.intake = Intake(self, "Intake", queues=queues, **shared)

        # executions stream, terminal ─▶ settler ─▶ jobs table, notices queue
        self.settler = Settler(self, "Settler", queues=queues, **shared)

        # EventBridge Scheduler, every minute; checks queue ─▶ monitor ─▶ executions table, notices queue, metrics
        self.monitor = Monitor(self, "Monitor", queues=queues, ticks=ticks, **shared)

        # planner ─▶ one-time schedules, state machine ─▶ conductor, admission, Fargate ─▶ runner ─▶ reporter
        self.long_lane: LongLane | None = None
        if settings.long.enabled:
            self.long_lane = LongLane(
                self,
                results=results,
                queues=queues,
                ticks=ticks,
                planner=self.planner.function,
                settler=self.settler.function,
                monitor=self.monitor.function,
                **shared,
            )

        # notices queue ─▶ notifier ─▶ topics
        self.notifier = Notifier(self, "Notifier", queues=queues, topics=self.topics, api=self.api, **shared)

        # api, monitor ─▶ bulk queue ─▶ bulk ─▶ operations table, jobs table, executions table
        self.bulk = Bulk(self, "Bulk", queues=queues, **shared)

        # metrics ─▶ alarms ─▶ topics
        self.alarms = Alarms(
            self, "Alarms", settings=settings, topics=self.topics, functions=self.functions, api=self.api
        )

        # metrics, alarms ─▶ dashboard
        self.dashboard = Dashboard(
            self, "Board", settings=settings, alarms=self.alarms, functions=self.functions, queues=queues, api=self.api
        )

        publish(self)

    @property
    def functions(self) -> dict[str, Function]:
        """All functions, by the name of their folder."""
        functions = {name: getattr(self, name).function for name in FUNCTIONS}
        return {**functions, **self.long_lane.functions} if self.long_lane else functions
