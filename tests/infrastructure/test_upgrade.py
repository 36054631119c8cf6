"""An upgrade keeps tables, results, users and messages, and changes at most one index of a table at a time."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.infrastructure.conftest import ROOT
from tests.infrastructure.deployed import Deployed
from tests.infrastructure.stateful import RELEASED, State, problems, stateful

Template = dict[str, Any]


def test_the_last_release_can_be_upgraded(prod: Deployed) -> None:
    released: State = json.loads(RELEASED.read_text())
    assert {one["type"].split("::")[1] for one in released.values()} == {"DynamoDB", "S3", "Cognito", "SQS", "KMS"}
    assert problems(released, stateful(prod.template)) == [], "an intended change: see CONTRIBUTING.md, Upgrades"


def executions(template: Template) -> Any:
    (name,) = (one for one in template["Resources"] if one.startswith("TablesExecutions"))
    return template["Resources"][name]["Properties"]


def index(name: str) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": [], "Projection": {"ProjectionType": "KEYS_ONLY"}}


def add(*names: str) -> Callable[[Template], None]:
    return lambda template: executions(template)["GlobalSecondaryIndexes"].extend(index(name) for name in names)


def remove(*names: str) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        indexes = executions(template)["GlobalSecondaryIndexes"]
        indexes[:] = [one for one in indexes if one["IndexName"] not in names]

    return change


def project_all(template: Template) -> None:
    executions(template)["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "ALL"}


def change_key(template: Template) -> None:
    executions(template)["KeySchema"].pop()


def rename(template: Template) -> None:
    resources = template["Resources"]
    (name,) = (one for one in resources if one.startswith("TablesExecutions"))
    resources["TablesRuns"] = resources.pop(name)


@pytest.mark.parametrize("change", [add("one"), remove("long")])
def test_one_change_of_an_index_is_an_upgrade(prod: Deployed, change: Callable[[Template], None]) -> None:
    changed = copy.deepcopy(prod.template)
    change(changed)
    assert problems(stateful(prod.template), stateful(changed)) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (add("one", "two"), "add one, add two"),
        (remove("long", "running"), "remove long, remove running"),
        (lambda template: (remove("long")(template), add("one")(template)), "add one, remove long"),
        (project_all, "change by_owner"),
        (change_key, "would be replaced by an empty AWS::DynamoDB::GlobalTable"),
        (rename, "is gone: an upgrade would start with an empty AWS::DynamoDB::GlobalTable"),
    ],
)
def test_a_change_that_cloudformation_refuses_or_that_loses_data_is_found(
    prod: Deployed, change: Callable[[Template], object], reason: str
) -> None:
    changed = copy.deepcopy(prod.template)
    change(changed)
    (found,) = problems(stateful(prod.template), stateful(changed))
    assert found.endswith(reason)


def test_the_section_on_removal_lists_what_a_deleted_stack_leaves(prod: Deployed) -> None:
    resources = prod.template["Resources"].values()
    kept = {one["Type"] for one in resources if one.get("DeletionPolicy", "Delete") != "Delete"}
    section = (ROOT / "docs" / "operations.md").read_text().partition("\n## Removal\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"\| `(AWS::[\w:]+)` \|", section)) == kept
