"""The idempotency table: one item per request with an ``Idempotency-Key``, for a day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item, from_json, instant_text, to_json
from punctual.aws.dynamodb.table import Table
from punctual.domain.instant import from_text
from punctual.domain.requests.keyed_request import KeyedRequest

RETENTION = timedelta(days=1)


@dataclass(frozen=True)
class DynamoKeyedRequests:
    table: Table

    def begin(self, request_id: str, body_digest: str, now: datetime) -> KeyedRequest | None:
        item = {
            "id": request_id,
            "body": body_digest,
            "at": instant_text(now),
            "expires_at": int((now + RETENTION).timestamp()),
        }
        existing = self.table.put_new(item, key="id")
        if existing is None or self._replace_expired(existing, item, now):
            return KeyedRequest(request_id=request_id, at=now)
        if existing["body"] != body_digest:
            return None
        submitted = from_json(existing.get("submitted"))
        return KeyedRequest(
            request_id=request_id,
            at=from_text(existing["at"]),
            is_repeated=True,
            submitted=None if submitted is None else tuple((job_id, created) for job_id, created in submitted),
        )

    def _replace_expired(self, existing: Item, item: Item, now: datetime) -> bool:
        """Replace a record that has expired; DynamoDB deletes it up to days later."""
        if existing["expires_at"] > now.timestamp():
            return False
        return self.table.put_if(item, "#expires_at = :expired", {"expired": existing["expires_at"]})

    def body_digests(self, request_ids: Iterable[str], now: datetime) -> dict[str, str]:
        items = self.table.get_many(({"id": one} for one in request_ids), consistent=True)
        return {item["id"]: item["body"] for item in items if item["expires_at"] > now.timestamp()}

    def complete(self, request_id: str, submitted: Sequence[tuple[str, bool]]) -> None:
        self.table.update(
            {"id": request_id}, set={"submitted": to_json(submitted)}, condition="attribute_exists(#id)", values={}
        )

    def remove(self, request_id: str) -> None:
        self.table.delete_if({"id": request_id}, "attribute_exists(#id)", {})


if TYPE_CHECKING:
    from punctual.ports.idempotency import KeyedRequests

    _keyed_requests: type[KeyedRequests] = DynamoKeyedRequests
