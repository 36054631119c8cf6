"""EventBridge Scheduler, at a fixed rate ─▶ a function."""

import json
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function


class Ticks:
    """Schedules that invoke one function. Only schedules of `group` may assume the role, which only invokes it."""

    def __init__(self, scope: Construct, function: Function, name: str, group: scheduler.CfnScheduleGroup) -> None:
        self._scope = scope
        self._group = group
        self._function = function.resource.function_arn
        self._role = iam.Role(
            scope,
            "TickRole",
            description=f"Permissions of the ticks of Punctual's {name} function",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"ArnEquals": {"aws:SourceArn": group.attr_arn}},
            ),
        )
        self._role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[self._function]))

    def every(self, rate: str, construct_id: str, description: str, **payload: Any) -> scheduler.CfnSchedule:
        """Invoke the function every `rate`, such as `1 minute`, with `payload`. Returns the schedule."""
        schedule = scheduler.CfnSchedule(
            self._scope,
            construct_id,
            description=description,
            group_name=self._group.ref,
            schedule_expression=f"rate({rate})",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=self._function,
                role_arn=self._role.role_arn,
                input=json.dumps(payload),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=60, maximum_retry_attempts=1
                ),
            ),
        )
        # The schedule depends on the role's policy: without it, the first invocations would be denied.
        schedule.node.add_dependency(self._role.node.find_child("DefaultPolicy"))
        return schedule
