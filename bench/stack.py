"""The deployed stack under test, and the request counters of its functions."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from local.stack import Stack
from local.warm_up import warm_up
from punctual.domain.instant import to_epoch_ms
from tests.e2e.conftest import free_port
from tests.e2e.punctual import Punctual

METERED = ("planner", "dispatcher", "worker", "settler", "intake")
"""The functions whose requests are those of executions."""
ALSO_METERED = ("monitor", "admission")
"""They are invoked each minute, too."""


@contextmanager
def deployed() -> Iterator[Punctual]:
    """A separate stack with request counting enabled, removed afterwards."""
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack.at(Path(directory), free_port())
        try:
            punctual = Punctual(stack.up())
            _enable_meters(punctual)
            punctual.stack["ready_at"] = time.monotonic()
            yield punctual
        finally:
            stack.down()


def all_executions(punctual: Punctual, query: str = "") -> list[dict[str, Any]]:
    """All pages of a query of executions."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = punctual.get(f"/executions?{query}&limit=100{cursor}")
        found += page["items"]
        if page["cursor"] is None:
            return found
        cursor = f"&cursor={page['cursor']}"


def metered(punctual: Punctual, since: datetime, until: datetime, functions: tuple[str, ...] = METERED) -> Counter[str]:
    """Count the AWS requests of functions in a period, by operation, with DynamoDB's capacity units."""
    total: Counter[str] = Counter()
    for name in functions:
        for line in _meter_lines(punctual, name, since, until):
            total.update(line)
    return total


def _meter_lines(punctual: Punctual, function: str, since: datetime, until: datetime) -> Iterator[dict[str, Any]]:
    pages = (
        punctual.aws("logs")
        .get_paginator("filter_log_events")
        .paginate(
            logGroupName=punctual.stack["log_groups"][function],
            startTime=to_epoch_ms(since),
            endTime=to_epoch_ms(until),
            filterPattern='"meter"',
        )
    )
    for page in pages:
        for event in page["events"]:
            if event["message"].startswith("{"):
                yield json.loads(event["message"]).get("meter", {})


def _enable_meters(punctual: Punctual) -> None:
    client = punctual.aws("lambda")
    for name in (*METERED, *ALSO_METERED):
        function = punctual.stack["functions"][name]
        variables = client.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
        client.update_function_configuration(
            FunctionName=function, Environment={"Variables": {**variables, "PUNCTUAL_METER": "on"}}
        )
    warm_up(punctual.stack["endpoint_url"], punctual.stack["functions"])  # an update ends the instances
