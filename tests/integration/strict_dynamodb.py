"""Validation that DynamoDB does before it evaluates a condition.

moto evaluates the condition first, so a failed condition hides an invalid update expression.
"""

from __future__ import annotations

import re
from typing import Any

from botocore.exceptions import ClientError

TARGETS = {
    "SET": re.compile(r"(#?\w+)\s*="),
    "REMOVE": re.compile(r"(#?\w+)"),
    "ADD": re.compile(r"(#?\w+)\s+:"),
    "DELETE": re.compile(r"(#?\w+)\s+:"),
}


def refuse_overlapping_paths(params: dict[str, Any], **_: Any) -> None:
    """Raise ValidationException if an update names one attribute twice, also under two placeholder names."""
    updates = [params, *(one["Update"] for one in params.get("TransactItems", ()) if "Update" in one)]
    for update in updates:
        targets = changed_by(update.get("UpdateExpression", ""), update.get("ExpressionAttributeNames", {}))
        if len(targets) > len(set(targets)):
            error = {"Code": "ValidationException", "Message": f"Two document paths overlap: {sorted(targets)}"}
            raise ClientError({"Error": error}, "UpdateItem")


def changed_by(expression: str, names: dict[str, str]) -> list[str]:
    """The attributes that an update expression changes, with duplicates."""
    _, *parts = re.split(r"\b(SET|REMOVE|ADD|DELETE)\b", expression)
    found = [
        name for word, clause in zip(parts[::2], parts[1::2], strict=True) for name in TARGETS[word].findall(clause)
    ]
    return [names.get(name, name) for name in found]
