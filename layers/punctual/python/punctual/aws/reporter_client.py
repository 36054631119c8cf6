"""The reporter's desk, as a container sees it: the one function that it may call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from punctual.domain.long_lane.assignment import Assignment

RESTS = (1, 2, 4, 8, 15, 30, 30, 30, 30)
"""Seconds between tries of what must get through: two and a half minutes in all."""


class Deaf(RuntimeError):
    """The reporter could not be reached, or failed."""


@dataclass(frozen=True)
class Desk:
    function: str
    assignment: Assignment
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def tell(self, what: str, **more: Any) -> dict[str, Any]:
        """Its answer. Raises ``Deaf``."""
        said = {"do": what, "assignment": asdict(self.assignment), **more}
        try:
            text = json.dumps(said, ensure_ascii=False, allow_nan=False).encode()
            answer = self.client.invoke(FunctionName=self.function, Payload=text)
            reply: dict[str, Any] = json.loads(answer["Payload"].read() or "null")
        except (ClientError, BotoCoreError, ValueError) as error:
            raise Deaf(str(error)) from error
        if "FunctionError" in answer or not isinstance(reply, Mapping):
            raise Deaf(f"{what}: {reply}")
        return reply

    def insist(self, what: str, **more: Any) -> dict[str, Any]:
        """``tell``, again and again for a while."""
        for rest in RESTS:
            try:
                return self.tell(what, **more)
            except Deaf:
                self.sleep(rest)
        return self.tell(what, **more)
