"""Least privilege: the exact permissions of every role."""

import dataclasses
from pathlib import Path

import pytest
from aws_cdk import App

from cdk.settings import PROD, Tasks
from cdk.stack import PunctualStack
from cdk.statements import Statement
from cdk.validation import validate
from punctual.domain.metrics import namespace
from tests.infrastructure.deployed import FUNCTIONS, Deployed, readable
from tests.permissions import (
    ALARMS,
    CONDITIONS,
    DEFINITIONS,
    EVERY_SCHEDULE,
    HERE,
    IN_THIS_CLUSTER,
    PERMISSIONS,
    RUNS,
    SCHEDULES,
    STATE_MACHINE,
    TASKS,
)

# Resources whose names are known only at run time, and actions that AWS does not restrict to single resources.
WILDCARD_RESOURCES = {"ResultsBucket.Arn/*", SCHEDULES, RUNS, TASKS, f"{DEFINITIONS}/Punctual-prod-runner:*"}
UNRESTRICTABLE = {
    ("scheduler:ListSchedules", EVERY_SCHEDULE),
    ("ecr:GetAuthorizationToken", "*"),
    ("cloudwatch:PutMetricData", "*"),
    ("cloudwatch:DescribeAlarms", ALARMS),
}
TABLE = "AWS::DynamoDB::GlobalTable"
TICKING = ("dispatcher", "admission", "monitor", "reconciler")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_exactly_the_expected_permissions(prod: Deployed, name: str) -> None:
    logs = f"{name.title()}FunctionLogs.Arn"
    expected = {(action, resource) for resource, actions in PERMISSIONS[name].items() for action in actions}
    expected |= {("logs:CreateLogStream", logs), ("logs:PutLogEvents", logs), ("cloudwatch:PutMetricData", "*")}
    assert prod.permissions(f"{name.title()}FunctionRole") == expected


def test_no_permission_uses_an_unexpected_wildcard(prod: Deployed) -> None:
    for role in prod.all("AWS::IAM::Role"):
        for action, resource in prod.permissions(role) - UNRESTRICTABLE:
            assert "*" not in action, f"{role} allows {action}"
            assert "*" not in resource or resource in WILDCARD_RESOURCES, f"{role} reaches {resource}"


