"""The ECS cluster of the long lane: Fargate, and Fargate Spot for jobs that may be interrupted."""

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function


class Cluster(Construct):
    """A cluster without EC2 instances."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self._resource = ecs.CfnCluster(
            self,
            "Cluster",
            # A property of the cluster, because the emulator does not support the separate association resource.
            capacity_providers=["FARGATE", "FARGATE_SPOT"],
            cluster_settings=[ecs.CfnCluster.ClusterSettingsProperty(name="containerInsights", value="disabled")],
        )
        acknowledge(
            self._resource,
            "AwsSolutions-ECS4",
            "Container Insights bills metrics for the cluster and for each running task. Containers report heartbeats, "
            "progress and logs to the reporter, and the monitor publishes the slots in use.",
        )

    @property
    def name(self) -> str:
        return self._resource.ref

    @property
    def arn(self) -> str:
        return self._resource.attr_arn

    @property
    def only_here(self) -> dict[str, Any]:
        """The IAM condition that restricts an action to this cluster."""
        return {"ArnEquals": {"ecs:cluster": self.arn}}

    def grant(self, function: Function, *actions: str) -> None:
        """Allow `actions`, such as `StopTask`, on the tasks of this cluster, and pass the cluster's name."""
        stack = Stack.of(self)
        tasks = stack.format_arn(service="ecs", resource="task", resource_name=f"{self.name}/*")
        function.allow(*(f"ecs:{action}" for action in actions), on=[tasks], when=self.only_here)
        function.add_environment({"CLUSTER": self.name})
        cluster = stack.get_logical_id(self._resource)
        acknowledge(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<{cluster}>/*]",
            "ECS assigns the id of a task when the task starts. The cluster runs only Punctual's tasks.",
        )
