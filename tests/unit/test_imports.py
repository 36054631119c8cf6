"""Imports point one way: functions, local → runtime → aws, stages → ports → domain."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "layers" / "punctual" / "python" / "punctual"
ALLOWED = {
    "domain": {"domain"},
    "ports": {"domain", "ports"},
    "stages": {"domain", "ports"},
    "aws": {"domain", "ports", "aws"},
    "runtime": {"domain", "ports", "aws", "stages", "runtime"},
}
FORBIDDEN_LIBRARIES = {"boto3", "botocore", "aws_lambda_powertools", "pydantic"}


def modules(part: str) -> list[Path]:
    return sorted((PACKAGE / part).glob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("part", ALLOWED)
def test_each_part_imports_only_what_lies_below_it(part: str) -> None:
    assert modules(part)
    for path in modules(part):
        parts = {name.split(".")[1] for name in imported(path) if name.startswith("punctual.")}
        assert parts <= ALLOWED[part], f"{path.name} imports {parts - ALLOWED[part]}"


@pytest.mark.parametrize("part", ["domain", "ports", "stages"])
def test_what_decides_knows_nothing_of_aws(part: str) -> None:
    for path in modules(part):
        assert not {name.split(".")[0] for name in imported(path)} & FORBIDDEN_LIBRARIES, path.name
