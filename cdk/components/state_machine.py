"""planner, one-time schedules ─▶ state machine ─▶ conductor, Fargate: one run per long execution."""

from pathlib import Path
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.cluster import Cluster
from cdk.components.conductor import Conductor
from cdk.components.containers import Containers
from cdk.components.network import Network
from cdk.names import state_machine_name

DEFINITION = Path(__file__).parents[1] / "state_machines" / "long.asl.json"


class StateMachine(Construct):
    """The states are defined in cdk/state_machines/long.asl.json. It may invoke the conductor and start containers."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        cluster: Cluster,
        containers: Containers,
        conductor: Conductor,
    ) -> None:
        super().__init__(scope, construct_id)
        role = self._role(cluster, containers, conductor)
        first, second = network.subnets
        self.resource = sfn.StateMachine(
            self,
            "Resource",
            state_machine_name=state_machine_name(self),
            definition_body=sfn.DefinitionBody.from_file(str(DEFINITION)),
            definition_substitutions={
                "ConductorArn": conductor.function.resource.function_arn,
                "Cluster": cluster.arn,
                "FirstSubnet": first,
                "SecondSubnet": second,
                "SecurityGroup": network.security_group.security_group_id,
            },
            role=role,
        )
        acknowledge(
            self.resource,
            "AwsSolutions-SF1",
            "Step Functions keeps the history of a run for 90 days. Logging it to CloudWatch as well would require "
            "permissions on all log groups of the account.",
        )
        acknowledge(
            self.resource,
            "AwsSolutions-SF2",
            "A run waits for hours for a container: its history shows where the time went, a trace adds nothing.",
        )

    def _role(self, cluster: Cluster, containers: Containers, conductor: Conductor) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description="Permissions of the state machine of Punctual's long lane",
            assumed_by=iam.ServicePrincipal(
                "states.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )

        def allow(action: str, on: list[str], when: dict[str, Any] | None = None) -> None:
            role.add_to_policy(iam.PolicyStatement(actions=[action], resources=on, conditions=when))

        allow("lambda:InvokeFunction", [conductor.function.resource.function_arn])
        allow("ecs:RunTask", containers.task_definitions, cluster.only_here)
        to_containers = {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}}
        allow("iam:PassRole", [containers.task_role.role_arn, containers.execution_role.role_arn], to_containers)
        for name in containers.families.values():
            acknowledge(
                role,
                "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>"
                f":task-definition/{name}:*]",
                "Each deployment creates a revision, and runs use the latest one: a policy needs a wildcard.",
            )
        return role
