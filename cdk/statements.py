"""The policy statements of tasks: how they are read from the file of a stage, and added to a role."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam

from cdk.acknowledge import acknowledge

ACTION = re.compile(r"[a-z0-9-]+:[A-Za-z0-9*?]+")
RESOURCE = re.compile(r"\*|arn:\S+")
KEYS = ("actions", "resources", "conditions")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One `[[tasks.statements]]` of a stage: `actions` that tasks may use on `resources`, under `conditions`."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Any]]

    def add_to(self, role: iam.Role) -> None:
        role.add_to_policy(
            iam.PolicyStatement(
                actions=list(self.actions),
                resources=list(self.resources),
                conditions={operator: dict(keys) for operator, keys in self.conditions.items()},
            )
        )
        wildcards = [f"Action::{one}" for one in self.actions if "*" in one]
        wildcards += [f"Resource::{one}" for one in self.resources if "*" in one]
        for wildcard in wildcards:
            acknowledge(role, f"AwsSolutions-IAM5[{wildcard}]", "The settings of the stage allow it to its tasks.")


def read_statements(setting: str, value: Any) -> tuple[Statement, ...]:
    """The statements in a stage's file. Raises `ValueError`, which names the statement, its key and the fix."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"{setting}: must be a list of tables: write [[{setting}]], but is {value!r}")
    return tuple(_read(f"{setting}[{number}]", one) for number, one in enumerate(value))


def _read(setting: str, table: Mapping[str, Any]) -> Statement:
    for key in table:
        if key not in KEYS:
            raise ValueError(f"{setting}.{key}: is not a key of a statement; use {', '.join(KEYS)}")
    return Statement(
        actions=_texts(f"{setting}.actions", table, ACTION, "an action such as `s3:GetObject`"),
        resources=_texts(f"{setting}.resources", table, RESOURCE, "an ARN or `*`"),
        conditions=_conditions(f"{setting}.conditions", table.get("conditions", {})),
    )


def _texts(setting: str, table: Mapping[str, Any], form: re.Pattern[str], name: str) -> tuple[str, ...]:
    values = table.get(setting.rpartition(".")[2])
    if not isinstance(values, list) or not values:
        raise ValueError(f"{setting}: must be a list with {name}, but is {values!r}")
    for value in values:
        if not isinstance(value, str) or not form.fullmatch(value):
            raise ValueError(f"{setting}: {value!r} is not {name}")
    return tuple(values)


def _conditions(setting: str, conditions: Any) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(conditions, dict) or not all(_are_keys(one) for one in conditions.values()):
        fix = 'write { StringEquals = { "aws:ResourceTag/team" = "data" } }'
        raise ValueError(f"{setting}: must be a table of operators, each with a table of condition keys: {fix}")
    return conditions


def _are_keys(keys: Any) -> bool:
    return isinstance(keys, dict) and all(_is_text_or_texts(one) for one in keys.values())


def _is_text_or_texts(value: Any) -> bool:
    texts: Sequence[Any] = value if isinstance(value, list) else [value]
    return bool(texts) and all(isinstance(one, str) for one in texts)