def test_no_role_has_a_managed_policy(prod: Deployed) -> None:
    for role in prod.all("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role


def test_each_function_has_its_own_role(prod: Deployed) -> None:
    for name in FUNCTIONS:
        role = prod.function(name)["Role"]["Fn::GetAtt"][0]
        assert role.startswith(f"{name.title()}FunctionRole")


def test_all_stages_have_the_same_permissions(prod: Deployed, local: Deployed) -> None:
    for name in FUNCTIONS:
        role = f"{name.title()}FunctionRole"
        own = {(action, on.replace("Punctual-local", "Punctual-prod")) for action, on in local.permissions(role)}
        assert own == prod.permissions(role)


@pytest.mark.parametrize("name", TICKING)
def test_the_ticks_of_a_function_may_only_invoke_it(prod: Deployed, name: str) -> None:
    allowed = prod.permissions(f"{name.title()}TickRole")
    assert allowed == {("lambda:InvokeFunction", f"{name.title()}Function.Arn")}


@pytest.mark.parametrize("name", TICKING)
def test_only_the_ticks_of_this_stack_may_assume_the_tick_role(prod: Deployed, name: str) -> None:
    statement = prod.trust(f"{name.title()}TickRole")
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert list(statement["Condition"]) == ["ArnEquals"]
    assert readable(statement["Condition"]["ArnEquals"]["aws:SourceArn"]) == "DispatcherTicks.Arn"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_permissions_of_a_function_have_exactly_the_expected_conditions(prod: Deployed, name: str) -> None:
    role = f"{name.title()}FunctionRole"
    for action, _ in prod.permissions(role):
        expected = CONDITIONS.get(action, {})
        assert all(condition == expected for condition in prod.conditions(role, action)), action
    assert CONDITIONS["cloudwatch:PutMetricData"]["StringEquals"]["cloudwatch:namespace"] == namespace("prod")


def test_the_one_time_schedules_may_only_start_the_state_machine(prod: Deployed) -> None:
    assert prod.permissions("SchedulesRole") == {("states:StartExecution", STATE_MACHINE)}


def test_only_schedules_of_the_long_lane_may_assume_the_schedules_role(prod: Deployed) -> None:
    statement = prod.trust("SchedulesRole")
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert list(statement["Condition"]) == ["ArnEquals"]
    assert readable(statement["Condition"]["ArnEquals"]["aws:SourceArn"]) == "SchedulesGroup.Arn"


def test_the_state_machine_may_invoke_the_conductor_and_start_containers(prod: Deployed) -> None:
    assert prod.permissions("StateMachineRole") == {
        ("lambda:InvokeFunction", "ConductorFunction.Arn"),
        ("ecs:RunTask", f"{DEFINITIONS}/Punctual-prod-runner:*"),
        ("iam:PassRole", "RunnerTaskRole.Arn"),
        ("iam:PassRole", "RunnerExecutionRole.Arn"),
    }


def test_the_state_machine_may_start_containers_only_in_this_cluster_and_pass_roles_only_to_them(
    prod: Deployed,
) -> None:
    assert prod.conditions("StateMachineRole", "ecs:RunTask") == [IN_THIS_CLUSTER]
    passing = prod.conditions("StateMachineRole", "iam:PassRole")
    assert passing == [{"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}}]


def test_a_container_may_only_invoke_the_reporter(prod: Deployed, local: Deployed) -> None:
    for stack in (prod, local):
        assert stack.permissions("RunnerTaskRole") == {("lambda:InvokeFunction", "ReporterFunction.Arn")}


def test_tasks_of_the_short_lane_may_do_nothing_by_default(prod: Deployed, local: Deployed) -> None:
    for stack in (prod, local):
        assert stack.permissions("WorkerTaskRole") == set()


def test_only_the_worker_may_assume_the_role_of_its_tasks(prod: Deployed) -> None:
    statement = prod.trust("WorkerTaskRole")
    assert readable(statement["Principal"]["AWS"]) == "arn:AWS::Partition:iam::AWS::AccountId:root"
    assert list(statement["Condition"]) == ["ArnEquals"]
    assert readable(statement["Condition"]["ArnEquals"]["aws:PrincipalArn"]) == "WorkerFunctionRole.Arn"
    assert prod.environment("worker")["TASK_ROLE_ARN"] == "WorkerTaskRole.Arn"


@pytest.mark.parametrize("role", ["WorkerTaskRole", "RunnerTaskRole"])
def test_tasks_cannot_reach_what_punctual_stores_whatever_a_stage_allows(prod: Deployed, role: str) -> None:
    tables = {("dynamodb:*", f"{name}.Arn{of}") for name in prod.all(TABLE) for of in ("", "/*")}
    queues = {("sqs:*", f"{name}.Arn") for name in prod.all("AWS::SQS::Queue") if name != "QueuesIntake"}
    results = {("s3:*", "ResultsBucket.Arn"), ("s3:*", "ResultsBucket.Arn/*")}
    assert prod.denials(role) == tables | queues | results


def test_tasks_may_do_what_the_statements_of_the_stage_allow_in_both_lanes(tmp_path: Path) -> None:
    condition = {"StringEquals": {"aws:ResourceTag/team": "data"}}
    objects, secret = "arn:aws:s3:::orders/*", "arn:aws:secretsmanager:us-east-1:123456789012:secret:orders"
    statements = (
        Statement(actions=("s3:Get*",), resources=(objects,), conditions={}),
        Statement(actions=("secretsmanager:GetSecretValue",), resources=(secret,), conditions=condition),
    )
    app = App(context={"aws:cdk:bundling-stacks": []}, outdir=str(tmp_path))
    PunctualStack(app, settings=dataclasses.replace(PROD, tasks=Tasks(statements=statements)))
    validate(app)  # cdk-nag accepts the wildcards
    stack = Deployed.of(app)
    allowed = {("s3:Get*", objects), ("secretsmanager:GetSecretValue", secret)}
    assert stack.permissions("WorkerTaskRole") == allowed
    assert stack.permissions("RunnerTaskRole") == allowed | {("lambda:InvokeFunction", "ReporterFunction.Arn")}
    assert stack.conditions("WorkerTaskRole", "secretsmanager:GetSecretValue") == [condition]
    assert stack.permissions("WorkerFunctionRole").isdisjoint(allowed)


def test_fargate_may_write_a_containers_log_and_pull_the_image(prod: Deployed, local: Deployed) -> None:
    writes = {("logs:CreateLogStream", "RunnerLogs.Arn"), ("logs:PutLogEvents", "RunnerLogs.Arn")}
    assert local.permissions("RunnerExecutionRole") == writes
    image = f"arn:AWS::Partition:ecr:{HERE}:repository/cdk-hnb659fds-container-assets-AWS::AccountId-AWS::Region"
    assert prod.permissions("RunnerExecutionRole") == writes | {
        ("ecr:GetAuthorizationToken", "*"),
        ("ecr:BatchCheckLayerAvailability", image),
        ("ecr:GetDownloadUrlForLayer", image),
        ("ecr:BatchGetImage", image),
    }


@pytest.mark.parametrize("role", ["RunnerTaskRole", "RunnerExecutionRole", "StateMachineRole"])
def test_a_service_may_assume_its_role_only_for_this_account(prod: Deployed, role: str) -> None:
    statement = prod.trust(role)
    service = "states.amazonaws.com" if role == "StateMachineRole" else "ecs-tasks.amazonaws.com"
    assert statement["Principal"] == {"Service": service}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
