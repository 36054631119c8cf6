"""Client of the reporter function: the only AWS API that a container may call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.domain.long_lane.assignment import Assignment

RETRY_DELAYS = (1, 2, 4, 8, 15, 30, 30, 30, 30)
"""Seconds between the tries of ``call_with_retries``: two and a half minutes in all."""


class ReporterUnreachable(RuntimeError):
    """The reporter could not be invoked, raised an error, or sent an unreadable reply."""


@dataclass(frozen=True)
class ReporterClient:
    """Invokes the reporter for one attempt of one part."""

    function: str
    assignment: Assignment
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def call(self, action: str, **fields: Any) -> dict[str, Any]:
        """Invoke the reporter once and return its reply. Raises ``ReporterUnreachable``."""
        request = {"do": action, "assignment": asdict(self.assignment), **fields}
        try:
            text = json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
            answer = self.client.invoke(FunctionName=self.function, Payload=text)
            reply: dict[str, Any] = json.loads(answer["Payload"].read() or "null")
        except (ClientError, BotoCoreError, ValueError) as error:
            raise ReporterUnreachable(str(error)) from error
        if "FunctionError" in answer or not isinstance(reply, Mapping):
            raise ReporterUnreachable(f"{action}: {reply}")
        return reply

    def call_with_retries(self, action: str, **fields: Any) -> dict[str, Any]:
        """Invoke the reporter, with backoff. Raises the ``ReporterUnreachable`` of the last try.

        Blocks for up to two and a half minutes, plus the time of the calls. The action has to be idempotent.
        """
        for delay in RETRY_DELAYS:
            try:
                return self.call(action, **fields)
            except ReporterUnreachable:
                self.sleep(delay)
        return self.call(action, **fields)
