"""A check: the message that asks to look at an execution's deadline at an instant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text


@dataclass(frozen=True, kw_only=True)
class Check:
    """Points at an execution. ``at`` is the look that it was sent for: once that has happened it means nothing."""

    job_id: str
    execution_id: str
    at: datetime

    def to_body(self) -> str:
        """The message's text."""
        return json.dumps({"job_id": self.job_id, "execution_id": self.execution_id, "at": to_text(self.at)})


def read_check(body: str) -> Check:
    """The check in a message's text. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        return Check(job_id=str(fields["job_id"]), execution_id=str(fields["execution_id"]), at=from_text(fields["at"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a check: {type(error).__name__}: {error}") from error
