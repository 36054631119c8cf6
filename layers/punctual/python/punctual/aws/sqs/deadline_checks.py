"""The queue of checks: looks at deadlines, held back until they are due."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from punctual.aws.sqs.sending import seconds_until, send_all
from punctual.domain.forecasts.deadline_check import Check


@dataclass(frozen=True)
class SqsChecks:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Raises when any was refused. Sending one again is fine: a look happens once."""
        messages = ({"MessageBody": one.to_body(), "DelaySeconds": seconds_until(one.at, now)} for one in checks)
        send_all(self.sqs(), self.queue_url, messages)
