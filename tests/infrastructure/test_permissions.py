"""Each function may do what it does, and nothing else."""

import pytest

from tests.infrastructure.deployed import FUNCTIONS, Deployed

READ_STREAM = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")
READ_QUEUE = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")

EXPECTED: dict[str, dict[str, tuple[str, ...]]] = {
    "api": {
        "TablesJobs.Arn": (
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:BatchWriteItem",
            "dynamodb:Query",
        ),
        "TablesJobs.Arn/index/by_owner": ("dynamodb:Query",),
        "TablesExecutions.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"),
        "TablesExecutions.Arn/index/by_owner": ("dynamodb:Query",),
        "TablesExecutions.Arn/index/running": ("dynamodb:Query",),
        "TablesIdempotency.Arn": (
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
        ),
        "ResultsBucket.Arn/*": ("s3:GetObject",),
        "WorkerFunctionLogs.Arn": ("logs:FilterLogEvents",),
    },
    "planner": {
        "TablesJobs.Arn": ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        "TablesExecutions.Arn": (
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:Query",
        ),
        "TablesTimers.Arn": ("dynamodb:PutItem",),
        "TablesJobs.StreamArn": READ_STREAM,
        "TablesExecutions.StreamArn": READ_STREAM,
        "TablesTimers.StreamArn": READ_STREAM,
        "QueuesHigh.Arn": ("sqs:SendMessage",),
        "QueuesNormal.Arn": ("sqs:SendMessage",),
        "QueuesLow.Arn": ("sqs:SendMessage",),
        "QueuesPlannerDeadLetters.Arn": ("sqs:SendMessage",),
    },
    "dispatcher": {
        "TablesTimers.Arn": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"),
        "TablesExecutions.Arn": ("dynamodb:BatchGetItem", "dynamodb:UpdateItem"),
        "TablesExecutions.Arn/index/running": ("dynamodb:Query",),
        "QueuesHigh.Arn": ("sqs:SendMessage",),
        "QueuesNormal.Arn": ("sqs:SendMessage",),
        "QueuesLow.Arn": ("sqs:SendMessage",),
    },
    "worker": {
        "TablesExecutions.Arn": ("dynamodb:UpdateItem",),
        "ResultsBucket.Arn/*": ("s3:PutObject",),
        "QueuesHigh.Arn": READ_QUEUE,
        "QueuesNormal.Arn": READ_QUEUE,
        "QueuesLow.Arn": READ_QUEUE,
        "QueuesHighDeadLetters.Arn": ("sqs:SendMessage",),
        "QueuesNormalDeadLetters.Arn": ("sqs:SendMessage",),
        "QueuesLowDeadLetters.Arn": ("sqs:SendMessage",),
    },
    "settler": {
        "TablesJobs.Arn": ("dynamodb:UpdateItem",),
        "TablesExecutions.StreamArn": READ_STREAM,
        "QueuesSettlerDeadLetters.Arn": ("sqs:SendMessage",),
    },
    "intake": {
        "TablesJobs.Arn": ("dynamodb:BatchGetItem",),
        "TablesExecutions.Arn": ("dynamodb:PutItem",),
        "QueuesIntake.Arn": READ_QUEUE,
        "QueuesIntakeDeadLetters.Arn": ("sqs:SendMessage",),
    },
}
# The key of a result is its execution, unknown at deployment: the only wildcard in any resource.
WILDCARD_RESOURCES = {"ResultsBucket.Arn/*"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_exactly_what_it_does(prod: Deployed, name: str) -> None:
    logs = f"{name.title()}FunctionLogs.Arn"
    expected = {(action, resource) for resource, actions in EXPECTED[name].items() for action in actions}
    expected |= {("logs:CreateLogStream", logs), ("logs:PutLogEvents", logs)}
    assert prod.permissions(f"{name.title()}FunctionRole") == expected


def test_nothing_is_allowed_by_wildcard(prod: Deployed) -> None:
    for role in prod.all("AWS::IAM::Role"):
        for action, resource in prod.permissions(role):
            assert "*" not in action, f"{role} allows {action}"
            assert "*" not in resource or resource in WILDCARD_RESOURCES, f"{role} reaches {resource}"


def test_no_role_carries_a_managed_policy(prod: Deployed) -> None:
    for role in prod.all("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role


def test_each_function_has_a_role_of_its_own(prod: Deployed) -> None:
    for name in FUNCTIONS:
        role = prod.function(name)["Role"]["Fn::GetAtt"][0]
        assert role.startswith(f"{name.title()}FunctionRole")


def test_the_stage_changes_no_permission(prod: Deployed, local: Deployed) -> None:
    for name in FUNCTIONS:
        role = f"{name.title()}FunctionRole"
        assert local.permissions(role) == prod.permissions(role)


def test_the_schedules_may_only_invoke_the_dispatcher(prod: Deployed) -> None:
    allowed = prod.permissions("DispatcherTickRole")
    assert allowed == {("lambda:InvokeFunction", "DispatcherFunction.Arn")}


def test_only_this_stacks_schedules_may_take_that_role(prod: Deployed) -> None:
    role = prod.one("AWS::IAM::Role", "DispatcherTickRole")
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert list(statement["Condition"]["ArnEquals"]) == ["aws:SourceArn"]
