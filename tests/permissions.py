"""The exact permissions of every function's role, and which of them an AWS request needs.

The infrastructure tests compare ``PERMISSIONS`` and ``CONDITIONS`` with the synthesized policies. The integration tests
and the simulator compare every request of a function with them, because neither moto nor the simulator enforces
policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests import resources
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

CONDITIONS: dict[str, dict[str, dict[str, str]]] = {
    "cloudwatch:PutMetricData": {"StringEquals": {"cloudwatch:namespace": "Punctual/prod"}},
    "ecs:DescribeTasks": IN_THIS_CLUSTER,
    "ecs:StopTask": IN_THIS_CLUSTER,
    "iam:PassRole": {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
}
"""The condition of every permission with this action. All others are unconditional."""


@dataclass(frozen=True)
class Permission:
    """What a request needs: the action, the resource, and the values that a condition compares."""

    action: str
    resource: str
    context: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return " ".join([f"{self.action} on {self.resource}", *(f"with {key} {value}" for key, value in self.context)])


@dataclass(frozen=True)
class Unused:
    """Why functions have permissions that no request of a test needs."""

    reason: str
    actions: tuple[str, ...]
    functions: tuple[str, ...] = tuple(PERMISSIONS)
    resources: tuple[str, ...] = ("",)
    """The ends of the resources' names."""

    def covers(self, function: str, action: str, resource: str) -> bool:
        return function in self.functions and action in self.actions and resource.endswith(self.resources)


UNUSED = (
    Unused("Lambda reads streams with the role of the function.", READ_STREAM),
    Unused("Lambda reads queues with the role of the function.", READ_QUEUE),
    Unused(
        "Lambda sends records and events that the function failed to process.",
        ("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"),
        resources=("DeadLetters.Arn",),
    ),
    Unused(
        "Every function publishes throttled requests and late records; the tests provoke them at some.",
        ("cloudwatch:PutMetricData",),
    ),
    Unused(
        "`grant_gates` grants the whole protocol of the gates: which of its writes a function makes depends on races.",
        (*USE_GATED, *USE_GATES),
        functions=("api", "bulk", "conductor", "dispatcher", "planner", "settler"),
        resources=("TablesGates.Arn", "TablesExecutions.Arn"),
    ),
    Unused(
        "No test shows the need yet: add one, or revoke the grant.",
        (
            *("dynamodb:BatchGetItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:Query", "s3:GetObject"),
            *("scheduler:UpdateSchedule", "sqs:SendMessage", "states:SendTaskFailure"),
        ),
        functions=("api", "bulk", "conductor", "dispatcher", "monitor", "observer", "reconciler", "settler"),
        resources=(
            *("TablesIdempotency.Arn", "TablesJobs.Arn", "TablesExecutions.Arn", "TablesParts.Arn", "/*"),
            *("QueuesLow.Arn", "QueuesNormal.Arn", "Punctual-prod-long"),
        ),
    ),
)

# The names that tests give to the resources of the stack.
_NAMES = {
    "Punctual/test": "Punctual/prod",
    resources.STATE_MACHINE: STATE_MACHINE,
    resources.ROLE: "SchedulesRole.Arn",
    resources.TASK_ROLE: "WorkerTaskRole.Arn",
}
_TRANSACTED = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}


def refused(function: str, service: str, operation: str, parameters: dict[str, Any]) -> list[Permission]:
    """The permissions that a request of ``function`` needs and that the function does not have."""
    return [one for one in needed(service, operation, parameters) if not _is_allowed(function, one)]


def grants(function: str) -> frozenset[tuple[str, str]]:
    """Each action and resource that the role of ``function`` allows."""
    own = {(action, resource) for resource, actions in PERMISSIONS[function].items() for action in actions}
    return frozenset(own | EVERYWHERE)


_grants = cache(grants)


def _is_allowed(function: str, needs: Permission) -> bool:
    wanted = {key: value for keys in CONDITIONS.get(needs.action, {}).values() for key, value in keys.items()}
    return (needs.action, needs.resource) in _grants(function) and dict(needs.context) == wanted


