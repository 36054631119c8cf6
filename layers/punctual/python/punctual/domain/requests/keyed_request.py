"""A request with an ``Idempotency-Key``: repeated, it has one effect.

The ids of stored records are derived from the key and the instant of the first try. A repeat finds the stored records
and adds the missing ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from punctual.domain.errors import Invalid
from punctual.domain.identity import digest

MAX_IDEMPOTENCY_KEY_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class KeyedRequest:
    request_id: str
    """Identifies the caller, the route and the key."""
    at: datetime
    """When the first try was received. A repeated request is handled as of this instant."""
    is_repeated: bool = False
    submitted: tuple[tuple[str, bool], ...] | None = None
    """For a submission that was answered before: each job id, and whether the job was new."""

    def seed(self, number: int = 0) -> str:
        """The text from which the id of the ``number``-th record that the request stores is derived."""
        return f"{self.request_id}#{number}"


def request_id_of(caller: str, route: str, key: str) -> str:
    """Raises ``Invalid`` if the key is empty or too long."""
    if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY_LENGTH:
        message = f"must have between 1 and {MAX_IDEMPOTENCY_KEY_LENGTH} characters: use a UUID, for example"
        raise Invalid("Idempotency-Key", message)
    return digest(f"{caller}\n{route}\n{key}")
