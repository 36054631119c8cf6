"""DynamoDB streams as Lambda's event source mappings deliver them, and a check for non-empty queues.

Both read moto's memory, because API calls to moto would dominate the run time of the tests.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from punctual.domain.triggers import filters

ACCOUNT, REGION = "123456789012", "us-east-1"
STREAM_CONSUMERS = {"jobs": ["planner"], "executions": ["planner", "settler"], "parts": ["admission"]}
FILTERS = {(table, one): filters(one, table) for table, some in STREAM_CONSUMERS.items() for one in some}


def table_in_memory(name: str) -> Any:
    """Moto's table object. Do not cache it: moto replaces it by a copy when a transaction is cancelled."""
    return dynamodb_backends[ACCOUNT][REGION].tables[name]


def has_messages(queue: str) -> bool:
    """Whether the queue has a visible message."""
    return bool(sqs_backends[ACCOUNT][REGION].queues[queue].messages)


class EventSources:
    def __init__(self) -> None:
        self._read: dict[tuple[str, str], int] = {}

    def new_records(self, table: str, consumer: str) -> list[dict[str, Any]]:
        """New records of a table's stream for a consumer, after its event filter. Each record is returned once."""
        memory = table_in_memory(table)
        records = memory.stream_shard.items
        start = self._read.get((table, consumer), 0)
        self._read[table, consumer] = len(records)
        arn = f"{memory.table_arn}/stream/{memory.latest_stream_label}"
        passed = [one for one in (record.to_json() for record in records[start:]) if _passes(one, table, consumer)]
        return [{**json.loads(json.dumps(record, default=_to_event_value)), "eventSourceARN": arn} for record in passed]


def _to_event_value(value: Any) -> Any:
    """A Lambda event has an instant as a number of seconds."""
    return value.timestamp() if isinstance(value, datetime) else str(value)


def _passes(record: dict[str, Any], table: str, consumer: str) -> bool:
    """Apply the event source mapping's filter, as the stack deploys it."""
    return any(_matches(pattern, record) for pattern in FILTERS[table, consumer])


def _matches(pattern: dict[str, Any], value: dict[str, Any]) -> bool:
    for name, wanted in pattern.items():
        have = value.get(name)
        if isinstance(wanted, list):
            if have not in wanted and not (have is not None and {"exists": True} in wanted):
                return False
        elif not isinstance(have, dict) or not _matches(wanted, have):
            return False
    return True
