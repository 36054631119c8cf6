"""Pages of lists: a cursor is a position in the order of ids, so it stays valid when records are added or removed.

A page reads a bounded number of records: with a selective filter it may be short or empty and still have a cursor for
the next page.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

MAX_SCANNED = 1000
"""Records that one page reads at most, matching or not."""
POSITION = re.compile(r"[0-9][0-9A-Za-z_-]{1,200}")
MAX_PAGE_BYTES = 4_000_000
"""Bytes of parameters and results per page: the response of a Lambda function is limited to 6 MB."""

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    cursor: str | None
    """Where the next page starts; ``None`` on the last page."""


def page_of(candidates: Iterator[tuple[str, T | None]], limit: int, size_of: Callable[[T], int]) -> Page[T]:
    """Collect the next page. A candidate is a position with its record, or with ``None`` if that does not match."""
    items: list[T] = []
    size = 0
    for scanned, (position, item) in enumerate(candidates, start=1):
        if item is not None:
            items.append(item)
            size += size_of(item)
        if len(items) == limit or scanned == MAX_SCANNED or size > MAX_PAGE_BYTES:
            return Page(items, encode_cursor(position))
    return Page(items, None)


def response_size(item: Job | Execution) -> int:
    """Estimate how many bytes of the response the item takes."""
    size = len(json.dumps(item.parameters))
    if isinstance(item, Execution):
        size += len(json.dumps(item.result.value)) if item.result else 0
        size += sum(len(attempt.error.trace or "") for attempt in item.attempts if attempt.error)
    return size


def encode_cursor(position: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"before": position}).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> str | None:
    """Return the position in a cursor. Raises ``Invalid`` for text that ``encode_cursor`` did not produce."""
    if cursor is None:
        return None
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))["before"]
    except (binascii.Error, ValueError, KeyError, TypeError):
        position = None
    if not isinstance(position, str) or not POSITION.fullmatch(position):
        raise Invalid("cursor", "is not a cursor that a list returned: omit it to start with the first page")
    return position
