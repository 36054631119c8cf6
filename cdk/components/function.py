"""A Lambda function with its own role and log group, both layers, and no permissions beyond those granted to it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.bundling import plain, with_console, with_tasks
from cdk.components.layers import Layers
from cdk.settings import Settings
from punctual.domain.metrics import namespace

FUNCTIONS = Path(__file__).parents[2] / "functions"


class Function(Construct):
    """The Lambda function in `functions/<name>`.

    Access to a table, queue, bucket, topic or cluster comes from the `grant` methods of that resource: each adds the
    permission and the environment variables that name the resource.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        layers: Layers,
        timeout: Duration,
        environment: Mapping[str, str] | None = None,
        memory_mb: int = 256,
        provisioned: int = 0,
        tasks: bool = False,
        console: bool = False,
        retry_attempts: int | None = None,
        recursive_loop: lambda_.RecursiveLoop | None = None,
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
            description=f"Permissions of Punctual's {name} function",
        )
        self.allow("logs:CreateLogStream", "logs:PutLogEvents", on=[self.log_group.log_group_arn])
        self._allow_metrics(settings.stage)
        self.resource = lambda_.Function(
            self,
            "Resource",
            description=f"Punctual: {name}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.custom(settings.platform.architecture),
            code=_code(FUNCTIONS / name, tasks=tasks, console=console),
            handler="handler.handler",
            layers=layers.both,
            role=self.role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,  # timeouts and crashes, but no line per invocation
            application_log_level_v2=lambda_.ApplicationLogLevel(settings.least_log_level),
            timeout=timeout,
            memory_size=memory_mb,
            retry_attempts=retry_attempts,
            reserved_concurrent_executions=settings.reserved.get(name),
            recursive_loop=recursive_loop,
            environment={
                "PUNCTUAL_STAGE": settings.stage,
                **settings.of_logs,
                "RETENTION_DAYS": str(settings.retention_days),
                "BRIEF_RETENTION_DAYS": str(min(settings.brief_retention_days, settings.retention_days)),
                **(environment or {}),
            },
        )
        acknowledge(
            self.resource,
            "AwsSolutions-L1",
            "Python 3.13 is supported until 2029 and every pinned wheel exists for it. Upgrading is a separate "
            "change, in cdk/bundling.py and here together.",
        )

        self.invoked: lambda_.IFunction = self._provision(provisioned) if provisioned else self.resource
        """What event sources invoke: the function, or the alias that keeps instances initialised."""

    def _provision(self, instances: int) -> lambda_.Alias:
        """Publish a version, and keep `instances` of it initialised."""
        return lambda_.Alias(
            self,
            "Provisioned",
            alias_name="provisioned",
            version=self.resource.current_version,
            provisioned_concurrent_executions=instances,
        )

    def allow(self, *actions: str, on: Sequence[str], when: Mapping[str, Any] | None = None) -> None:
        """Allow `actions` on the resources with the ARNs `on`, under the IAM conditions `when`."""
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(on), conditions=dict(when or {}))
        )

    def add_environment(self, variables: Mapping[str, str]) -> None:
        for name, value in variables.items():
            self.resource.add_environment(name, value)

    def _allow_metrics(self, stage: str) -> None:
        """Allow publishing the metrics that alarms watch: any function can be throttled by AWS and reports it."""
        own = {"StringEquals": {"cloudwatch:namespace": namespace(stage)}}
        self.allow("cloudwatch:PutMetricData", on=["*"], when=own)
        acknowledge(
            self.role,
            "AwsSolutions-IAM5[Resource::*]",
            "Metrics have no ARN: a condition on the namespace is the only way to restrict PutMetricData.",
        )


def _code(folder: Path, *, tasks: bool, console: bool) -> lambda_.Code:
    if console:
        return with_console(folder)
    return with_tasks(folder) if tasks else plain(folder)
