"""`make preflight`, `make bootstrap` and `make deploy`, with the answers of AWS to each call of the checks."""

import dataclasses
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError

from cdk import deploy, preflight
from cdk.preflight import Preflight, State
from cdk.quotas import Quotas, fitted
from cdk.settings import PROD

Answer = dict[str, Any] | ClientError


def refused(code: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "operation")


NEW_ACCOUNT: dict[str, Answer] = {
    "GetCallerIdentity": {"Account": "123456789012"},
    "GetParameter": {"Parameter": {"Value": "30"}},
    "DescribeStacks": refused("ValidationError", "Stack with id Punctual-prod does not exist"),
    "DescribeUserPoolDomain": {"DomainDescription": {}},
    "GetRole": refused("NoSuchEntity"),
    "GetAccountSettings": {"AccountLimit": {"ConcurrentExecutions": 10}},
    "GetServiceQuota": {"Quota": {"Value": 6.0}},
    "CreateServiceLinkedRole": {"Role": {}},
}
LARGE_ACCOUNT: dict[str, Answer] = {
    **NEW_ACCOUNT,
    "GetRole": {"Role": {}},
    "GetAccountSettings": {"AccountLimit": {"ConcurrentExecutions": 1000}},
    "GetServiceQuota": {"Quota": {"Value": 4000.0}},
}
MACHINE = {"node": "v20.20.2", "docker": "27.1.1"}


class Aws:
    """Answers the calls of all clients, and records those that change something."""

    def __init__(self) -> None:
        self.answers = dict(LARGE_ACCOUNT)
        self.changes: list[str] = []

    def call(self, _client: Any, operation: str, _parameters: dict[str, Any]) -> dict[str, Any]:
        if not operation.startswith(("Get", "Describe")):
            self.changes.append(operation)
        answer = self.answers[operation]
        if isinstance(answer, ClientError):
            raise answer
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
    code, [command] = deployed("deploy")
    assert (code, command[:2], aws.changes) == (0, ["deploy", "Punctual-prod"], [])
    assert [one for one in command if "=" in one] == ["stage=prod", "lambda_concurrency=1000", "fargate_vcpus=4000"]


def test_a_new_account_gets_settings_that_fit_and_the_role_of_ecs(aws: Aws) -> None:
    aws.answers = dict(NEW_ACCOUNT)
    found = rows()
    adapted = {name: check.fix for name, check in found.items() if check.state is not State.OK}
    assert set(adapted) == {"ECS role", "Lambda concurrency", "Fargate vCPUs"}
    assert {found[name].state for name in adapted} == {State.ADAPTED}
    assert "request 350 (quota L-B99A9384)" in adapted["Lambda concurrency"]
    assert "with 6 vCPUs; for the settings of the stage, request 256 (quota L-3032A538)" in adapted["Fargate vCPUs"]
    code, [command] = deployed("deploy")
    assert (code, aws.changes) == (0, ["CreateServiceLinkedRole"])
    assert {"lambda_concurrency=10", "fargate_vcpus=6"} < set(command)


def test_a_role_that_another_deployment_creates_at_the_same_time_is_no_failure(aws: Aws) -> None:
    taken = refused("InvalidInput", "Service role name AWSServiceRoleForECS has been taken in this account")
    aws.answers = {**NEW_ACCOUNT, "CreateServiceLinkedRole": taken}
    assert deployed("deploy")[0] == 0


@pytest.mark.parametrize(
    ("answers", "row", "fix"),
    [
        ({"GetParameter": refused("ParameterNotFound")}, "CDK bootstrap", "make bootstrap"),
        ({"GetParameter": {"Parameter": {"Value": "5"}}}, "CDK bootstrap", "make bootstrap"),
        ({"DescribeStacks": {"Stacks": [{"StackStatus": "ROLLBACK_COMPLETE"}]}}, "stack Punctual-prod", "delete-stack"),
        ({"DescribeStacks": {"Stacks": [{"StackStatus": "UPDATE_IN_PROGRESS"}]}}, "stack Punctual-prod", "wait"),
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
    aws.answers["DescribeStacks"] = {"Stacks": [{"StackStatus": "UPDATE_COMPLETE"}]}
    aws.answers["DescribeUserPoolDomain"] = {"DomainDescription": {"UserPoolId": "eu-west-1_own"}}
    assert failed() == []


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
def test_without_docker_the_stage_must_name_an_image(machine: dict[str, str]) -> None:
    del machine["docker"]
    assert failed() == ["runner image"]
    image = dataclasses.replace(PROD.long, image="registry.example.com/runner:1")
    assert rows(dataclasses.replace(PROD, long=image))["runner image"].state is State.OK


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


@pytest.mark.parametrize("quota", [10, 60, 200, 349, 350, 1000])
def test_the_workers_leave_concurrency_to_the_other_functions(quota: int) -> None:
    given = fitted(PROD, Quotas.of(str(quota), None)).concurrency
    shares = [given.high, given.normal, given.low, given.intake]
    assert min(shares) >= 2
    assert sum(shares) <= max(quota - 10, 8 if quota == 10 else 16)
    assert (given == PROD.concurrency) is (quota >= 350)
