"""The usage of the deployed stack in a period: counted on the emulator, and the rest from a model of AWS.

The model states what the emulator does not show:

* An invocation takes ``INVOCATION_SECONDS``, and ``REQUEST_SECONDS`` for each of its requests, with ``MEMORY_GB``.
* A worker waits for a fraction of a second that is below ``MAX_WAIT`` or not at all; fractions are evenly distributed.
* Lambda's pollers make a receive and a delete request per message, and each ``LONG_POLL_SECONDS`` an empty receive.
* CloudWatch Logs adds ``EVENT_BYTES`` to each line, and DynamoDB ``ITEM_BYTES`` to each item and index entry.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from punctual.aws.sqs.work_queues import MAX_WAIT
from punctual.domain.forecasts.bill import DAYS_PER_MONTH, GIGABYTE, SECONDS_PER_MONTH, Usage
from punctual.domain.instant import to_epoch_ms
from tests.e2e.punctual import Punctual

INVOCATION_SECONDS, REQUEST_SECONDS = 0.010, 0.012
POLLERS, LONG_POLL_SECONDS = 5, 20
EVENT_BYTES, ITEM_BYTES = 26, 100
WAITING_SECONDS = (MAX_WAIT / timedelta(seconds=1)) ** 2 / 2
"""On average: an order waits with the probability ``MAX_WAIT`` per second, and then half of that."""
MEMORY_GB = 0.5
"""With half the memory, a function has half the processor and takes about twice as long, so it costs the same."""
PER_MESSAGE = 2
"""Requests of Lambda's poller."""


@dataclass
class Counted:
    """What functions did in a period."""

    requests: Counter[str] = field(default_factory=Counter)
    """By operation, and the capacity units of DynamoDB."""
    invocations: int = 0
    gb_seconds: float = 0
    log_bytes: int = 0

    def usage(self, log_days: int) -> Usage:
        sqs = sum(count for name, count in self.requests.items() if name.startswith("sqs."))
        return Usage(
            write_units=self.requests["write_units"],
            read_units=self.requests["read_units"],
            sqs_requests=sqs,
            lambda_requests=self.invocations,
            lambda_gb_seconds=self.gb_seconds,
            log_gb=self.log_bytes / GIGABYTE,
            log_gb_months=self.log_bytes / GIGABYTE * log_days / DAYS_PER_MONTH,
        )


def counted(punctual: Punctual, since: datetime, until: datetime, functions: tuple[str, ...]) -> Counted:
    total = Counted()
    for name in functions:
        for message in _messages(punctual, name, since, until):
            add_message(total, message)
    return total


def empty_receives(sources: int) -> float:
    """The receive requests per month of queues without messages."""
    return sources * POLLERS / LONG_POLL_SECONDS * SECONDS_PER_MONTH


def stored_gb_months(items: list[dict[str, Any]], days: int) -> float:
    """The storage of DynamoDB items, in its JSON, that are kept for ``days``."""
    return sum(ITEM_BYTES + _size(item) for item in items) / GIGABYTE * days / DAYS_PER_MONTH


def _messages(punctual: Punctual, function: str, since: datetime, until: datetime) -> Iterator[str]:
    group = punctual.stack["log_groups"][function]
    period = {"startTime": to_epoch_ms(since), "endTime": to_epoch_ms(until)}
    pages = punctual.aws("logs").get_paginator("filter_log_events").paginate(logGroupName=group, **period)
    for page in pages:
        yield from (event["message"].rstrip() for event in page["events"])


def add_message(total: Counted, message: str) -> None:
    """Add what a line of a function's log says, and its size."""
    line = _read(message)
    if "meter" in line:
        requests = line["meter"]
        total.requests.update(requests)
        total.invocations += 1
        calls = sum(count for name, count in requests.items() if "." in name)
        total.gb_seconds += MEMORY_GB * (INVOCATION_SECONDS + calls * REQUEST_SECONDS)
    elif line and not _has_zeros_only(line):  # other lines are the emulator's
        total.log_bytes += len(message.encode()) + EVENT_BYTES


def _has_zeros_only(line: Mapping[str, Any]) -> bool:
    """Whether it has metrics without a value other than zero, which are not published on AWS."""
    directives = line["_aws"]["CloudWatchMetrics"] if "_aws" in line else []
    return bool(directives) and not any(line[metric["Name"]] for one in directives for metric in one["Metrics"])


def _read(message: str) -> dict[str, Any]:
    found = json.loads(message) if message.startswith("{") else {}
    return found if isinstance(found, dict) else {}


def _size(item: Mapping[str, Any]) -> int:
    return sum(len(name) + len(str(value)) for name, typed in item.items() for value in typed.values())
