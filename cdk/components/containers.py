"""state machine ─▶ Fargate ─▶ runner ─▶ reporter: the container that runs a part of a long execution."""

import re
from pathlib import Path

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.queues import Queues
from cdk.components.reporter import Reporter
from cdk.components.results import Results
from cdk.components.tables import Tables
from cdk.components.task_permissions import grant_task_permissions
from cdk.names import family
from cdk.settings import Settings

ROOT = Path(__file__).parents[2]
CONTAINER = "runner"
# A task definition requires a size; each run overrides it.
VCPU_UNITS = 1024
MEMORY_MB = 2048
# The maximum that Fargate allows between SIGTERM and SIGKILL.
STOP_TIMEOUT = Duration.seconds(120)
ARCHITECTURES = {"arm64": ecs.CpuArchitecture.ARM64, "x86_64": ecs.CpuArchitecture.X86_64}
PLATFORMS = {"arm64": assets.Platform.LINUX_ARM64, "x86_64": assets.Platform.LINUX_AMD64}
# Account, Region, repository, and the optional tag or digest.
ECR_IMAGE = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/([^:@]+)(?:[:@](.+))?")


class Containers(Construct):
    """One task definition for Punctual's own image, and one for each image that the settings name.

    A container may invoke the reporter, and what the stage allows to its tasks.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        reporter: Reporter,
        tables: Tables,
        results: Results,
        queues: Queues,
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self._reporter = reporter.function.resource
        self.log_group = logs.LogGroup(
            self, "Logs", retention=settings.log_retention, removal_policy=RemovalPolicy.DESTROY
        )
        self.task_role = self._role("TaskRole", "Permissions of Punctual's containers")
        self.task_role.add_to_policy(
            iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[self._reporter.function_arn])
        )
        grant_task_permissions(self.task_role, settings=settings, tables=tables, results=results, queues=queues)
        self.execution_role = self._role("ExecutionRole", "Permissions of Fargate for starting Punctual's containers")
        self._define("Runner", "", self._own_image())
        for name, address in settings.long.images.items():
            self._define(f"Runner-{name}", name, self._others_image(name, address))

    @property
    def families(self) -> dict[str, str]:
        """The task definition family of each image that a job may name. The empty name is Punctual's own image."""
        return {image: family(self, image) for image in ("", *self._settings.long.images)}

    @property
    def task_definitions(self) -> list[str]:
        """The ARN patterns of all revisions."""
        stack = Stack.of(self)
        return [
            stack.format_arn(service="ecs", resource="task-definition", resource_name=f"{name}:*")
            for name in self.families.values()
        ]

    def _define(self, construct_id: str, image: str, contents: ecs.ContainerImage) -> None:
        definition = ecs.FargateTaskDefinition(
            self,
            construct_id,
            family=family(self, image),
            cpu=VCPU_UNITS,
            memory_limit_mib=MEMORY_MB,
            runtime_platform=ecs.RuntimePlatform(
                cpu_architecture=ARCHITECTURES[self._settings.platform.architecture],
                operating_system_family=ecs.OperatingSystemFamily.LINUX,
            ),
            task_role=self.task_role,
            execution_role=self.execution_role,
        )
        definition.add_container(
            CONTAINER,
            container_name=CONTAINER,
            image=contents,
            logging=ecs.LogDrivers.aws_logs(stream_prefix=image or CONTAINER, log_group=self.log_group),
            stop_timeout=STOP_TIMEOUT,
            # An init process forwards signals: the kernel discards signals to PID 1 that it does not handle.
            linux_parameters=ecs.LinuxParameters(self, f"{construct_id}-Linux", init_process_enabled=True),
            environment={
                "PUNCTUAL_REPORTER": self._reporter.function_name,
                "PUNCTUAL_STAGE": self._settings.stage,
                **self._settings.of_logs,
                **self._settings.of_tasks,
            },
        )
        acknowledge(
            definition,
            "AwsSolutions-ECS2",
            "A function name, the stage, the log settings and networks: neither secret nor different between runs.",
        )

    def _own_image(self) -> ecs.ContainerImage:
        if self._settings.long.image:
            return ecs.ContainerImage.from_registry(self._settings.long.image)
        self._may_sign_in()
        return ecs.ContainerImage.from_docker_image_asset(
            assets.DockerImageAsset(
                self, "Image", directory=str(ROOT), platform=PLATFORMS[self._settings.platform.architecture]
            )
        )

    def _others_image(self, name: str, address: str) -> ecs.ContainerImage:
        """An image in Amazon ECR needs permission to be pulled; any other image must be public."""
        private = ECR_IMAGE.fullmatch(address)
        if not private:
            return ecs.ContainerImage.from_registry(address)
        self._may_sign_in()
        account, region, repository, version = private.groups()
        arn = Stack.of(self).format_arn(
            service="ecr", account=account, region=region, resource="repository", resource_name=repository
        )
        return ecs.ContainerImage.from_ecr_repository(
            ecr.Repository.from_repository_attributes(
                self, f"Repository-{name}", repository_arn=arn, repository_name=repository
            ),
            version or "latest",
        )

    def _may_sign_in(self) -> None:
        """Accept the wildcard permission that the CDK adds for the authorization token of a private registry."""
        acknowledge(
            self.execution_role,
            "AwsSolutions-IAM5[Resource::*]",
            "AWS supports GetAuthorizationToken only for all repositories together.",
        )

    def _role(self, construct_id: str, description: str) -> iam.Role:
        return iam.Role(
            self,
            construct_id,
            description=description,
            assumed_by=iam.ServicePrincipal(
                "ecs-tasks.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )
