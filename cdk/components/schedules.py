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
    """The schedule group of the one-time schedules, and the role with which they start the state machine."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.name = f"{Stack.of(self).stack_name}-long"
        group = scheduler.CfnScheduleGroup(self, "Group", name=self.name)
        self._role = iam.Role(
            self,
            "Role",
            description="Permissions of the one-time schedules of Punctual's long lane",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"ArnEquals": {"aws:SourceArn": group.attr_arn}},
            ),
        )
        self._role.add_to_policy(
            iam.PolicyStatement(actions=["states:StartExecution"], resources=[state_machine_arn(self)])
        )

    def grant_write(self, function: Function) -> None:
        """Allow creating, updating and deleting schedules of this group that start the state machine."""
        self._grant(function, "CreateSchedule", "UpdateSchedule", "DeleteSchedule")
        function.allow(
            "iam:PassRole",
            on=[self._role.role_arn],
            when={"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
        )
        function.add_environment(
            {"STATE_MACHINE_ARN": state_machine_arn(self), "SCHEDULE_ROLE_ARN": self._role.role_arn}
        )

    def grant_delete(self, function: Function) -> None:
        """Allow deleting schedules of this group."""
        self._grant(function, "DeleteSchedule")

    def grant_list(self, function: Function) -> None:
        """Allow listing schedules."""
        function.allow("scheduler:ListSchedules", on=[self._arn("*")])
        function.add_environment({"SCHEDULE_GROUP": self.name})
        acknowledge(
            function.role,
            _SCHEDULES.format("*"),
            "AWS authorizes ListSchedules for all schedule groups together, not for a single one.",
        )

    def _grant(self, function: Function, *actions: str) -> None:
        function.allow(*(f"scheduler:{action}" for action in actions), on=[self._arn(self.name)])
        function.add_environment({"SCHEDULE_GROUP": self.name})
        acknowledge(
            function.role,
            _SCHEDULES.format(self.name),
            "A schedule is named after its execution. The group contains only these schedules.",
        )

    def _arn(self, group: str) -> str:
        return Stack.of(self).format_arn(service="scheduler", resource="schedule", resource_name=f"{group}/*")
