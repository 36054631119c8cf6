"""What an execution's attempts logged."""

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
MOST_LINES = 1000
MOST_PAGES = 40
"""Of a busy log group; the API has no more time."""
_OURS = {"level", "message", "timestamp", "job_id", "execution_id", "attempt", "service", "location"}


@dataclass(frozen=True)
class CloudWatchLogs:
    log_group: str
    client: Any

    def lines(self, execution: Execution, now: datetime) -> list[dict[str, Any]]:
        """The oldest lines of an execution, in order, each with its instant, level, message and attempt."""
        if execution.attempt == 0:
            return []
        lines = (_line(event) for event in self._events(execution, now))
        ours = (line for line in lines if line is not None and line.pop("execution_id") == execution.execution_id)
        return list(islice(ours, MOST_LINES))

    def _events(self, execution: Execution, now: datetime) -> Iterator[dict[str, Any]]:
        started = [attempt.started_at for attempt in execution.attempts if attempt.started_at]
        since = min([*started, execution.started_at or execution.scheduled_at])
        pages = self.client.get_paginator("filter_log_events").paginate(
            logGroupName=self.log_group,
            startTime=to_epoch_ms(since - MARGIN),
            endTime=to_epoch_ms((execution.ended_at or now) + MARGIN),
            filterPattern=f'"{execution.execution_id}"',
        )
        for page in islice(pages, MOST_PAGES):
            yield from page["events"]


def _line(event: dict[str, Any]) -> dict[str, Any] | None:
    """What the logger wrote; ``None`` for what something else printed."""
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
        "fields": {name: value for name, value in fields.items() if name not in _OURS},
    }
