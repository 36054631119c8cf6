"""Read logs: pages of an execution's log lines, in both directions.

A cursor stays valid: new lines are only appended. A page reads a limited number of lines, so with a filter it may be
short or empty and still have a cursor. docs/adr/0006 states what followers may rely on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_log import Level, LogChunk, LogLine, severity_of
from punctual.domain.executions.log_cursor import (
    BEGINNING,
    END,
    LATEST_STORE,
    START,
    Cursor,
    Position,
    Seen,
    decode,
)
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.execution_logs import StoredLogs

MAX_LINES = 1000
MAX_SCANNED_LINES = 20_000
"""Lines that one request reads."""
MAX_LOG_PAGE_BYTES = 3_000_000


@dataclass(frozen=True, kw_only=True)
class LogQuery:
    """Which lines to read: the first, the last (``tail``), or those next to a cursor."""

    limit: int = MAX_LINES
    tail: int | None = None
    after: str | None = None
    before: str | None = None
    level: Level | None = None
    """The lowest level."""
    search: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("tail", "after", "before") if getattr(self, name) is not None]
        if len(given) > 1:
            raise Invalid(given[1], f"cannot be combined with {given[0]}: send one of them")

    def matches(self, line: LogLine) -> bool:
        severe = self.level is None or line.severity >= severity_of(self.level)
        return severe and (not self.search or line.contains(self.search))


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    position: Position
    part: str
    attempt: int
    line: LogLine


@dataclass(frozen=True, kw_only=True)
class LogPage:
    lines: list[FoundLine]
    """Oldest first."""
    before: str | None
    """The cursor of the previous page; ``None`` at the beginning of the log."""
    after: str
    """The cursor of the next page, which may still have to be written."""
    total: int
    """The number of lines in the log, from the requested level up."""
    is_complete: bool
    """Whether the execution has ended, and the page reaches the end of its log."""


@dataclass
class _Scan:
    """The lines that one request has read so far, in its direction."""

    found: list[FoundLine] = field(default_factory=list)
    first: Position | None = None
    last: Position | None = None
    reached_end: bool = True


@dataclass(frozen=True)
class LogReader:
    logs: StoredLogs
    clock: Clock

    def read(self, execution: Execution, query: LogQuery) -> LogPage:
        """Raises ``Invalid`` for a cursor that no page returned."""
        backward = query.tail is not None or query.before is not None
        return self._backward(execution, query) if backward else self._forward(execution, query)

    def _forward(self, execution: Execution, query: LogQuery) -> LogPage:
        cursor = decode(query.after, "after") if query.after else BEGINNING
        seen, now = Seen(cursor.seen), self.clock()
        chunks = self.logs.chunks(execution.execution_id, cursor.since, END[0], consistent=self._may_change(execution))
        scan = _scan(_unseen(chunks, seen), query, query.limit)
        newest = seen.newest if scan.reached_end else scan.last or START
        entry, index = cursor.newest
        return LogPage(
            lines=scan.found,
            before=Cursor.at((entry, index + 1)).encode() if cursor.seen else None,
            after=seen.cursor(newest[0], now).encode(),
            total=self._total(execution, query),
            is_complete=scan.reached_end and execution.status in FINAL,
        )

    def _backward(self, execution: Execution, query: LogQuery) -> LogPage:
        until = decode(query.before, "before").newest if query.before else END
        seen, now = Seen(), self.clock()
        chunks = self.logs.chunks(
            execution.execution_id, START[0], until[0], descending=True, consistent=self._may_change(execution)
        )
        lines = _preceding(chunks, until, seen)
        scan = _scan(lines, query, query.tail or query.limit)
        if until not in (START, END):
            seen.add((until[0], until[1] - 1))
        after = seen.cursor(seen.newest[0], now)
        for _ in takewhile(lambda one: one.position[0] >= after.since, lines):
            pass  # notes the writers whose lines are before this page, but not before ``since``
        return LogPage(
            lines=scan.found[::-1],
            before=None if scan.reached_end or scan.last is None else Cursor.at(scan.last).encode(),
            after=seen.cursor(seen.newest[0], now).encode(),
            total=self._total(execution, query),
            is_complete=until == END and execution.status in FINAL,
        )

    def _may_change(self, execution: Execution) -> bool:
        """Whether lines may have been stored just now, so that only a consistent read finds all."""
        ended_at = execution.ended_at if execution.status in FINAL else None
        return ended_at is None or self.clock() - ended_at < LATEST_STORE

    def _total(self, execution: Execution, query: LogQuery) -> int:
        least = severity_of(query.level) if query.level else 0
        totals = self.logs.totals(execution.execution_id)
        return sum(count for level, count in totals.items() if severity_of(level) >= least)


def _unseen(chunks: Iterable[LogChunk], seen: Seen) -> Iterator[FoundLine]:
    """The lines that ``seen`` does not include, which are added to it."""
    for chunk in chunks:
        for one in _lines_of(chunk):
            if not seen.includes(one.position):
                seen.add(one.position)
                yield one


def _preceding(chunks: Iterable[LogChunk], until: Position, seen: Seen) -> Iterator[FoundLine]:
    """The lines before ``until``, the newest first, of the newest copy of each chunk. They are added to ``seen``."""
    lowest: dict[tuple[str, int], int] = {}
    for chunk in chunks:
        writer = (chunk.part, chunk.attempt)
        if chunk.number >= lowest.get(writer, chunk.number + 1):
            continue
        lowest[writer] = chunk.number
        for one in reversed(list(_lines_of(chunk))):
            if one.position < until:
                seen.add(one.position)
                yield one


def _lines_of(chunk: LogChunk) -> Iterator[FoundLine]:
    for index, line in enumerate(chunk.lines):
        yield FoundLine(position=(chunk.entry, index), part=chunk.part, attempt=chunk.attempt, line=line)


def _scan(lines: Iterable[FoundLine], query: LogQuery, limit: int) -> _Scan:
    """Collect the matching lines, up to the limits of a page."""
    scan, size = _Scan(), 0
    for scanned, one in enumerate(lines, start=1):
        scan.first, scan.last = scan.first or one.position, one.position
        if query.matches(one.line):
            scan.found.append(one)
            size += len(one.line.message) + len(str(one.line.fields))
        if len(scan.found) == limit or scanned == MAX_SCANNED_LINES or size > MAX_LOG_PAGE_BYTES:
            scan.reached_end = False
            break
    return scan
