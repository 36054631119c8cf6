"""checkov on the template of production: each finding has its reason in cdk/findings.py, and so in docs/security.md."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdk.findings import CHECKOV
from tests.infrastructure.deployed import Deployed

PINS = Path(__file__).with_name("checkov.txt")
BUILD = Path(__file__).parents[2] / ".build"


@pytest.fixture(scope="module")
def checkov() -> Path:
    """The Python of checkov's own environment, which the first call installs."""
    environment = BUILD / f"checkov-{hashlib.sha256(PINS.read_bytes()).hexdigest()[:16]}"
    python, stamp = environment / "bin" / "python", environment / ".installed"
    if not stamp.exists():
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(environment)], check=True)
        install = [*uv, "pip", "install", "--quiet", "--python", str(python), "--no-deps", "--requirement", str(PINS)]
        subprocess.run(install, check=True)
        stamp.touch()
    return python


def test_each_finding_of_checkov_is_explained_and_each_explanation_has_a_finding(
    prod: Deployed, checkov: Path, tmp_path: Path
) -> None:
    template = tmp_path / "template.json"  # away from the assets, which checkov would read as well
    template.write_text(prod.template_file.read_text())
    command = [str(checkov), "-m", "checkov.main", "--file", str(template), "--framework", "cloudformation"]
    command += ["--skip-download", "--quiet", "--compact", "--output", "json", "--soft-fail"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["passed"] > 100
    failed = {(one["check_id"], one["resource"].rpartition(".")[0]) for one in report["results"]["failed_checks"]}
    assert failed == {(one.check, one.resource_type) for one in CHECKOV}
