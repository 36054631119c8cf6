"""The exact permissions of every function's role, and which of them an AWS request needs.

The infrastructure tests compare ``PERMISSIONS`` with the deployed policies. The integration tests and the simulator
compare every request of a function with it, because neither moto nor the simulator enforces policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.resources import TOPICS

READ_STREAM = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")
READ_QUEUE = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")

HERE = "AWS::Region:AWS::AccountId"
STATE_MACHINE = f"arn:AWS::Partition:states:{HERE}:stateMachine:Punctual-prod-long"
RUNS = f"arn:AWS::Partition:states:{HERE}:execution:Punctual-prod-long:*"
SCHEDULES = f"arn:AWS::Partition:scheduler:{HERE}:schedule/Punctual-prod-long/*"
EVERY_SCHEDULE = f"arn:AWS::Partition:scheduler:{HERE}:schedule/*/*"
TASKS = f"arn:AWS::Partition:ecs:{HERE}:task/FargateCluster/*"
DEFINITIONS = f"arn:AWS::Partition:ecs:{HERE}:task-definition"
ALARMS = f"arn:AWS::Partition:cloudwatch:{HERE}:alarm:*"
IN_THIS_CLUSTER = {"ArnEquals": {"ecs:cluster": "FargateCluster.Arn"}}

DEAD_LETTER_QUEUES = (
    *("high", "normal", "low", "intake", "checks", "notices", "bulk"),
    *("planner", "settler", "admission", "observer"),
)
USE_GATES = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:Query")
USE_GATED = (
    "dynamodb:GetItem",
    "dynamodb:BatchGetItem",
    "dynamodb:UpdateItem",
    "dynamodb:ConditionCheckItem",
)
"""The executions, for functions that use gates."""
PERMISSIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "console": {},
    "api": {
        "IdentityPool.Arn": ("cognito-idp:AdminGetUser", "cognito-idp:AdminListGroupsForUser"),
        "TablesGates.Arn": (*USE_GATES, "dynamodb:BatchGetItem"),
        "TablesJobs.Arn": (
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            "dynamodb:BatchWriteItem",
            "dynamodb:Query",
        ),
        "TablesRevisions.Arn": ("dynamodb:PutItem", "dynamodb:Query"),
        "TablesJobs.Arn/index/by_listing": ("dynamodb:Query",),
        "TablesJobs.Arn/index/by_name": ("dynamodb:Query",),
        "TablesExecutions.Arn": (*USE_GATED, "dynamodb:PutItem", "dynamodb:Query"),
        "TablesExecutions.Arn/index/deadlines": ("dynamodb:Query",),
        "TablesSignals.Arn": (
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:DeleteItem",
        ),
        ALARMS: ("cloudwatch:DescribeAlarms",),
        "TablesExecutions.Arn/index/by_owner": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/running": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/long": ("dynamodb:Query",),
        "TablesIdempotency.Arn": (
            *("dynamodb:BatchGetItem", "dynamodb:PutItem"),
            *("dynamodb:UpdateItem", "dynamodb:DeleteItem"),
        ),
        "ResultsBucket.Arn/*": ("s3:GetObject",),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesParts.Arn/index/waiting": ("dynamodb:Query",),
        "TablesParts.Arn/index/holding": ("dynamodb:Query",),
        "TablesLogs.Arn": ("dynamodb:Query",),
        "TablesStatistics.Arn": ("dynamodb:BatchGetItem", "dynamodb:Query"),
        **{f"Queues{name.title()}.Arn": ("sqs:GetQueueAttributes",) for name in ("high", "normal", "low")},
        "QueuesIntake.Arn": ("sqs:GetQueueAttributes", "sqs:SendMessage"),
        "QueuesBulk.Arn": ("sqs:SendMessage",),
        "TablesOperations.Arn": (
            *("dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem"),
            *("dynamodb:UpdateItem", "dynamodb:BatchWriteItem"),
        ),
    },
    "planner": {
        "TablesGates.Arn": USE_GATES,
        "TablesJobs.Arn": (
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:UpdateItem",
            "dynamodb:ConditionCheckItem",
        ),
        "TablesRevisions.Arn": ("dynamodb:Query", "dynamodb:BatchWriteItem"),
        "TablesExecutions.Arn": (*USE_GATED, "dynamodb:PutItem", "dynamodb:DeleteItem", "dynamodb:Query"),
        "TablesTimers.Arn": ("dynamodb:PutItem",),
        "TablesJobs.StreamArn": READ_STREAM,
        "TablesExecutions.StreamArn": READ_STREAM,
        "TablesTimers.StreamArn": READ_STREAM,
        "QueuesHigh.Arn": ("sqs:SendMessage",),
        "QueuesNormal.Arn": ("sqs:SendMessage",),
        "QueuesLow.Arn": ("sqs:SendMessage",),
        "QueuesChecks.Arn": ("sqs:SendMessage",),
        "QueuesPlannerDeadLetters.Arn": ("sqs:SendMessage",),
        SCHEDULES: ("scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule"),
        "SchedulesRole.Arn": ("iam:PassRole",),
        STATE_MACHINE: ("states:StartExecution",),
    },
    "dispatcher": {
        "TablesGates.Arn": USE_GATES,
        "TablesTimers.Arn": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"),
        "TablesJobs.Arn": ("dynamodb:GetItem",),
        "TablesExecutions.Arn": USE_GATED,
        "TablesExecutions.Arn/index/running": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/by_owner": ("dynamodb:Query",),
        "QueuesHigh.Arn": ("sqs:SendMessage", "sqs:GetQueueAttributes"),
        "QueuesNormal.Arn": ("sqs:SendMessage", "sqs:GetQueueAttributes"),
        "QueuesLow.Arn": ("sqs:SendMessage", "sqs:GetQueueAttributes"),
    },
    "worker": {
        "TablesGates.Arn": USE_GATES,
        "TablesExecutions.Arn": USE_GATED,
        "TablesSignals.Arn": ("dynamodb:UpdateItem",),
        "TablesLogs.Arn": ("dynamodb:BatchWriteItem",),
        "ResultsBucket.Arn/*": ("s3:GetObject", "s3:PutObject"),
        "QueuesHigh.Arn": READ_QUEUE,
        "QueuesNormal.Arn": READ_QUEUE,
        "QueuesLow.Arn": READ_QUEUE,
        "QueuesHighDeadLetters.Arn": ("sqs:SendMessage",),
        "QueuesNormalDeadLetters.Arn": ("sqs:SendMessage",),
        "QueuesLowDeadLetters.Arn": ("sqs:SendMessage",),
        "WorkerTaskRole.Arn": ("sts:AssumeRole",),
    },
    "settler": {
        "TablesGates.Arn": USE_GATES,
        "TablesJobs.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        "TablesExecutions.Arn": (*USE_GATED, "dynamodb:Query"),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesSignals.Arn": ("dynamodb:UpdateItem",),
        "TablesStatistics.Arn": ("dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesExecutions.StreamArn": READ_STREAM,
        "QueuesNotices.Arn": ("sqs:SendMessage",),
        "QueuesSettlerDeadLetters.Arn": ("sqs:SendMessage",),
        SCHEDULES: ("scheduler:DeleteSchedule",),
        RUNS: ("states:StopExecution",),
        TASKS: ("ecs:StopTask",),
    },
    "intake": {
        "TablesJobs.Arn": ("dynamodb:BatchGetItem",),
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
        "TablesSignals.Arn": ("dynamodb:UpdateItem",),
        "QueuesIntake.Arn": READ_QUEUE,
        "QueuesIntakeDeadLetters.Arn": ("sqs:SendMessage",),
    },
    "conductor": {
        "TablesGates.Arn": USE_GATES,
        "TablesJobs.Arn": ("dynamodb:GetItem",),
        "TablesExecutions.Arn": USE_GATED,
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "ResultsBucket.Arn/*": ("s3:PutObject",),
        STATE_MACHINE: ("states:SendTaskFailure",),
        TASKS: ("ecs:StopTask",),
    },
    "reporter": {
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesLogs.Arn": ("dynamodb:BatchWriteItem",),
        "ResultsBucket.Arn/*": ("s3:GetObject", "s3:PutObject"),
        STATE_MACHINE: ("states:SendTaskSuccess", "states:SendTaskHeartbeat"),
        TASKS: ("ecs:DescribeTasks",),
    },
    "observer": {
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "ResultsBucket.Arn/*": ("s3:PutObject",),
        STATE_MACHINE: ("states:SendTaskSuccess", "states:SendTaskFailure"),
        TASKS: ("ecs:StopTask",),
        # Lambda sends an event that the function failed to handle.
        "QueuesObserverDeadLetters.Arn": ("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
    },
    "admission": {
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesParts.Arn/index/waiting": ("dynamodb:Query",),
        "TablesParts.Arn/index/holding": ("dynamodb:Query",),
        "TablesParts.StreamArn": READ_STREAM,
        "QueuesAdmissionDeadLetters.Arn": ("sqs:SendMessage",),
        STATE_MACHINE: ("states:SendTaskSuccess", "states:SendTaskFailure"),
        TASKS: ("ecs:StopTask",),
    },
    "reconciler": {
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        "TablesExecutions.Arn/index/long": ("dynamodb:Query",),
        "TablesParts.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query"),
        "TablesParts.Arn/index/holding": ("dynamodb:Query",),
        EVERY_SCHEDULE: ("scheduler:ListSchedules",),
        SCHEDULES: ("scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule"),
        "SchedulesRole.Arn": ("iam:PassRole",),
        STATE_MACHINE: ("states:ListExecutions", "states:SendTaskFailure"),
        RUNS: ("states:StopExecution",),
        TASKS: ("ecs:DescribeTasks", "ecs:StopTask"),
    },
    "monitor": {
        "TablesJobs.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem"),
        "TablesJobs.Arn/index/queue_jobs": ("dynamodb:Query",),
        "TablesExecutions.Arn": (
            *("dynamodb:GetItem", "dynamodb:BatchGetItem"),
            *("dynamodb:UpdateItem", "dynamodb:Query"),
        ),
        "TablesExecutions.Arn/index/checks": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/unstarted": ("dynamodb:Query",),
        "TablesStatistics.Arn": ("dynamodb:BatchGetItem", "dynamodb:Query"),
        "TablesExecutions.Arn/index/deadlines": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/running": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/long": ("dynamodb:Query",),
        "TablesGates.Arn": ("dynamodb:Query",),
        "TablesParts.Arn": ("dynamodb:BatchGetItem", "dynamodb:Query"),
        "TablesParts.Arn/index/waiting": ("dynamodb:Query",),
        "TablesParts.Arn/index/holding": ("dynamodb:Query",),
        "TablesTimers.Arn": ("dynamodb:GetItem",),
        "TablesSignals.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem"),
        **{f"Queues{name.title()}.Arn": ("sqs:GetQueueAttributes",) for name in ("high", "normal", "low", "intake")},
        **{f"Queues{name.title()}DeadLetters.Arn": ("sqs:GetQueueAttributes",) for name in DEAD_LETTER_QUEUES},
        "TablesOperations.Arn": ("dynamodb:BatchGetItem", "dynamodb:Query"),
        "QueuesBulk.Arn": ("sqs:SendMessage",),
        "QueuesChecks.Arn": (*READ_QUEUE, "sqs:SendMessage"),
        "QueuesChecksDeadLetters.Arn": ("sqs:GetQueueAttributes", "sqs:SendMessage"),
        "QueuesNotices.Arn": ("sqs:SendMessage",),
        STATE_MACHINE: ("states:ListExecutions",),
    },
    "bulk": {
        "TablesGates.Arn": USE_GATES,
        "TablesJobs.Arn": (
            *("dynamodb:GetItem", "dynamodb:BatchGetItem"),
            *("dynamodb:PutItem", "dynamodb:UpdateItem"),
        ),
        "TablesRevisions.Arn": ("dynamodb:PutItem",),
        "TablesExecutions.Arn": (*USE_GATED, "dynamodb:PutItem", "dynamodb:Query"),
        "TablesOperations.Arn": (
            *("dynamodb:GetItem", "dynamodb:PutItem"),
            *("dynamodb:UpdateItem", "dynamodb:DeleteItem"),
        ),
        "QueuesBulk.Arn": (*READ_QUEUE, "sqs:SendMessage"),
        "QueuesBulkDeadLetters.Arn": ("sqs:SendMessage",),
    },
    "notifier": {
        "TablesSignals.Arn": ("dynamodb:GetItem", "dynamodb:UpdateItem"),
        "TablesJobs.Arn": ("dynamodb:GetItem",),
        "TopicsPage": ("sns:Publish",),
        "TopicsNotice": ("sns:Publish",),
        "TopicsKey.Arn": ("kms:Decrypt", "kms:GenerateDataKey"),
        "QueuesNotices.Arn": (*READ_QUEUE, "sqs:SendMessage"),
        "QueuesNoticesDeadLetters.Arn": ("sqs:SendMessage",),
    },
}

EVERYWHERE = {("cloudwatch:PutMetricData", "*")}
"""What every function may do, besides writing its own log."""

_TRANSACTED = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
_QUEUE_CALLS = {
    "SendMessage": "SendMessage",
    "SendMessageBatch": "SendMessage",
    "GetQueueAttributes": "GetQueueAttributes",
}
_QUEUE_CALLS |= {"ChangeMessageVisibility": "ChangeMessageVisibility"}
_RUN_CALLS = {"StopExecution": RUNS}
_SCHEDULE_CALLS = {"ListSchedules": EVERY_SCHEDULE}


def refused(function: str, service: str, operation: str, parameters: dict[str, Any]) -> list[tuple[str, str]]:
    """The permissions that a request of ``function`` needs and that the function does not have."""
    allowed = {(action, resource) for resource, actions in PERMISSIONS[function].items() for action in actions}
    return [one for one in needed(service, operation, parameters) if one not in allowed | EVERYWHERE]


def needed(service: str, operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The action and the resource of each permission that a request needs."""
    match service:
        case "dynamodb":
            yield from _needed_in_dynamodb(operation, parameters)
        case "sqs":
            yield f"sqs:{operation.removesuffix('Batch')}", _queue(parameters["QueueUrl"].rpartition("/")[2])
        case "s3":
            yield f"s3:{operation}", "ResultsBucket.Arn/*"
        case "sns":
            name = parameters["TopicArn"].rpartition(":")[2]
            if name in TOPICS:  # the policy of any other topic allows the notifier to publish
                yield f"sns:{operation}", f"Topics{name.title()}"
        case "sesv2":
            pass  # a stage with a sender allows it: see test_notifier.py
        case "stepfunctions":
            yield f"states:{operation}", _RUN_CALLS.get(operation, STATE_MACHINE)
        case "scheduler":
            yield f"scheduler:{operation}", _SCHEDULE_CALLS.get(operation, SCHEDULES)
        case "ecs":
            yield f"ecs:{operation}", TASKS
        case "sts":
            yield f"sts:{operation}", "WorkerTaskRole.Arn"
        case "cognito-idp":
            yield f"cognito-idp:{operation}", "IdentityPool.Arn"
        case "cloudwatch":
            yield f"cloudwatch:{operation}", ALARMS if operation == "DescribeAlarms" else "*"
        case _:
            raise NotImplementedError(f"{service}.{operation}")


def _needed_in_dynamodb(operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if operation == "TransactWriteItems":
        for item in parameters["TransactItems"]:
            for kind, write in item.items():
                yield _TRANSACTED[kind], _table(write["TableName"])
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for name in parameters["RequestItems"]:
            yield f"dynamodb:{operation}", _table(name)
    else:
        index = f"/index/{parameters['IndexName']}" if "IndexName" in parameters else ""
        yield f"dynamodb:{operation}", _table(parameters["TableName"]) + index


def _table(name: str) -> str:
    return f"Tables{name.title()}.Arn"


def _queue(name: str) -> str:
    owner = name.removesuffix("-dead")
    owner = {"monitor": "checks", "notifier": "notices"}.get(owner, owner) if owner != name else owner
    return f"Queues{owner.title()}{'DeadLetters' if name.endswith('-dead') else ''}.Arn"
