"""Imports point one way: runtime → aws, stages → ports → domain; and within each layer, by package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
    "domain": ("schedules", "jobs", "executions", "planning", "requests", "long_lane", "notices", "forecasts"),
    "stages": ("run", "plan", "dispatch", "settle", "long_lane", "watch", "api"),
    "aws": ("dynamodb", "cloudwatch", "ecs", "s3", "sns", "sqs", "step_functions"),
    "runtime": ("tasks", "lambdas", "container"),
}
"""A package imports only itself, the modules directly in its layer, and packages listed before it."""
FORBIDDEN_LIBRARIES = {"boto3", "botocore", "aws_lambda_powertools", "pydantic"}


def modules(layer: str) -> list[Path]:
    return sorted((PACKAGE / layer).rglob("*.py"))


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
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(name: str) -> tuple[str, str | None]:
    """The layer of an imported name, and its package in that layer; ``None`` for a module directly in the layer."""
    _, layer, *rest = name.split(".")
    return layer, rest[0] if rest and (PACKAGE / layer / rest[0]).is_dir() else None


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_the_layers_below_it(layer: str) -> None:
    assert modules(layer)
    for path in modules(layer):
        layers = {package_of(name)[0] for name in imported(path, types=False) if name.startswith("punctual.")}
        assert layers <= LAYERS[layer], f"{path} imports {layers - LAYERS[layer]}"


@pytest.mark.parametrize("layer", LAYERS)
def test_types_are_imported_from_the_layers_below_or_from_another_stage(layer: str) -> None:
    for path in modules(layer):
        layers = {package_of(name)[0] for name in imported(path) if name.startswith("punctual.")}
        assert layers <= LAYERS[layer] | ({"stages"} if layer == "stages" else set()), path


@pytest.mark.parametrize("layer", ORDER)
def test_every_package_is_listed_in_the_import_order(layer: str) -> None:
    assert {one.name for one in (PACKAGE / layer).iterdir() if (one / "__init__.py").exists()} == set(ORDER[layer])


@pytest.mark.parametrize(("layer", "package"), [(layer, one) for layer, some in ORDER.items() for one in some])
def test_a_package_imports_only_packages_listed_before_it(layer: str, package: str) -> None:
    before = ORDER[layer][: ORDER[layer].index(package) + 1]
    for path in (PACKAGE / layer / package).rglob("*.py"):
        for name in imported(path):
            if name.startswith(f"punctual.{layer}."):
                assert package_of(name)[1] in (None, *before), f"{path} imports {name}"


@pytest.mark.parametrize("layer", ORDER)
def test_modules_directly_in_a_layer_import_none_of_its_packages(layer: str) -> None:
    for path in (PACKAGE / layer).glob("*.py"):
        packages = {package_of(name)[1] for name in imported(path) if name.startswith(f"punctual.{layer}.")}
        assert packages <= {None}, f"{path} imports {packages}"


@pytest.mark.parametrize("layer", ["domain", "ports", "stages"])
def test_domain_ports_and_stages_import_no_aws_library(layer: str) -> None:
    for path in modules(layer):
        assert not {name.split(".")[0] for name in imported(path)} & FORBIDDEN_LIBRARIES, path
