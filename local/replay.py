"""Telling the functions again what they may have missed when the emulator stopped.

The emulator does not save its streams: a change that nobody had read yet is never read. So after a restart the
items that may have changed last are handed to the readers once more, as stream records. Those who heard of
them already do nothing: every reader of a stream has to bear a record that comes twice.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from local.aws import client
from local.places import REGION

Item = dict[str, Any]
# How long before the stop a reader can have fallen behind.
BACKLOG = timedelta(hours=1)
BATCH = 100
WAITING = ("queued", "retrying")


class Replay:
    """Replays what changed shortly before `stopped` on the stack that `.local/stack.json` describes."""

    def __init__(self, stack: dict[str, Any], stopped: datetime) -> None:
        self._stack = stack
        self._since = (stopped - BACKLOG).isoformat()
        self._dynamodb: Any = client("dynamodb", stack["endpoint_url"])
        self._lambda: Any = client("lambda", stack["endpoint_url"])

    def run(self) -> None:
        jobs = [job for job in self._scan("jobs") if self._recent(job, "updated_at")]
        executions = list(self._scan("executions"))
        waiting = [execution for execution in executions if execution["status"]["S"] in WAITING]
        ended = [execution for execution in executions if self._recent(execution, "ended_at")]
        self._tell("planner", "jobs", jobs)
        self._tell("planner", "executions", waiting)
        self._tell("settler", "executions", ended)

    def _recent(self, item: Item, attribute: str) -> bool:
        return attribute in item and str(item[attribute]["S"]) >= self._since

    def _scan(self, table: str) -> Iterator[Item]:
        pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._stack["tables"][table])
        for page in pages:
            yield from page["Items"]

    def _tell(self, function: str, table: str, items: list[Item]) -> None:
        source = f"arn:aws:dynamodb:{REGION}::table/{self._stack['tables'][table]}/stream/replay"
        for start in range(0, len(items), BATCH):
            records = [
                {
                    "eventName": "INSERT",
                    "eventSource": "aws:dynamodb",
                    "eventSourceARN": source,
                    "dynamodb": {"NewImage": item},
                }
                for item in items[start : start + BATCH]
            ]
            self._lambda.invoke(
                FunctionName=self._stack["functions"][function], Payload=json.dumps({"Records": records})
            )
