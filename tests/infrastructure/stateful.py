"""What a stack keeps: the resources whose replacement loses data, with the properties that AWS cannot change.

``stateful.json`` is the state of the last release. ``make released`` writes it anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RELEASED = Path(__file__).with_name("stateful.json")
UNCHANGEABLE = {
    "AWS::DynamoDB::GlobalTable": ("TableName", "KeySchema"),
    "AWS::S3::Bucket": ("BucketName",),
    "AWS::Cognito::UserPool": ("UsernameAttributes", "AliasAttributes", "UsernameConfiguration"),
    "AWS::SQS::Queue": ("QueueName", "FifoQueue"),
    "AWS::KMS::Key": (),
}
"""By type of resource: the properties whose change replaces the resource."""

State = dict[str, dict[str, Any]]


def stateful(template: dict[str, Any]) -> State:
    """The stateful resources of a template, by logical id."""
    return {
        name: {
            "type": resource["Type"],
            "unchangeable": {key: value for key in UNCHANGEABLE[resource["Type"]] if (value := _get(resource, key))},
            "indexes": {index["IndexName"]: index for index in _get(resource, "GlobalSecondaryIndexes") or []},
        }
        for name, resource in sorted(template["Resources"].items())
        if resource["Type"] in UNCHANGEABLE
    }


def problems(released: State, now: State) -> list[str]:
    """Why CloudFormation cannot update a stack of the released version to this one without loss."""
    found = []
    for name, before in released.items():
        if name not in now:
            found.append(f"{name} is gone: an upgrade would start with an empty {before['type']}")
            continue
        after = now[name]
        if (after["type"], after["unchangeable"]) != (before["type"], before["unchangeable"]):
            found.append(f"{name} would be replaced by an empty {after['type']}")
        old, new = before["indexes"], after["indexes"]
        changed = [f"change {one}" for one in old.keys() & new.keys() if old[one] != new[one]]
        steps = [*(f"remove {one}" for one in old.keys() - new), *(f"add {one}" for one in new.keys() - old)]
        if changed or len(steps) > 1:
            found.append(f"{name}: one index can be added or removed per version: {', '.join(sorted(changed + steps))}")
    return found


def _get(resource: dict[str, Any], key: str) -> Any:
    return resource.get("Properties", {}).get(key)


def main() -> None:
    from tempfile import TemporaryDirectory

    from tests.infrastructure.conftest import new_app
    from tests.infrastructure.deployed import Deployed

    with TemporaryDirectory() as folder:
        state = stateful(Deployed.of(new_app("prod", outdir=folder)).template)
    RELEASED.write_text(json.dumps(state, indent=1) + "\n")


if __name__ == "__main__":
    main()
