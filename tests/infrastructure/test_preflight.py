"""`make preflight`, `make bootstrap` and `make deploy`, with the answers of AWS to each call of the checks."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters

from cdk import deploy, preflight
from cdk.preflight import Preflight, State
from cdk.quotas import RESERVABLE
from cdk.settings import PROD

Answer = dict[str, Any] | ClientError


def refused(code: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "operation")


ECS_ROLE = {
    "Path": "/aws-service-role/ecs.amazonaws.com/",
    "RoleName": "AWSServiceRoleForECS",
    "RoleId": "AROAEXAMPLEEXAMPLE",
    "Arn": "arn:aws:iam::123456789012:role/aws-service-role/ecs.amazonaws.com/AWSServiceRoleForECS",
    "CreateDate": datetime(2026, 1, 1, tzinfo=UTC),
}


def concurrency(quota: int, unreserved: int | None = None) -> Answer:
    """The answer about Lambda's quota: `unreserved` is less than the quota if functions have reservations."""
    return {
        "AccountLimit": {
            "ConcurrentExecutions": quota,
            "UnreservedConcurrentExecutions": quota if unreserved is None else unreserved,
        }
    }


def stack(status: str, **outputs: str) -> Answer:
    listed = [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]
    description = {"StackName": "Punctual-prod", "CreationTime": datetime(2026, 1, 1, tzinfo=UTC)}
    return {"Stacks": [{**description, "StackStatus": status, "Outputs": listed}]}


NEW_ACCOUNT: dict[str, Answer] = {
    "GetCallerIdentity": {"Account": "123456789012"},
    "GetParameter": {"Parameter": {"Value": "30"}},
    "DescribeStacks": refused("ValidationError", "Stack with id Punctual-prod does not exist"),
    "GetFunctionConcurrency": {},
    "DescribeUserPoolDomain": {"DomainDescription": {}},
    "GetRole": refused("NoSuchEntity"),
    "GetAccountSettings": concurrency(10),
    "GetServiceQuota": {"Quota": {"Value": 6.0}},
    "CreateServiceLinkedRole": {"Role": ECS_ROLE},
}
LARGE_ACCOUNT: dict[str, Answer] = {
    **NEW_ACCOUNT,
    "GetRole": {"Role": ECS_ROLE},
    "GetAccountSettings": concurrency(1000),
    "GetServiceQuota": {"Quota": {"Value": 4000.0}},
}
MACHINE = {"node": "v20.20.2", "docker": "27.1.1"}


