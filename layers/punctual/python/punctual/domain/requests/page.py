"""Pages of lists: a cursor is a position in the order of the list, so it stays valid when records are added or removed.

A page reads a bounded number of records: with a selective filter it may be short or empty and still have a cursor for
the next page.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

MAX_SCANNED = 1000
"""Records that one page reads at most, matching or not."""
FETCH_SIZE = 100
"""How many records are read at once to look for matches."""
POSITION = re.compile(r"[0-9][0-9A-Za-z_-]{1,200}")
"""A position in the order of ids."""
MAX_PAGE_BYTES = 4_000_000
"""Bytes of parameters and results per page: the response of a Lambda function is limited to 6 MB."""

MAX_TOTAL = 10_000
"""Counting stops here."""

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    cursor: str | None
    """Where the next page starts; ``None`` on the last page."""


@dataclass(frozen=True)
class Total:
    """How many items a list has on all its pages."""

    count: int
    is_exact: bool
    """``False`` if there are more."""


def total_of(counts: Iterable[Callable[[int], int]]) -> Total:
    """Add up counts, each a function of the number to stop at, no further than to ``MAX_TOTAL``."""
    counted = 0
    for count in counts:
        counted += count(MAX_TOTAL + 1 - counted)
        if counted > MAX_TOTAL:
            return Total(MAX_TOTAL, is_exact=False)
    return Total(counted, is_exact=True)


Candidate = tuple[str, T | None]
"""A position with its record, or with ``None`` if there is none that matches."""


def candidates(
    positions: Iterable[tuple[str, str]],
    fetch: Callable[[list[str]], Mapping[str, T]],
    matches: Callable[[T], bool],
    size: int,
) -> Iterator[Candidate[T]]:
    """Read the records of pairs of position and id, ``size`` at a time."""
    remaining = iter(positions)
    while chunk := list(islice(remaining, size)):
        found = fetch([record_id for _, record_id in chunk])
        for position, record_id in chunk:
            record = found.get(record_id)
            yield position, record if record is not None and matches(record) else None


def page_of(found: Iterator[Candidate[T]], limit: int, size_of: Callable[[T], int]) -> Page[T]:
    """Collect the next page."""
    items: list[T] = []
    size = 0
    for scanned, (position, item) in enumerate(found, start=1):
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
    text = json.dumps({"before": position}, ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, form: re.Pattern[str] = POSITION) -> str | None:
    """Return the position in a cursor. Raises ``Invalid`` for text that ``encode_cursor`` did not produce."""
    if cursor is None:
        return None
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))["before"]
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
        position = None
    if not isinstance(position, str) or not form.fullmatch(position):
        raise Invalid("cursor", "is not a cursor that this list returned: omit it to start with the first page")
    return position
