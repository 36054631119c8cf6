"""The message that requests a check of an execution's deadline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from punctual.domain.errors import Unreadable
from punctual.domain.instant import from_text, to_text


@dataclass(frozen=True, kw_only=True)
class Check:
    """A request to check one execution's deadline at the instant ``at``.

    A message whose ``at`` differs from the execution's ``check_at`` is stale: that check was done already.
    """

    job_id: str
    execution_id: str
    at: datetime

    def to_body(self) -> str:
        """Serialise for SQS; ``read_check`` is the inverse."""
        return json.dumps({"job_id": self.job_id, "execution_id": self.execution_id, "at": to_text(self.at)})


def read_check(body: str) -> Check:
    """Parse a message body. Raises ``Unreadable``."""
    try:
        fields = json.loads(body)
        return Check(job_id=str(fields["job_id"]), execution_id=str(fields["execution_id"]), at=from_text(fields["at"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"not a deadline check: {type(error).__name__}: {error}") from error
