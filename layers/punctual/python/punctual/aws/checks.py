"""The queue of checks: looks at deadlines, held back until they are due."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from punctual.aws.lanes import BATCH
from punctual.domain.check import Check
from punctual.domain.horizon import LONGEST_DELAY


@dataclass(frozen=True)
class SqsChecks:
    queue_url: str
    sqs: Callable[[], Any]

    def send(self, checks: Iterable[Check], now: datetime) -> None:
        """Raises when any was refused. Sending one again is fine: a look happens once."""
        remaining = iter(checks)
        while batch := list(islice(remaining, BATCH)):
            entries = [
                {"Id": str(n), "MessageBody": check.to_body(), "DelaySeconds": _delay(check, now)}
                for n, check in enumerate(batch)
            ]
            answer = self.sqs().send_message_batch(QueueUrl=self.queue_url, Entries=entries)
            if refused := answer.get("Failed"):
                raise RuntimeError(f"{len(refused)} of {len(batch)} checks were refused: {refused[0].get('Message')}")


def _delay(check: Check, now: datetime) -> int:
    return math.ceil(min(max(check.at - now, timedelta()), LONGEST_DELAY) / timedelta(seconds=1))
