"""The streams of the tables, as Lambda's event sources hand them to functions; and which queues have anything.

Both are read from moto's memory: to ask it each time takes far longer than all else.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import sqs_backends

from cdk.components.admission import PART_MOVED
from cdk.components.planner import (
    APPEARED_CHANGED_OR_DELETED,
    ASKED_TO_STOP,
    BECAME_QUEUED,
    CANCELLED_AND_LEADS,
    LEFT_OUT_AND_LEADS,
)
from cdk.components.settler import ENDED_WITH_AFTERMATH, LONG_ASKED_TO_STOP

ACCOUNT, REGION = "123456789012", "us-east-1"
STREAM_CONSUMERS = {"jobs": ["planner"], "executions": ["planner", "settler"], "parts": ["admission"]}
FILTERS = {
    ("jobs", "planner"): [APPEARED_CHANGED_OR_DELETED],
    ("executions", "planner"): [BECAME_QUEUED, LEFT_OUT_AND_LEADS, CANCELLED_AND_LEADS, ASKED_TO_STOP],
    ("executions", "settler"): [ENDED_WITH_AFTERMATH, LONG_ASKED_TO_STOP],
    ("parts", "admission"): [PART_MOVED],
}


def table_in_memory(name: str) -> Any:
    """As it is now: moto puts a copy in its place when a transaction is cancelled."""
    return dynamodb_backends[ACCOUNT][REGION].tables[name]


def has_messages(queue: str) -> bool:
    """Whether any of them is visible."""
    return bool(sqs_backends[ACCOUNT][REGION].queues[queue].messages)


class EventSources:
    def __init__(self) -> None:
        self._read: dict[tuple[str, str], int] = {}

    def new_records(self, table: str, consumer: str) -> list[dict[str, Any]]:
        """The records of a table's stream that a consumer has not had, as its filter lets them through."""
        memory = table_in_memory(table)
        records = memory.stream_shard.items
        start = self._read.get((table, consumer), 0)
        self._read[table, consumer] = len(records)
        arn = f"{memory.table_arn}/stream/{memory.latest_stream_label}"
        passed = [one for one in (record.to_json() for record in records[start:]) if _passes(one, table, consumer)]
        return [
            {**json.loads(json.dumps(record, default=_as_lambda_has_it)), "eventSourceARN": arn} for record in passed
        ]


def _as_lambda_has_it(value: Any) -> Any:
    """In an event an instant is a number of seconds."""
    return value.timestamp() if isinstance(value, datetime) else str(value)


def _passes(record: dict[str, Any], table: str, consumer: str) -> bool:
    """The event source's own filter, as the stack deploys it."""
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
