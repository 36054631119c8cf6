"""Read logs: pages of an execution's log lines, in both directions.

A cursor is the position of a line, and stays valid: new lines are only appended. A page reads a limited number of
lines, so with a filter it may be short or empty and still have a cursor.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.execution_log import Level, LogLine, severity_of
from punctual.domain.instant import to_epoch_ms
from punctual.domain.status import FINAL

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.execution_logs import StoredLogs

MAX_LINES = 1000
MAX_SCANNED_LINES = 20_000
"""Lines that one request reads."""
MAX_LOG_PAGE_BYTES = 3_000_000
SETTLING = timedelta(seconds=0.5)
"""Parts of an execution store their lines concurrently. A chunk becomes readable after this time, so that none appears
before a cursor that was returned already."""

Position = tuple[str, int]
"""The entry of a chunk, and the index of a line in it."""
START: Position = ("0", -1)
END: Position = ("~", 0)


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
        since = decode(query.after, "after") if query.after else START
        chunks = self.logs.chunks(execution.execution_id, since[0], self._readable_until(execution))
        lines = (
            FoundLine(position=(chunk.entry, index), part=chunk.part, attempt=chunk.attempt, line=line)
            for chunk in chunks
            for index, line in enumerate(chunk.lines)
        )
        scan = _scan((one for one in lines if one.position > since), query, query.limit)
        return LogPage(
            lines=scan.found,
            before=None if since == START else encode((since[0], since[1] + 1)),
            after=encode(scan.last or since),
            total=self._total(execution, query),
            is_complete=scan.reached_end and execution.status in FINAL,
        )

    def _backward(self, execution: Execution, query: LogQuery) -> LogPage:
        until = decode(query.before, "before") if query.before else END
        high = min(until[0], self._readable_until(execution))
        chunks = self.logs.chunks(execution.execution_id, START[0], high, descending=True)
        lines = (
            FoundLine(position=(chunk.entry, index), part=chunk.part, attempt=chunk.attempt, line=line)
            for chunk in chunks
            for index, line in reversed(list(enumerate(chunk.lines)))
        )
        scan = _scan((one for one in lines if one.position < until), query, query.tail or query.limit)
        newest = scan.first or START if until == END else (until[0], until[1] - 1)
        return LogPage(
            lines=scan.found[::-1],
            before=None if scan.reached_end or scan.last is None else encode(scan.last),
            after=encode(newest),
            total=self._total(execution, query),
            is_complete=until == END and execution.status in FINAL,
        )

    def _total(self, execution: Execution, query: LogQuery) -> int:
        least = severity_of(query.level) if query.level else 0
        totals = self.logs.totals(execution.execution_id)
        return sum(count for level, count in totals.items() if severity_of(level) >= least)

    def _readable_until(self, execution: Execution) -> str:
        """The highest entry that may be read."""
        partitioned = execution.batch is not None and execution.batch.partitions is not None
        return f"{to_epoch_ms(self.clock() - SETTLING):013}" if partitioned else END[0]


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


def encode(position: Position) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode(cursor: str, name: str) -> Position:
    """Raises ``Invalid`` for text that ``encode`` did not produce."""
    try:
        entry, index = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        entry, index = None, None
    if not isinstance(entry, str) or not isinstance(index, int) or not "0" <= entry[:1] <= "~":
        raise Invalid(name, "is not a cursor that this log returned: omit it to start with the first page")
    return entry, index
