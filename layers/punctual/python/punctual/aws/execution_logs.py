"""What an execution's attempts logged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from punctual.domain.execution import Execution
from punctual.domain.instant import from_epoch_ms, to_epoch_ms, to_text

MARGIN = timedelta(minutes=1)
MOST_LINES = 1000
_OURS = {"level", "message", "timestamp", "job_id", "execution_id", "attempt", "service", "location"}


@dataclass(frozen=True)
class CloudWatchLogs:
    log_group: str
    client: Any

    def lines(self, execution: Execution, now: datetime) -> list[dict[str, Any]]:
        """The oldest lines of an execution, in order, each with its instant, level, message and attempt."""
        if execution.attempt == 0:
            return []
        lines = []
        for event in self._events(execution, now):
            lines.append(_line(event))
            if len(lines) == MOST_LINES:
                break
        return lines

    def _events(self, execution: Execution, now: datetime) -> Iterator[dict[str, Any]]:
        started = [attempt.started_at for attempt in execution.attempts if attempt.started_at]
        since = min([*started, execution.started_at or execution.scheduled_at])
        pages = self.client.get_paginator("filter_log_events").paginate(
            logGroupName=self.log_group,
            startTime=to_epoch_ms(since - MARGIN),
            endTime=to_epoch_ms((execution.ended_at or now) + MARGIN),
            filterPattern=f'{{ $.execution_id = "{execution.execution_id}" }}',
        )
        for page in pages:
            yield from page["events"]


def _line(event: dict[str, Any]) -> dict[str, Any]:
    fields = json.loads(event["message"])
    return {
        "at": to_text(from_epoch_ms(event["timestamp"])),
        "level": fields.get("level"),
        "attempt": fields.get("attempt"),
        "message": fields.get("message"),
        "fields": {name: value for name, value in fields.items() if name not in _OURS},
    }
