"""Cursors of log pages: their size, and their refusals."""

from __future__ import annotations

import base64
import json
import random
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from punctual.domain.errors import Invalid
from punctual.domain.executions.log_cursor import BEGINNING, LATEST_REPEAT, LATEST_STORE, Seen, decode, entry_at

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def entry(at: datetime, part: str = "all", number: int = 1) -> str:
    return f"{entry_at(at)}#{part}#0001#{number:06}"


def test_a_cursor_of_many_writers_fits_into_a_request() -> None:
    """API Gateway accepts 10,240 bytes of the request line and all headers."""
    draw = random.Random(5)
    stamps = [NOW - timedelta(milliseconds=draw.randrange(10_000)) for _ in range(250)]
    seen = Seen((entry(at, f"{n:04}", draw.randrange(2000)), draw.randrange(50)) for n, at in enumerate(stamps))
    cursor = seen.cursor(seen.newest[0], NOW)
    assert len(cursor.seen) == 250
    assert decode(cursor.encode(), "after") == cursor
    assert len(cursor.encode()) < 6000


def test_a_cursor_forgets_writers_whose_chunks_can_no_longer_be_stored_again() -> None:
    old, recent = entry(NOW - LATEST_REPEAT - timedelta(seconds=1), "0000"), entry(NOW, "0001")
    seen = Seen([(old, 3), (recent, 2)])
    assert seen.cursor(recent, NOW).seen == ((recent, 2),)
    assert seen.cursor(recent, NOW).since == entry_at(NOW - LATEST_STORE)


def test_a_cursor_far_behind_the_present_reads_nothing_again() -> None:
    old = entry(NOW - timedelta(days=1))
    assert Seen([(old, 3)]).cursor(old, NOW).since == old
    assert Seen().cursor("0", NOW) == BEGINNING


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(value).encode())).decode()


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "{}",
        encoded([]),
        encoded(["0"]),
        encoded([[], []]),
        encoded(["0", [["\ud800", 1]]]),
        encoded(["0" * 3000, []]),
        encoded(["0", [[entry(NOW), None]]]),
        encoded(["0", [[entry(NOW), float("inf")]]]),
        encoded(["0", [[1, 1]]]),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 900_000)).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"9" * 9000)).decode(),
    ],
)
def test_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is not a cursor that this log returned"):
        decode(text, "after")