def needed(service: str, operation: str, parameters: dict[str, Any]) -> Iterator[Permission]:
    """The permissions that a request needs."""
    match service:
        case "dynamodb":
            yield from _needed_in_dynamodb(operation, parameters)
        case "sqs":
            queue = _queue(parameters["QueueUrl"].rpartition("/")[2])
            yield Permission(f"sqs:{operation.removesuffix('Batch')}", queue)
        case "s3":
            bucket = "ResultsBucket.Arn" if parameters["Bucket"] == "results" else parameters["Bucket"]
            yield Permission(f"s3:{operation}", f"{bucket}/*")
        case "sns":
            name = parameters["TopicArn"].rpartition(":")[2]
            if name in TOPICS:  # the policy of any other topic allows the notifier to publish
                yield Permission(f"sns:{operation}", f"Topics{name.title()}")
                yield from (Permission(f"kms:{one}", "TopicsKey.Arn") for one in ("Decrypt", "GenerateDataKey"))
        case "sesv2":
            pass  # a stage with a sender allows it: see test_notifier.py
        case "stepfunctions":
            yield Permission(f"states:{operation}", _run(parameters))
        case "scheduler":
            yield from _needed_in_scheduler(operation, parameters)
        case "ecs":
            is_own = parameters["cluster"] == "long"
            cluster = "FargateCluster.Arn" if is_own else parameters["cluster"]
            yield Permission(f"ecs:{operation}", TASKS if is_own else cluster, (("ecs:cluster", cluster),))
        case "sts":
            yield Permission(f"sts:{operation}", _NAMES.get(parameters["RoleArn"], parameters["RoleArn"]))
        case "cognito-idp":
            yield Permission(f"cognito-idp:{operation}", "IdentityPool.Arn")
        case "cloudwatch" if operation == "PutMetricData":
            namespace = _NAMES.get(parameters["Namespace"], parameters["Namespace"])
            yield Permission(f"cloudwatch:{operation}", "*", (("cloudwatch:namespace", namespace),))
        case "cloudwatch":
            yield Permission(f"cloudwatch:{operation}", ALARMS)
        case _:
            raise NotImplementedError(f"{service}.{operation}")


def _needed_in_dynamodb(operation: str, parameters: dict[str, Any]) -> Iterator[Permission]:
    if operation == "TransactWriteItems":
        for item in parameters["TransactItems"]:
            for kind, write in item.items():
                yield Permission(_TRANSACTED[kind], _table(write["TableName"]))
    elif operation in ("BatchGetItem", "BatchWriteItem"):
        for name in parameters["RequestItems"]:
            yield Permission(f"dynamodb:{operation}", _table(name))
    else:
        index = f"/index/{parameters['IndexName']}" if "IndexName" in parameters else ""
        yield Permission(f"dynamodb:{operation}", _table(parameters["TableName"]) + index)


def _needed_in_scheduler(operation: str, parameters: dict[str, Any]) -> Iterator[Permission]:
    own = EVERY_SCHEDULE if operation == "ListSchedules" else SCHEDULES
    yield Permission(f"scheduler:{operation}", own if parameters["GroupName"] == "long" else parameters["GroupName"])
    if "Target" in parameters:
        role = parameters["Target"]["RoleArn"]
        yield Permission("iam:PassRole", _NAMES.get(role, role), (("iam:PassedToService", "scheduler.amazonaws.com"),))


def _run(parameters: dict[str, Any]) -> str:
    """The state machine or the run that a request names. A task token belongs to a run of the state machine."""
    if "executionArn" in parameters:
        machine = parameters["executionArn"].rpartition(":")[0].replace(":execution:", ":stateMachine:")
        return RUNS if machine == resources.STATE_MACHINE else parameters["executionArn"]
    named = parameters.get("stateMachineArn", resources.STATE_MACHINE)
    return _NAMES.get(named, named)


def _table(name: str) -> str:
    return f"Tables{name.title()}.Arn"


def _queue(name: str) -> str:
    owner = name.removesuffix("-dead")
    owner = {"monitor": "checks", "notifier": "notices"}.get(owner, owner) if owner != name else owner
    return f"Queues{owner.title()}{'DeadLetters' if name.endswith('-dead') else ''}.Arn"
