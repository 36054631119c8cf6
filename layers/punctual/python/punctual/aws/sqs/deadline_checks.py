"""The queue of deadline checks, each delayed until it is due."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from punctual.aws.sqs.sending import seconds_until, send_all
from punctual.domain.forecasts.deadline_check import Check


@dataclass(frozen=True)
class SqsChecks:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Raises if SQS rejects any message. Sending a check twice is harmless: the monitor performs it once."""
        messages = ({"MessageBody": check.to_body(), "DelaySeconds": seconds_until(check.at, now)} for check in checks)
        send_all(self.sqs(), self.queue_url, messages)


if TYPE_CHECKING:
    from punctual.ports.monitoring import Checks

    _checks: type[Checks] = SqsChecks
