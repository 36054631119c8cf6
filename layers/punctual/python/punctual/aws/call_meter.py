"""Counts what a process asks of AWS, for those who want to know what an execution costs.

Off unless the environment has ``PUNCTUAL_METER``. Then each invocation of a function logs one line with the number
of requests by operation and the capacity units that DynamoDB said it used, in all and by table.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

ENABLED = bool(os.environ.get("PUNCTUAL_METER"))

_counts: dict[str, float] = defaultdict(float)


def watch(client: Any) -> None:
    """Count every call of ``client`` at the botocore layer."""
    if not ENABLED:
        return
    service = client.meta.service_model.service_name
    client.meta.events.register(f"before-send.{service}.*", _count_request)
    if service == "dynamodb":
        client.meta.events.register("provide-client-params.dynamodb.*", _ask_for_capacity)
        client.meta.events.register("after-call.dynamodb.*", _count_capacity)


def take() -> dict[str, float]:
    """What was counted since the last call."""
    taken = dict(_counts)
    _counts.clear()
    return taken


def _count_request(event_name: str, **_: Any) -> None:
    _counts[event_name.removeprefix("before-send.")] += 1


def _ask_for_capacity(params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
    if "ReturnConsumedCapacity" in model.input_shape.members:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}
    return params


def _count_capacity(model: Any, parsed: dict[str, Any], **_: Any) -> None:
    if parsed.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
        _counts["write_units"] += 1  # paid for like one that succeeds, at least once, though not reported
    consumed = parsed.get("ConsumedCapacity") or []
    kind = "write_units" if _WRITES.intersection({model.name}) else "read_units"
    for one in consumed if isinstance(consumed, list) else [consumed]:
        _counts[kind] += one.get("CapacityUnits", 0)
        _counts[f"{kind}:{one.get('TableName')}"] += one.get("CapacityUnits", 0)


_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
