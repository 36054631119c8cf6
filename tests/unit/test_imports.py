"""Imports point one way: runtime → aws, stages → ports → domain; and within each layer, by package."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "layers" / "punctual" / "python" / "punctual"
LAYERS = {
    "domain": {"domain"},
    "ports": {"domain", "ports"},
    "stages": {"domain", "ports"},
    "aws": {"domain", "ports", "aws"},
    "runtime": {"domain", "ports", "aws", "stages", "runtime"},
}
ORDER = {
    "domain": (
        "schedules",
        "jobs",
        "executions",
        "planning",
        "requests",
        "operations",
        "long_lane",
        "notices",
        "forecasts",
        "statistics",
        "attention",
    ),
    "stages": ("run", "plan", "dispatch", "settle", "long_lane", "watch", "api", "operations"),
    "aws": ("dynamodb", "cloudwatch", "cognito", "ecs", "s3", "sns", "ses", "sqs", "step_functions"),
    "runtime": ("tasks", "notices", "lambdas", "container"),
}
"""A package imports only itself, the modules directly in its layer, and packages listed before it."""
FORBIDDEN_LIBRARIES = {"boto3", "botocore", "aws_lambda_powertools", "pydantic"}

Rule = Callable[[Path], Iterator[str]]
"""Yields the violations in the engine below a folder."""
RULES: list[Rule] = []


def rule(check: Rule) -> Rule:
    RULES.append(check)
    return check


def imported(path: Path, *, types: bool = True) -> Iterator[str]:
    """The names that a module imports; without ``types`` only those imported at run time."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types:
            skipped |= {id(inner) for inner in ast.walk(node)}
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def of_engine(path: Path, *, types: bool = True) -> Iterator[str]:
    return (name for name in imported(path, types=types) if name.startswith("punctual."))


def package_of(name: str) -> tuple[str, str | None]:
    """The layer of an imported name, and its package in that layer; ``None`` for a module directly in the layer."""
    _, layer, *rest = name.split(".")
    return layer, rest[0] if rest and rest[0] in ORDER.get(layer, ()) else None


@rule
def a_layer_imports_only_the_layers_below_it(engine: Path) -> Iterator[str]:
    for layer, below in LAYERS.items():
        for path in (engine / layer).rglob("*.py"):
            yield from (f"{path}: {name}" for name in of_engine(path, types=False) if package_of(name)[0] not in below)


@rule
def types_are_imported_from_the_layers_below_or_from_another_stage(engine: Path) -> Iterator[str]:
    for layer, below in LAYERS.items():
        allowed = below | ({"stages"} if layer == "stages" else set())
        for path in (engine / layer).rglob("*.py"):
            yield from (f"{path}: {name}" for name in of_engine(path) if package_of(name)[0] not in allowed)


@rule
def every_package_is_listed_in_the_import_order(engine: Path) -> Iterator[str]:
    for layer, packages in ORDER.items():
        existing = {path.parent.name for path in (engine / layer).glob("*/__init__.py")}
        yield from (f"{layer}/{name}" for name in existing ^ set(packages))


@rule
def a_package_imports_only_packages_listed_before_it(engine: Path) -> Iterator[str]:
    for layer, packages in ORDER.items():
        for number, package in enumerate(packages):
            before = {(layer, one) for one in (None, *packages[: number + 1])}
            for path in (engine / layer / package).rglob("*.py"):
                names = (name for name in of_engine(path) if package_of(name)[0] == layer)
                yield from (f"{path}: {name}" for name in names if package_of(name) not in before)


@rule
def modules_directly_in_a_layer_import_none_of_its_packages(engine: Path) -> Iterator[str]:
    for layer in ORDER:
        for path in (engine / layer).glob("*.py"):
            names = (name for name in of_engine(path) if package_of(name)[0] == layer)
            yield from (f"{path}: {name}" for name in names if package_of(name)[1] is not None)


@rule
def domain_ports_and_stages_import_no_aws_library(engine: Path) -> Iterator[str]:
    for layer in ("domain", "ports", "stages"):
        for path in (engine / layer).rglob("*.py"):
            yield from (f"{path}: {name}" for name in imported(path) if name.split(".")[0] in FORBIDDEN_LIBRARIES)


@rule
def imports_are_absolute(engine: Path) -> Iterator[str]:
    for path in engine.rglob("*.py"):
        yield from (f"{path}: {name}" for name in imported(path) if name.startswith("."))


@pytest.mark.parametrize("violations", RULES, ids=lambda one: one.__name__)
def test_the_engine_follows_the_rule(violations: Rule) -> None:
    assert len(list(PACKAGE.rglob("*.py"))) > 100
    assert list(violations(PACKAGE)) == []


FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from punctual."


OFFENDERS = [
    (a_layer_imports_only_the_layers_below_it, "domain/jobs/offender.py", "from punctual.ports.jobs import Jobs"),
    (a_layer_imports_only_the_layers_below_it, "stages/run/offender.py", "import punctual.aws.clients"),
    (
        a_layer_imports_only_the_layers_below_it,
        "aws/offender.py",
        "def lazy():\n    from punctual.stages.run import work",
    ),
    (
        types_are_imported_from_the_layers_below_or_from_another_stage,
        "domain/offender.py",
        f"{FOR_TYPES}ports.jobs import Jobs",
    ),
    (
        types_are_imported_from_the_layers_below_or_from_another_stage,
        "aws/sqs/offender.py",
        f"{FOR_TYPES}stages.run.work import Worker",
    ),
    (every_package_is_listed_in_the_import_order, "domain/offender/__init__.py", ""),
    (
        a_package_imports_only_packages_listed_before_it,
        "domain/schedules/offender.py",
        "from punctual.domain.jobs import job",
    ),
    (
        a_package_imports_only_packages_listed_before_it,
        "stages/run/offender.py",
        f"{FOR_TYPES}stages.api.edit import Edit",
    ),
    (
        modules_directly_in_a_layer_import_none_of_its_packages,
        "domain/offender.py",
        "from punctual.domain.jobs.job import Job",
    ),
    (domain_ports_and_stages_import_no_aws_library, "stages/api/offender.py", "import boto3.session"),
    (imports_are_absolute, "domain/offender.py", "from .jobs import job"),
]


@pytest.mark.parametrize(("violations", "module", "source"), OFFENDERS)
def test_a_module_that_breaks_the_rule_is_found(violations: Rule, module: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / module
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert [one for one in violations(tmp_path) if "offender" in one]


def test_every_rule_has_a_module_that_breaks_it() -> None:
    assert {violations for violations, _, _ in OFFENDERS} == set(RULES)
