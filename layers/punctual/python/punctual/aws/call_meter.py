"""Count the AWS requests of a process, to measure the cost of an execution.

Disabled unless the environment variable ``PUNCTUAL_METER`` is set. When enabled, each Lambda invocation logs one line
with the number of requests by operation and the capacity units that DynamoDB reported, in total and by table.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

ENABLED = bool(os.environ.get("PUNCTUAL_METER"))

_counts: dict[str, float] = defaultdict(float)


def instrument(client: Any) -> None:
    """Count every request of ``client`` with botocore event hooks. Does nothing while the meter is disabled."""
    if not ENABLED:
        return
    service = client.meta.service_model.service_name
    client.meta.events.register(f"before-send.{service}.*", _count_request)
    if service == "dynamodb":
        client.meta.events.register("provide-client-params.dynamodb.*", _request_capacity)
        client.meta.events.register("after-call.dynamodb.*", _count_capacity)


def drain() -> dict[str, float]:
    """Return the counts since the last call, and reset them."""
    counts = dict(_counts)
    _counts.clear()
    return counts


def _count_request(event_name: str, **_: Any) -> None:
    _counts[event_name.removeprefix("before-send.")] += 1


def _request_capacity(params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
    if "ReturnConsumedCapacity" in model.input_shape.members:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}
    return params


def _count_capacity(model: Any, parsed: dict[str, Any], **_: Any) -> None:
    if parsed.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
        _counts["write_units"] += 1  # a failed condition consumes at least one unit, which DynamoDB does not report
    consumed = parsed.get("ConsumedCapacity") or []
    kind = "write_units" if _WRITES.intersection({model.name}) else "read_units"
    for entry in consumed if isinstance(consumed, list) else [consumed]:
        _counts[kind] += entry.get("CapacityUnits", 0)
        _counts[f"{kind}:{entry.get('TableName')}"] += entry.get("CapacityUnits", 0)


_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
