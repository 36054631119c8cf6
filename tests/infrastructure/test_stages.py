"""Stages: the defaults, the file of a stage, and stacks that share an account."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cdk.settings import LOCAL, PROD
from cdk.stages import EXAMPLE, for_stage, is_on_this_machine
from stages.generate import example
from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import Deployed, readable

STATEMENT = "[[tasks.statements]]\nactions = ['s3:GetObject']\n"
UNIQUE_IN_THE_REGION = {
    ("AWS::ApiGatewayV2::Api", "Name"),
    ("AWS::CloudWatch::Alarm", "AlarmName"),
    ("AWS::Cognito::UserPoolDomain", "Domain"),
    ("AWS::ECS::TaskDefinition", "Family"),
    ("AWS::SNS::Topic", "DisplayName"),
    ("AWS::Scheduler::ScheduleGroup", "Name"),
    ("AWS::StepFunctions::StateMachine", "StateMachineName"),
}
UNIQUE_IN_THE_ACCOUNT = {("AWS::CloudWatch::Dashboard", "DashboardName")}
# References to another resource, or names within one: several stacks may use the same.
OF_ANOTHER_RESOURCE = {
    ("AWS::ApiGatewayV2::Authorizer", "Name"),
    ("AWS::ApiGatewayV2::Stage", "StageName"),
    ("AWS::CloudWatch::Alarm", "MetricName"),
    ("AWS::Cognito::UserPoolGroup", "GroupName"),
    ("AWS::IAM::Policy", "PolicyName"),
    ("AWS::Lambda::EventInvokeConfig", "FunctionName"),
    ("AWS::Lambda::EventSourceMapping", "FunctionName"),
    ("AWS::Lambda::Permission", "FunctionName"),
    ("AWS::Scheduler::Schedule", "GroupName"),
}


def stage(folder: Path, text: str, name: str = "test") -> Path:
    (folder / f"{name}.toml").write_text(text)
    return folder


def test_prod_and_local_need_no_file(tmp_path: Path) -> None:
    assert for_stage("prod", tmp_path) == PROD
    assert for_stage("local", stage(tmp_path, "timer_shards = 9", "local")) == LOCAL


def test_a_file_changes_the_settings_that_it_names(tmp_path: Path) -> None:
    text = """
        retention_days = 7
        email_sender = "jobs@example.com"
        http_call_networks = ["10.1.0.0/16"]
        [long]
        vcpus = 8
        images = { spark = "registry.example.com/spark:3" }
        [[tasks.statements]]
        actions = ["s3:GetObject"]
        resources = ["arn:aws:s3:::orders/*"]
        conditions = { Bool = { "aws:SecureTransport" = "true" } }
        [alerts]
        page = ["mailto:oncall@example.com"]
    """
    settings = for_stage("test", stage(tmp_path, text))
    assert (settings.stage, settings.stack_name, settings.retention_days) == ("test", "Punctual-test", 7)
    assert (settings.email_sender, settings.http_call_networks) == ("jobs@example.com", ("10.1.0.0/16",))
    assert (settings.long.vcpus, settings.long.tasks) == (8, PROD.long.tasks)
    assert settings.long.images == {"spark": "registry.example.com/spark:3"}
    (statement,) = settings.tasks.statements
    assert (statement.actions, statement.resources) == (("s3:GetObject",), ("arn:aws:s3:::orders/*",))
    assert statement.conditions == {"Bool": {"aws:SecureTransport": "true"}}
    assert settings.alerts.page == ("mailto:oncall@example.com",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("retention = 7", "retention: is not a setting; did you mean `retention_days`?"),
        ("[long]\nvcpu = 7", "long.vcpu: is not a setting; did you mean `vcpus`?"),
        ("is_emulated = true", "is_emulated: is not a setting"),
        ("timer_shards = '2'", "timer_shards: must be a whole number, but is '2'"),
        ("timer_shards = true", "timer_shards: must be a whole number, but is True"),
        ("keep_data = 1", "keep_data: must be true or false, but is 1"),
        ("alerts = 3", "alerts: must be a table, but is 3"),
        ("[alerts]\npage = 'mailto:a@example.com'", "alerts.page: must be a list of texts"),
        ("[long.images]\nspark = 3", "long.images: must be a table of texts"),
        ("timer_shards = 0", "timer_shards: 0 is not between 1 and 1,024"),
        ("[concurrency]\nhigh = 1", "concurrency.high: 1 is not between 2 and 1,000"),
        ("log_retention_days = 31", "log_retention_days: 31 is not one of 1, 3, 7"),
        ('log_level = "WARN"', "log_level: 'WARN' is not one of DEBUG, INFO, WARNING, ERROR"),
        ("log_debug_percent = 101", "log_debug_percent: 101 is not between 0 and 100"),
        ("[tasks]\nstatements = 3", "tasks.statements: must be a list of tables: write [[tasks.statements]]"),
        ("[[tasks.statements]]\naction = []", "tasks.statements[0].action: is not a key of a statement; use actions"),
        ("[[tasks.statements]]", "tasks.statements[0].actions: must be a list with an action such as `s3:GetObject`"),
        (f"{STATEMENT}resources = []", "tasks.statements[0].resources: must be a list with an ARN or `*`, but is []"),
        (f"{STATEMENT}resources = ['orders']", "tasks.statements[0].resources: 'orders' is not an ARN or `*`"),
        ("[[tasks.statements]]\nactions = ['*']", "tasks.statements[0].actions: '*' is not an action such as"),
        (f"{STATEMENT}resources = ['*']\nconditions = 3", "tasks.statements[0].conditions: must be a table of"),
        ("architecture = 'arm'", "architecture: 'arm' is not one of arm64, x86_64"),
        ("timer_shards", "Expected '='"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^stages/test\.toml: ") as refused:
        for_stage("test", stage(tmp_path, text))
    assert message in str(refused.value)


def test_an_unknown_stage_is_refused_with_the_stages_that_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no stage 'staging': choose one of local, prod, test, or create stages/st"):
        for_stage("staging", stage(tmp_path, ""))


@pytest.mark.parametrize("name", ["Prod", "a" * 21, "../prod", "prod-eu", ""])
def test_a_stage_name_that_no_resource_may_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"stage: .* is not a valid name"):
        for_stage(name, tmp_path)


@pytest.mark.parametrize("word", ["aws", "amazon", "cognito"])
def test_a_stage_name_that_cognito_refuses_in_a_domain_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(ValueError, match=f"stage: 'my{word}' contains '{word}'.*: rename the stage"):
        for_stage(f"my{word}", tmp_path)


def test_the_example_lists_every_setting_with_its_default(tmp_path: Path) -> None:
    assert EXAMPLE.read_text() == example(), "run `make docs`"
    lines = (line.removeprefix("# ") if " = " in line else line for line in example().splitlines())
    given = "\n".join(line for line in lines if not line.endswith('= ""'))
    settings = for_stage("prod", stage(tmp_path, given, "prod"))
    assert settings.long.images == {"name": "registry.example.com/image:1"}
    assert settings.concurrency == PROD.concurrency
    assert len(settings.tasks.statements) == 1


def names(stack: Deployed) -> dict[tuple[str, str], set[str]]:
    """The names that the template gives to resources, by type and property. CloudFormation generates all others."""
    found: dict[tuple[str, str], set[str]] = {}
    for resource in stack.template["Resources"].values():
        for key, value in resource.get("Properties", {}).items():
            if key.endswith("Name") or key in {"Family", "Domain"}:
                found.setdefault((resource["Type"], key), set()).add(readable(value))
    return {kind: one for kind, one in found.items() if kind not in OF_ANOTHER_RESOURCE}


def test_every_name_in_the_account_carries_the_stage(prod: Deployed, local: Deployed) -> None:
    assert set(names(prod)) == UNIQUE_IN_THE_REGION | UNIQUE_IN_THE_ACCOUNT
    for stage, stack in (("prod", prod), ("local", local)):
        for found in names(stack).values():
            assert all(re.match(rf"[Pp]unctual-{stage}(\W|$)", name) for name in found)
    given = [set().union(*names(stack).values()) for stack in (prod, local)]
    assert not given[0] & given[1]


def test_a_name_that_is_unique_in_the_account_carries_the_region(prod: Deployed) -> None:
    for kind in UNIQUE_IN_THE_ACCOUNT:
        assert all("AWS::Region" in name for name in names(prod)[kind])


def test_no_output_is_exported_under_a_name(prod: Deployed) -> None:
    assert not any("Export" in output for output in prod.template["Outputs"].values())


@pytest.mark.parametrize(
    ("endpoint", "emulated"),
    [
        ("http://127.0.0.1:4566", True),
        ("http://localhost:4566", True),
        ("", False),
        ("https://dynamodb.eu-west-1.amazonaws.com", False),
        ("http://localhost.example.com", False),
    ],
)
def test_the_emulator_is_recognized_by_its_address(endpoint: str, emulated: bool) -> None:
    assert is_on_this_machine(endpoint) is emulated


def test_the_stage_local_is_never_deployed_to_an_account() -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "CDK_CONTEXT_JSON": '{"stage": "local"}'}
    run = subprocess.run(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode != 0
    # Nothing else is printed: no banner about the version of Node.
    assert run.stderr == "\nthe stage `local` is for the emulator: use `make up`\n\n"
