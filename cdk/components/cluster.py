"""Where the long lane's containers run: Fargate, and Fargate Spot for jobs that can be interrupted."""

from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function


class Cluster(Construct):
    """A cluster without machines of its own."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self._resource = ecs.CfnCluster(
            self,
            "Cluster",
            # Named here: the resource that would associate them later is unknown to the emulator.
            capacity_providers=["FARGATE", "FARGATE_SPOT"],
            cluster_settings=[ecs.CfnCluster.ClusterSettingsProperty(name="containerInsights", value="enabled")],
        )

    @property
    def name(self) -> str:
        return self._resource.ref

    @property
    def arn(self) -> str:
        return self._resource.attr_arn

    @property
    def only_here(self) -> dict[str, Any]:
        """The condition that something happens in this cluster."""
        return {"ArnEquals": {"ecs:cluster": self.arn}}

    def allow(self, function: Function, *actions: str) -> None:
        """Let `function` do `actions` with this cluster's tasks, and with no other's."""
        stack = Stack.of(self)
        tasks = stack.format_arn(service="ecs", resource="task", resource_name=f"{self.name}/*")
        function.allow(*actions, on=[tasks], when=self.only_here)
        cluster = stack.get_logical_id(self._resource)
        acknowledge(
            function.role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<{cluster}>/*]",
            "ECS names a task when it starts one; the cluster holds nothing but Punctual's.",
        )
