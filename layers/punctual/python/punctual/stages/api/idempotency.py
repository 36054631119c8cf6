"""Idempotency keys: recognize a repeated request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from punctual.domain.errors import Invalid, Rejected
from punctual.domain.identity import digest
from punctual.domain.instant import in_milliseconds
from punctual.domain.requests.keyed_request import KeyedRequest, request_id_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.idempotency import KeyedRequests

T = TypeVar("T")


@dataclass(frozen=True)
class Idempotency:
    requests: KeyedRequests
    clock: Clock

    def run(self, act: Callable[[KeyedRequest], T], *, key: str, caller: str, route: str, body: str) -> T:
        """Call ``act`` with the request. It has to store only records whose ids are derived from it.

        A key that was used with another body within a day is rejected with ``Invalid``. A rejected request leaves no
        record: it may be corrected and sent again with the same key.
        """
        request = self.requests.begin(request_id_of(caller, route, key), digest(body), in_milliseconds(self.clock()))
        if request is None:
            raise Invalid("Idempotency-Key", "was already used with a different body: use a new key")
        try:
            return act(request)
        except Rejected:
            if not request.is_repeated:
                self.requests.remove(request.request_id)
            raise