class Aws:
    """Answers the calls of all clients, and records those that change something.

    Requests and answers are validated against the descriptions of the services.
    """

    def __init__(self) -> None:
        self.answers = dict(LARGE_ACCOUNT)
        self.changes: list[str] = []

    def call(self, client: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        model = client.meta.service_model.operation_model(operation)
        if model.input_shape is not None:
            validate_parameters(parameters, model.input_shape)
        if not operation.startswith(("Get", "Describe")):
            self.changes.append(operation)
        answer = self.answers[operation]
        if isinstance(answer, ClientError):
            raise answer
        validate_parameters(answer, model.output_shape)
        return answer


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the programs on this machine answer; without an entry, a program does not exist."""
    programs = dict(MACHINE)
    monkeypatch.setattr(preflight, "_output", lambda program, *_arguments: programs.get(program, ""))
    monkeypatch.setattr(preflight.shutil, "which", programs.get)
    return programs


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Aws:
    found = Aws()
    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", lambda *call: found.call(*call))
    monkeypatch.delenv("AWS_REGION", raising=False)
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("DEFAULT_REGION", "eu-west-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    return found


def rows(settings: Any = PROD) -> dict[str, preflight.Check]:
    return {check.name: check for check in Preflight(settings).checks()}


def failed() -> list[str]:
    return [name for name, check in rows().items() if check.state is State.FAILED]


def deployed(*arguments: str) -> tuple[int, list[list[str]]]:
    """The exit code, and the commands of the CDK that were run."""
    commands: list[list[str]] = []
    return deploy.main(arguments, lambda command: commands.append(command) or 0), commands


def test_a_large_account_needs_nothing(aws: Aws) -> None:
    assert {check.state for check in rows().values()} == {State.OK}
    code, [creation, protection] = deployed("deploy")
    assert (code, creation[:2], aws.changes) == (0, ["deploy", "Punctual-prod"], [])
    assert [one for one in protection if "=" in one] == ["stage=prod", "lambda_concurrency=1000", "fargate_vcpus=4000"]
    assert creation == [*protection, "--context", "creating=yes"]


def test_a_creation_that_fails_is_not_followed_by_the_protection_of_the_data(aws: Aws) -> None:
    commands: list[list[str]] = []
    assert deploy.main(["deploy"], lambda command: commands.append(command) or 3) == 3
    assert ["creating=yes" in command for command in commands] == [True]
    aws.answers["DescribeStacks"] = stack("ROLLBACK_COMPLETE")  # so it is created again
    assert ["creating=yes" in command for command in deployed("deploy")[1]] == [True, False]


def test_a_deployment_that_ended_before_the_protection_of_the_data_is_completed_by_the_next(aws: Aws) -> None:
    aws.answers["DescribeStacks"] = stack("CREATE_COMPLETE")
    assert ["creating=yes" in command for command in deployed("deploy")[1]] == [False]


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS"])
def test_a_stack_that_was_never_created_blocks_no_deployment(aws: Aws, status: str) -> None:
    aws.answers["DescribeStacks"] = stack(status)
    assert failed() == []
    aws.answers["DescribeUserPoolDomain"] = {"DomainDescription": {"UserPoolId": "eu-west-1_old"}}
    assert failed() == ["sign-in domain"]


def test_a_new_account_gets_settings_that_fit_and_the_role_of_ecs(aws: Aws) -> None:
    aws.answers = dict(NEW_ACCOUNT)
    found = rows()
    adapted = {name: check.fix for name, check in found.items() if check.state is not State.OK}
    assert set(adapted) == {"ECS role", "Lambda concurrency", "Fargate vCPUs"}
    assert {found[name].state for name in adapted} == {State.ADAPTED}
    assert adapted["Lambda concurrency"] == (
        "deploys with high 2, normal 2, low 2, intake 2; reserves concurrency for no function; for the settings of the "
        "stage, request 595 (quota L-B99A9384)"
    )
    assert "with 6 vCPUs; for the settings of the stage, request 256 (quota L-3032A538)" in adapted["Fargate vCPUs"]
    code, commands = deployed("deploy")
    assert (code, aws.changes) == (0, ["CreateServiceLinkedRole"])
    assert all({"lambda_concurrency=10", "fargate_vcpus=6"} < set(command) for command in commands)


def test_a_role_that_another_deployment_creates_at_the_same_time_is_no_failure(aws: Aws) -> None:
    taken = refused("InvalidInput", "Service role name AWSServiceRoleForECS has been taken in this account")
    aws.answers = {**NEW_ACCOUNT, "CreateServiceLinkedRole": taken}
    assert deployed("deploy")[0] == 0


@pytest.mark.parametrize(
    ("answers", "row", "fix"),
    [
        ({"GetParameter": refused("ParameterNotFound")}, "CDK bootstrap", "make bootstrap"),
        ({"GetParameter": {"Parameter": {"Value": "5"}}}, "CDK bootstrap", "make bootstrap"),
        ({"DescribeStacks": stack("ROLLBACK_FAILED")}, "stack Punctual-prod", "delete-stack"),
        ({"DescribeStacks": stack("UPDATE_ROLLBACK_FAILED")}, "stack Punctual-prod", "cdk rollback Punctual-prod"),
        ({"DescribeStacks": stack("UPDATE_IN_PROGRESS")}, "stack Punctual-prod", "wait"),
        (
            {"DescribeUserPoolDomain": {"DomainDescription": {"UserPoolId": "eu-west-1_old"}}},
            "sign-in domain",
            "delete-user-pool-domain --domain punctual-prod-123456789012 --user-pool-id eu-west-1_old",
        ),
        ({"GetRole": refused("AccessDenied", "not authorized")}, "ECS role", "allow your role"),
        ({"GetCallerIdentity": refused("ExpiredToken")}, "credentials", "aws sso login"),
    ],
)
def test_what_would_fail_is_found_before_anything_changes(
    aws: Aws, answers: dict[str, Answer], row: str, fix: str
) -> None:
    aws.answers |= answers
    assert failed() == [row]
    assert fix in rows()[row].fix
    assert deployed("deploy") == (1, [])
    assert deployed("preflight") == (1, [])
    assert aws.changes == []


def test_an_existing_stack_is_updated_and_keeps_its_domain(aws: Aws) -> None:
    aws.answers["DescribeStacks"] = stack("UPDATE_COMPLETE")
    aws.answers["DescribeUserPoolDomain"] = {"DomainDescription": {"UserPoolId": "eu-west-1_own"}}
    assert failed() == []


def test_the_reservations_of_the_stack_itself_do_not_count_against_it(aws: Aws) -> None:
    names = {f"{name.title()}Function": name for name in RESERVABLE}
    aws.answers["DescribeStacks"] = stack("UPDATE_COMPLETE", **names)
    aws.answers["GetFunctionConcurrency"] = {"ReservedConcurrentExecutions": 100}
    aws.answers["GetAccountSettings"] = concurrency(1000, 500)
    assert rows()["Lambda concurrency"].found == "1,000"
    assert {"lambda_concurrency=1000"} < set(deployed("deploy")[1][0])


def test_the_reservations_of_others_leave_less_to_the_stack(aws: Aws) -> None:
    aws.answers["GetAccountSettings"] = concurrency(1000, 400)
    found = rows()["Lambda concurrency"]
    assert (found.state, found.found) == (State.ADAPTED, "1,000; others reserve 600")
    assert "reserves concurrency for dispatcher, planner, settler, api; " in found.fix
    assert "request 1,195" in found.fix


def test_a_second_region_is_checked_by_itself(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    aws.answers["GetParameter"] = refused("ParameterNotFound")
    assert rows()["CDK bootstrap"].found == "missing in us-west-2"


def test_without_credentials_the_account_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("DEFAULT_REGION", "eu-west-1"), ("EC2_METADATA_DISABLED", "true"), ("CONFIG_FILE", "/none")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/none")
    found = rows()
    assert list(found) == ["Python", "Node", "runner image", "credentials"]
    assert (found["credentials"].found, found["credentials"].fix) == (
        "none",
        "sign in: `aws sso login`, or set AWS_PROFILE",
    )
    assert deployed("bootstrap") == (1, [])


@pytest.mark.usefixtures("aws")
def test_without_a_region_the_account_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/none")
    found = rows()
    assert list(found)[-1] == "credentials"
    assert (found["credentials"].found, found["credentials"].fix) == (
        "no Region",
        "set AWS_REGION, or `region` in your profile",
    )


@pytest.mark.usefixtures("aws")
def test_the_checks_and_the_cdk_use_the_same_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "ap-south-1")  # the CDK prefers it to AWS_DEFAULT_REGION
    assert rows()["credentials"].found == "account 123456789012, ap-south-1"


@pytest.mark.usefixtures("aws")
def test_without_docker_the_stage_must_name_an_image(machine: dict[str, str]) -> None:
    del machine["docker"]
    assert failed() == ["runner image"]
    assert "leave the long lane out with `enabled = false`" in rows()["runner image"].fix
    image = dataclasses.replace(PROD.long, image="registry.example.com/runner:1")
    assert rows(dataclasses.replace(PROD, long=image))["runner image"].state is State.OK


def test_a_stage_without_the_long_lane_needs_neither_docker_nor_ecs_nor_fargate(
    aws: Aws, machine: dict[str, str]
) -> None:
    del machine["docker"]
    aws.answers = dict(NEW_ACCOUNT)
    found = rows(dataclasses.replace(PROD, long=dataclasses.replace(PROD.long, enabled=False)))
    assert not found.keys() & {"runner image", "ECS role", "Fargate vCPUs"}
    assert {check.state for name, check in found.items() if name != "Lambda concurrency"} == {State.OK}


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(("version", "works"), [("v18.1.0", False), ("v22.1.0", True), ("v24.0.0", True), ("", False)])
def test_supported_versions_of_node(machine: dict[str, str], version: str, works: bool) -> None:
    machine["node"] = version
    assert (failed() == []) is works


@pytest.mark.usefixtures("aws")
def test_bootstrap_prepares_the_account_and_region_of_the_credentials() -> None:
    assert deployed("bootstrap") == (0, [["bootstrap", "aws://123456789012/eu-west-1", "--app", ""]])


@pytest.mark.usefixtures("aws")
def test_an_unknown_stage_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert deployed("deploy", "--stage", "staging") == (1, [])
    assert "no stage 'staging'" in capsys.readouterr().err
