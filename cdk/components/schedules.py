"""planner ─▶ one-time schedules ─▶ state machine: how a long execution starts when it is due."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.components.function import Function
from cdk.names import state_machine_arn

_SCHEDULES = "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/{}/*]"


class Schedules(Construct):
    """The group of the one-time schedules, and the role with which they start the state machine."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.name = f"{Stack.of(self).stack_name}-long"
        group = scheduler.CfnScheduleGroup(self, "Group", name=self.name)
        self._role = iam.Role(
            self,
            "Role",
            description="What the one-time schedules of Punctual's long lane may do",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"ArnEquals": {"aws:SourceArn": group.attr_arn}},
            ),
        )
        self._role.add_to_policy(
            iam.PolicyStatement(actions=["states:StartExecution"], resources=[state_machine_arn(self)])
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a function has to know to make a schedule."""
        return {
            "STATE_MACHINE_ARN": state_machine_arn(self),
            "SCHEDULE_GROUP": self.name,
            "SCHEDULE_ROLE_ARN": self._role.role_arn,
        }

    def allow(self, function: Function, *actions: str) -> None:
        """Let `function` do `actions` with the schedules of this group."""
        function.allow(*actions, on=[self._arn(self.name)])
        acknowledge(
            function.role,
            _SCHEDULES.format(self.name),
            "A schedule is named after its execution; the group holds nothing else.",
        )

    def allow_making(self, function: Function) -> None:
        """Let `function` make and move schedules in this group, which have the schedules' role."""
        self.allow(function, "scheduler:CreateSchedule", "scheduler:UpdateSchedule")
        function.allow(
            "iam:PassRole",
            on=[self._role.role_arn],
            when={"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
        )

    def allow_listing(self, function: Function) -> None:
        """Let `function` see which schedules there are."""
        function.allow("scheduler:ListSchedules", on=[self._arn("*")])
        acknowledge(
            function.role,
            _SCHEDULES.format("*"),
            "AWS decides about ListSchedules for all groups at once: it knows no permission for one of them.",
        )

    def _arn(self, group: str) -> str:
        return Stack.of(self).format_arn(service="scheduler", resource="schedule", resource_name=f"{group}/*")
