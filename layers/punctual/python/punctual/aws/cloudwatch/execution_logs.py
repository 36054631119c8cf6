"""The log lines of an execution, from CloudWatch Logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from punctual.domain.executions.execution import Execution
from punctual.domain.instant import from_epoch_ms, to_epoch_ms, to_text

MARGIN = timedelta(minutes=1)
MAX_LINES = 1000
MAX_PAGES = 40
"""Pages read of a busy log group: more would exceed the API's time limit."""
_STANDARD_FIELDS = {"level", "message", "timestamp", "job_id", "execution_id", "attempt", "service", "location"}


@dataclass(frozen=True)
class CloudWatchLogs:
    log_group: str
    client: Any

    def lines(self, execution: Execution, now: datetime) -> list[dict[str, Any]]:
        """Read the oldest ``MAX_LINES`` lines of an execution, in order, with instant, level, message and attempt."""
        if execution.attempt == 0:
            return []
        lines = (_line(event) for event in self._events(execution, now))
        own = (line for line in lines if line is not None and line.pop("execution_id") == execution.execution_id)
        return list(islice(own, MAX_LINES))

    def _events(self, execution: Execution, now: datetime) -> Iterator[dict[str, Any]]:
        started = [attempt.started_at for attempt in execution.attempts if attempt.started_at]
        since = min([*started, execution.started_at or execution.scheduled_at])
        pages = self.client.get_paginator("filter_log_events").paginate(
            logGroupName=self.log_group,
            startTime=to_epoch_ms(since - MARGIN),
            endTime=to_epoch_ms((execution.ended_at or now) + MARGIN),
            filterPattern=f'"{execution.execution_id}"',
        )
        for page in islice(pages, MAX_PAGES):
            yield from page["events"]


def _line(event: dict[str, Any]) -> dict[str, Any] | None:
    """Parse a line of the structured logger; ``None`` for any other output."""
    try:
        fields = json.loads(event["message"])
    except ValueError:
        return None
    if not isinstance(fields, dict):
        return None
    return {
        "execution_id": fields.get("execution_id"),
        "at": to_text(from_epoch_ms(event["timestamp"])),
        "level": fields.get("level"),
        "attempt": fields.get("attempt"),
        "message": fields.get("message"),
        "fields": {name: value for name, value in fields.items() if name not in _STANDARD_FIELDS},
    }
