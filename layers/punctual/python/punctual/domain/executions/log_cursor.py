"""Cursors of log pages: which lines of each writer a reader has.

Every writer, an attempt of a part, numbers its chunks and stores the next one after the previous one. So the newest
line that a reader has of a writer tells which ones it lacks, even if a chunk was stored late, or twice.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.errors import Invalid
from punctual.domain.instant import to_epoch_ms

LATEST_STORE = timedelta(seconds=10)
"""How long after its stamp a chunk may become readable: the longest store, and the difference of two clocks."""
LATEST_REPEAT = timedelta(seconds=60)
"""How long after its first stamp a chunk may be stored again."""
_ENTRY = re.compile(r"\d{13}#[ -~]{0,200}#\d{4,9}#\d{6,12}", re.ASCII)
_SINCE = re.compile(rf"0|\d{{13}}|{_ENTRY.pattern}", re.ASCII)
MAX_CURSOR_BYTES = 1_000_000

Position = tuple[str, int]
"""The entry of a chunk, and the index of a line in it."""
START: Position = ("0", -1)
END: Position = ("~", 0)


@dataclass(frozen=True)
class Cursor:
    since: str
    """The first entry that the next page reads."""
    seen: tuple[Position, ...]
    """The newest line of each writer that may have a chunk from ``since`` on."""

    @classmethod
    def at(cls, position: Position) -> Cursor:
        return BEGINNING if position == START else cls(position[0], (position,))

    @property
    def newest(self) -> Position:
        return max(self.seen, default=START)

    def encode(self) -> str:
        text = json.dumps([self.since, self.seen], separators=(",", ":"))
        return base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


BEGINNING = Cursor(START[0], ())


class Seen:
    """The newest line of each writer."""

    def __init__(self, positions: Iterable[Position] = ()) -> None:
        self._newest: dict[str, tuple[tuple[int, int], Position]] = {}
        for position in positions:
            self.add(position)

    def add(self, position: Position) -> None:
        writer, line = _line_of(position)
        if writer not in self._newest or self._newest[writer][0] <= line:
            self._newest[writer] = (line, position)

    def includes(self, position: Position) -> bool:
        writer, line = _line_of(position)
        return writer in self._newest and line <= self._newest[writer][0]

    @property
    def newest(self) -> Position:
        return max((position for _, position in self._newest.values()), default=START)

    def cursor(self, read_up_to: str, now: datetime) -> Cursor:
        """The cursor behind a page that was read ``now``: every entry up to ``read_up_to`` that was stored."""
        if not self._newest:
            return BEGINNING
        since = min(read_up_to, entry_at(now - LATEST_STORE))
        kept = min(since, entry_at(now - LATEST_REPEAT))
        return Cursor(since, tuple(sorted(one for _, one in self._newest.values() if one[0] >= kept)))


def entry_at(instant: datetime) -> str:
    """The lower bound of the entries with this stamp."""
    return f"{to_epoch_ms(instant):013}"


def decode(text: str, name: str) -> Cursor:
    """Raises ``Invalid`` for text that ``encode`` did not produce."""
    try:
        compressed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        since, seen = json.loads(zlib.decompressobj().decompress(compressed, MAX_CURSOR_BYTES))
        cursor = Cursor(since, tuple((entry, int(index)) for entry, index in seen))
        if not _SINCE.fullmatch(since) or not all(_ENTRY.fullmatch(entry) for entry, _ in cursor.seen):
            raise ValueError
    except (binascii.Error, zlib.error, ValueError, TypeError, OverflowError, RecursionError):
        raise Invalid(name, "is not a cursor that this log returned: omit it to start with the first page") from None
    return cursor


def _line_of(position: Position) -> tuple[str, tuple[int, int]]:
    """The writer of a line, and the number of the line among those of the writer."""
    entry, index = position
    _, part, attempt, number = entry.split("#")
    return f"{part}#{attempt}", (int(number), index)
