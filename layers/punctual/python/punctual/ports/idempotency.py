"""Port to the records of requests with an ``Idempotency-Key``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from punctual.domain.requests.keyed_request import KeyedRequest


class KeyedRequests(Protocol):
    def begin(self, request_id: str, body_digest: str, now: datetime) -> KeyedRequest | None:
        """Record a request, or return the record of an earlier try. ``None`` if that had another body."""

    def body_digests(self, request_ids: Iterable[str], now: datetime) -> dict[str, str]:
        """Return the digests of the bodies of known requests, by id."""

    def complete(self, request_id: str, submitted: Sequence[tuple[str, bool]]) -> None:
        """Record the jobs that a submission answers with."""

    def remove(self, request_id: str) -> None:
        """Remove the record of a request that was rejected."""
