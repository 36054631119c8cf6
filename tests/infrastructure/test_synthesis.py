"""Checks of the synthesised stack: cfn-lint, cdk-nag, manifest, outputs."""

import json
from pathlib import Path

import pytest
from cfnlint import ManualArgs, lint

from cdk.settings import LOCAL, PROD, Settings
from cdk.validation import validate
from tests.infrastructure.conftest import WITHOUT_LONG_LANE, new_app
from tests.infrastructure.deployed import DEAD_LETTER_READERS, FUNCTIONS, QUEUES, Deployed

# The CDK adds a DependsOn for each function's role, although a reference already implies it.
REDUNDANT_DEPENDS_ON = "W3005"


@pytest.mark.parametrize("stage", ["prod", "short", "local"])
def test_cfn_lint_finds_nothing(stage: str, request: pytest.FixtureRequest) -> None:
    deployed: Deployed = request.getfixturevalue(stage)
    findings = lint(
        deployed.template_file.read_text(),
        config=ManualArgs(regions=["us-east-1"], ignore_checks=[REDUNDANT_DEPENDS_ON]),
    )
    assert [str(finding) for finding in findings] == []


@pytest.mark.parametrize("settings", [PROD, WITHOUT_LONG_LANE, LOCAL], ids=lambda settings: settings.stage)
def test_cdk_nag_finds_nothing(settings: Settings, tmp_path: Path) -> None:
    app = new_app(settings, outdir=str(tmp_path))
    validate(app)
    app.synth()  # raises on a finding
    report = json.loads((tmp_path / "validation-report.json").read_text())
    findings = [violation for plugin in report["pluginReports"] for violation in plugin["violations"]]
    assert findings == []


def test_synthesis_needs_no_account(prod: Deployed) -> None:
    manifest = json.loads((prod.directory / "manifest.json").read_text())
    assert "missing" not in manifest
    assert manifest["artifacts"]["Punctual-prod"]["environment"] == "aws://unknown-account/unknown-region"


def test_the_outputs_contain_everything_a_client_needs(prod: Deployed) -> None:
    expected = {"ApiUrl", "ApiId", "UserPoolId", "UserPoolClientId", "ResultsBucket"}
    expected |= {f"{name}Table" for name in ("Jobs", "Executions", "Parts", "Timers", "Signals", "Idempotency")}
    expected |= {f"{name.title()}QueueUrl" for name in QUEUES}
    expected |= {f"{name.title()}DeadLetterQueueUrl" for name in DEAD_LETTER_READERS}
    expected |= {f"{name.title()}{kind}" for name in FUNCTIONS for kind in ("Function", "LogGroup")}
    expected |= {"Cluster", "StateMachineArn", "ScheduleGroup", "RunnerLogGroup"}
    expected |= {"PageTopicArn", "NoticeTopicArn", "NotifierRoleArn", "Dashboard"}
    assert expected <= set(prod.template["Outputs"])
