"""Follows the logs of functions and containers."""

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from local.aws import client

EVERY_SECONDS = 1.0
LOOK_BACK_SECONDS = 60
# Log lines can arrive out of order: each poll rereads this much of the past.
OVERLAP_SECONDS = 5
# Lines that Lambda and the emulator write around each invocation, and fields that every line repeats.
NOISE = ("START RequestId", "END RequestId", "REPORT RequestId", "INIT_START")
REPEATED = {
    "level",
    "message",
    "timestamp",
    "location",
    "function_name",
    "function_arn",
    "function_memory_size",
    "function_request_id",
    "cold_start",
    "sampling_rate",
    "xray_trace_id",
}
COLOURS = {"ERROR": "red", "CRITICAL": "red", "WARNING": "yellow"}


class LogEvent(NamedTuple):
    timestamp: int
    function: str
    message: str
    stream: str


def follow(stack: dict[str, Any]) -> None:
    """Print the lines of all functions and containers, oldest first, until interrupted."""
    logs = client("logs", stack["endpoint_url"])
    console = Console(highlight=False)
    since = int((time.time() - LOOK_BACK_SECONDS) * 1000)
    with suppress(KeyboardInterrupt):
        _follow(logs, console, stack["log_groups"], since)


def _follow(logs: Any, console: Console, log_groups: dict[str, str], since: int) -> None:
    shown: set[LogEvent] = set()
    while True:
        events = {event for name, group in log_groups.items() for event in _events(logs, name, group, since)}
        for event in sorted(events - shown):
            _print(console, event)
        shown = events
        since = max([since, *(event.timestamp - OVERLAP_SECONDS * 1000 for event in events)])
        time.sleep(EVERY_SECONDS)


def _events(logs: Any, name: str, group: str, since: int) -> list[LogEvent]:
    pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
    return [
        LogEvent(event["timestamp"], name, event["message"].rstrip(), event["logStreamName"])
        for page in pages
        for event in page["events"]
    ]


def _print(console: Console, event: LogEvent) -> None:
    if not event.message or event.message.startswith(NOISE):
        return
    level, text = _readable(event.message)
    at = datetime.fromtimestamp(event.timestamp / 1000, tz=UTC)
    line = Text.assemble((f"{at:%H:%M:%S.%f}"[:-3], "dim"), " ", (f"{event.function:<10}", "cyan"), " ")
    console.print(line.append(text, style=COLOURS.get(level, "")), soft_wrap=True)


def _readable(message: str) -> tuple[str, str]:
    """Level and text of a line: a JSON line becomes its message and its specific fields."""
    try:
        entry = json.loads(message)
    except ValueError:
        return "", message
    if not isinstance(entry, dict) or "_aws" in entry:
        return "", message
    details = " ".join(f"{key}={value}" for key, value in entry.items() if key not in REPEATED)
    return str(entry.get("level", "")), f"{entry.get('message', '')} {details}".strip()
