"""EventBridge Scheduler, every minute ─▶ dispatcher: sweeps timers ahead of time into the queues."""

import json

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.tables import RUNNING, Tables
from cdk.settings import Settings


class Dispatcher(Construct):
    """One schedule per shard of the timers: shards are swept side by side."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "dispatcher",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(55),
            memory_mb=512,
            # A tick that failed is not repeated: the next one starts from the same checkpoint.
            retry_attempts=0,
            environment={
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "TIMERS_TABLE": tables.timers.table_name,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                **queues.short_urls,
            },
        )
        executions = tables.executions.table_arn
        self.function.allow("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", on=[tables.timers.table_arn])
        self.function.allow("dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[executions])
        self.function.allow("dynamodb:Query", on=[f"{executions}/index/{RUNNING}"])
        self.function.allow("sqs:SendMessage", on=queues.short_arns)
        self._tick(settings.timer_shards)

    def _tick(self, shards: int) -> None:
        group = scheduler.CfnScheduleGroup(self, "Ticks", name=f"{Stack.of(self).stack_name}-ticks")
        role = iam.Role(
            self,
            "TickRole",
            description="What the schedules of Punctual's dispatcher may do",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"ArnEquals": {"aws:SourceArn": group.attr_arn}},
            ),
        )
        function = self.function.resource.function_arn
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function]))
        for shard in range(shards):
            schedule = scheduler.CfnSchedule(
                self,
                f"Tick{shard}",
                description=f"Sweeps shard {shard} of the timers",
                group_name=group.ref,
                schedule_expression="rate(1 minute)",
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                target=scheduler.CfnSchedule.TargetProperty(
                    arn=function,
                    role_arn=role.role_arn,
                    input=json.dumps({"shard": shard}),
                    retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                        maximum_event_age_in_seconds=60, maximum_retry_attempts=1
                    ),
                ),
            )
            # The role alone is not enough: without its policy the first ticks would be refused.
            schedule.node.add_dependency(role.node.find_child("DefaultPolicy"))
