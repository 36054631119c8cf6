"""jobs stream, executions stream, timers removed unfired ─▶ planner: writes the next execution of a job."""

from aws_cdk import Duration
from constructs import Construct

from cdk.components.function import Function
from cdk.components.layers import Layers
from cdk.components.queues import Queues
from cdk.components.schedules import Schedules
from cdk.components.sources import read_stream
from cdk.components.tables import GATES, Tables
from cdk.names import state_machine_arn
from cdk.settings import Settings

# A job that is done plans nothing; the set of owners and the markers of keys beside the jobs have no state.
APPEARED_CHANGED_OR_DELETED = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {"NewImage": {"state": {"S": ["active", "paused", "cancelled", "deleted"]}}},
}
# A successor is planned when an execution becomes queued, not when it ends.
BECAME_QUEUED = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {"NewImage": {"status": {"S": ["queued", "retrying"]}}},
}
# The last of many whose time went by leads on to the next of them.
LEFT_OUT_AND_LEADS = {
    "eventName": ["INSERT"],
    "dynamodb": {"NewImage": {"status": {"S": ["skipped", "missed"]}, "leads": {"BOOL": [True]}}},
}
# One that leads was cancelled before its time: those that follow it come all the same.
CANCELLED_AND_LEADS = {
    "eventName": ["MODIFY"],
    "dynamodb": {
        "OldImage": {"status": {"S": ["scheduled"]}},
        "NewImage": {"status": {"S": ["cancelled"]}, "leads": {"BOOL": [True]}},
    },
}
# A running one was asked to stop: its lease is revoked if it does not.
ASKED_TO_STOP = {
    "eventName": ["MODIFY"],
    "dynamodb": {"NewImage": {"status": {"S": ["running"]}, "cancel_at": {"S": [{"exists": True}]}}},
}
# The dead man's switch: DynamoDB itself removed a timer, so nobody can delete one by hand and set it off.
REMOVED_BY_TTL = {
    "eventName": ["REMOVE"],
    "userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]},
}


class Planner(Construct):
    """Reads three streams, writes executions, timers and schedules, and queues or starts what is due soon."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        layers: Layers,
        tables: Tables,
        queues: Queues,
        schedules: Schedules,
    ) -> None:
        super().__init__(scope, construct_id)
        dead_letters = queues.planner_dead_letters
        self.function = Function(
            self,
            "planner",
            settings=settings,
            layers=layers,
            timeout=Duration.seconds(120),
            memory_mb=512,
            environment={
                "JOBS_TABLE": tables.jobs.table_name,
                "GATES_TABLE": tables.gates.table_name,
                "EXECUTIONS_TABLE": tables.executions.table_name,
                "TIMERS_TABLE": tables.timers.table_name,
                "CHECKS_QUEUE_URL": queues.checks.queue.queue_url,
                "DEAD_LETTER_QUEUE_URL": dead_letters.queue_url,
                "TIMER_SHARDS": str(settings.timer_shards),
                "RETENTION_DAYS": str(settings.retention_days),
                **queues.short_urls,
                **schedules.environment,
            },
        )
        self.function.allow(*GATES, on=[tables.gates.table_arn])
        self.function.allow(
            "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=[tables.jobs.table_arn]
        )
        self.function.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            "dynamodb:Query",
            on=[tables.executions.table_arn],
        )
        self.function.allow("dynamodb:PutItem", on=[tables.timers.table_arn])
        self.function.allow(
            "sqs:SendMessage",
            on=[*queues.short_arns, queues.checks.queue.queue_arn, dead_letters.queue_arn],
        )
        schedules.allow_making(self.function)
        schedules.allow(self.function, "scheduler:DeleteSchedule")
        self.function.allow("states:StartExecution", on=[state_machine_arn(self)])

        for construct, table, matching in (
            ("JobsSource", tables.jobs, [APPEARED_CHANGED_OR_DELETED]),
            (
                "ExecutionsSource",
                tables.executions,
                [BECAME_QUEUED, LEFT_OUT_AND_LEADS, CANCELLED_AND_LEADS, ASKED_TO_STOP],
            ),
            ("TimersSource", tables.timers, [REMOVED_BY_TTL]),
        ):
            read_stream(
                self,
                construct,
                function=self.function,
                table=table,
                dead_letters=dead_letters,
                side_by_side=settings.stream_parallelization,
                matching=matching,
            )
