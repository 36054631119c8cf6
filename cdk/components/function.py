"""How every function is built: its own role, its own log group, both layers, and nothing it does not use."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.bundling import plain, with_tasks
from cdk.components.layers import Layers
from cdk.names import NAMESPACE
from cdk.settings import Settings

FUNCTIONS = Path(__file__).parents[2] / "functions"


class Function(Construct):
    """The Lambda function in `functions/<name>`. It may do only what `allow` says afterwards."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        layers: Layers,
        environment: Mapping[str, str],
        timeout: Duration,
        memory_mb: int = 256,
        tasks: bool = False,
        retry_attempts: int | None = None,
    ) -> None:
        super().__init__(scope, "Function")
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            retention=settings.log_retention,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"What Punctual's {name} function may do",
        )
        self.allow("logs:CreateLogStream", "logs:PutLogEvents", on=[self.log_group.log_group_arn])
        self._allow_metrics()
        self.resource = lambda_.Function(
            self,
            "Resource",
            description=f"Punctual: {name}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.custom(settings.platform.architecture),
            code=with_tasks(FUNCTIONS / name) if tasks else plain(FUNCTIONS / name),
            handler="handler.handler",
            layers=layers.both,
            role=self.role,
            log_group=self.log_group,
            timeout=timeout,
            memory_size=memory_mb,
            retry_attempts=retry_attempts,
            environment={
                "PUNCTUAL_STAGE": settings.stage,
                "LOG_LEVEL": "INFO",
                **environment,
            },
        )
        acknowledge(
            self.resource,
            "AwsSolutions-L1",
            "Python 3.13 is supported until 2029 and every pinned wheel exists for it; a newer one is a "
            "change of its own, in cdk/bundling.py and here together.",
        )

    def allow(self, *actions: str, on: Sequence[str], when: Mapping[str, Any] | None = None) -> None:
        """Let the function do `actions` on the resources whose ARNs are `on`, and on no other."""
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(on), conditions=dict(when or {}))
        )

    def _allow_metrics(self) -> None:
        """For what alarms watch: any of them may be refused something, and says so."""
        self.allow("cloudwatch:PutMetricData", on=["*"], when={"StringEquals": {"cloudwatch:namespace": NAMESPACE}})
        acknowledge(
            self.role,
            "AwsSolutions-IAM5[Resource::*]",
            "A metric has no ARN: the condition on the namespace is how AWS narrows this down.",
        )
