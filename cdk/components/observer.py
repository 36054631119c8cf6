"""ECS task state changes ─▶ observer: detects starts and deaths of containers, also of those that do not report."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_destinations as destinations
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.components.cluster import Cluster
from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.results import Results
from cdk.components.state_machine_grants import grant_callbacks
from cdk.components.tables import Tables
from cdk.settings import Settings


class Observer(Construct):
    """A function of its own, so that only the rule can invoke it: an event of ECS carries no proof of its sender."""

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
        queues: Queues,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(self, "observer", settings=settings, layers=layers, timeout=Duration.seconds(30))
        tables.executions.grant(self.function, "GetItem", "UpdateItem")
        tables.parts.grant(self.function, "GetItem", "UpdateItem", "Query")
        results.grant(self.function, "PutObject")
        cluster.grant(self.function, "StopTask")
        grant_callbacks(self.function, "SendTaskSuccess", "SendTaskFailure")
        self._subscribe_to_task_changes(settings, cluster, queues.dead_letters_of["observer"].resource)

    def _subscribe_to_task_changes(self, settings: Settings, cluster: Cluster, dead_letters: sqs.IQueue) -> None:
        self.function.resource.configure_async_invoke(on_failure=destinations.SqsDestination(dead_letters))
        events.Rule(
            self,
            "TaskChanges",
            description="A container of Punctual started or stopped, whether or not it reported so itself",
            event_pattern=events.EventPattern(
                source=settings.events_from,
                detail_type=["ECS Task State Change"],
                detail={"clusterArn": [cluster.arn], "lastStatus": ["RUNNING", "STOPPED"]},
            ),
            # EventBridge keeps an event that it cannot deliver here, and Lambda one that the function failed to handle.
            targets=[targets.LambdaFunction(self.function.resource, dead_letter_queue=dead_letters)],
        )
