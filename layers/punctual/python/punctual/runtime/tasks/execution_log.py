"""Collects the log lines of a running attempt, and stores them in chunks while it runs."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from punctual.domain.executions.execution_log import LogChunk, LogLine
from punctual.runtime.tasks.log_fields import extra_fields

if TYPE_CHECKING:
    from punctual.ports.clock import Clock

INTERVAL_SECONDS = 1.0
"""The time between two chunks. A line can be read within two seconds, which includes the request that stores it."""
MAX_STORE = timedelta(seconds=5)
"""A chunk whose store took longer is stored again, with a new stamp: a reader may have passed the first one."""
MAX_SLOW_STORES = 3
"""After this many, the chunk is taken as stored, so that a slow table does not hold up the task."""
MAX_CHUNK_BYTES = 200_000
"""Below the item limit of DynamoDB (400 KB), even if the lines cannot be compressed."""
MAX_LINE_BYTES = 30_000
"""A longer line is cut, and says so."""
MAX_WAITING_BYTES = 2_000_000
"""While chunks cannot be stored, further lines are dropped, and counted in a line of the log."""


class ExecutionLog(logging.Handler):
    """Receives every line that the process logs inside the ``with`` block, and passes them on with ``store``.

    A thread stores a chunk every second, and starts with the first line: an attempt without lines costs nothing. A
    process that logs faster than the chunks can be stored is slowed down. Each store of a chunk has a stamp of its own.
    A chunk that cannot be stored is retried; at the end of the block, it is lost with a warning. The lines are in the
    log of the process in any case.
    """

    def __init__(
        self,
        store: Callable[[LogChunk], None],
        *,
        part: str = "",
        attempt: int,
        clock: Clock,
        interval_seconds: float = INTERVAL_SECONDS,
    ) -> None:
        super().__init__()
        self._store, self._part, self._attempt, self._clock = store, part, attempt, clock
        self._interval_seconds = interval_seconds
        self._waiting: list[tuple[LogLine, int]] = []
        self._waiting_bytes = self._dropped = self._number = 0
        self._unstored: LogChunk | None = None
        self._totals: Counter[str] = Counter()
        self._stamp = clock()
        self._fails = False
        self._storing = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: Any) -> None:
        logging.getLogger().removeHandler(self)
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._flush()
        if self._unstored is not None:
            lost = len(self._unstored.lines) + len(self._waiting) + self._dropped
            logging.getLogger("punctual").warning(f"{lost} lines of the execution's log could not be stored")

    def emit(self, record: logging.LogRecord) -> None:
        line, size = _line_of(record)
        if self._fails and self._waiting_bytes + size > MAX_WAITING_BYTES:
            self._dropped += 1
            return
        self._waiting.append((line, size))
        self._waiting_bytes += size
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="execution-log", daemon=True)
            self._thread.start()

    def handle(self, record: logging.LogRecord) -> bool:
        """Store at once if a whole chunk waits. Outside of the handler's lock, so that other threads can go on."""
        handled = bool(super().handle(record))
        if self._waiting_bytes >= MAX_CHUNK_BYTES and not self._fails:
            self._flush()
        return handled

    def _run(self) -> None:
        while not self._over.wait(self._interval_seconds):
            self._flush()

    def _flush(self) -> None:
        with self._storing:
            while chunk := self._unstored or self._next_chunk():
                self._unstored = chunk
                try:
                    self._store_in_time(chunk)
                except Exception as error:
                    if not self._fails:
                        self._fails = True
                        logging.getLogger("punctual").warning(f"cannot store log lines, will retry: {error}")
                    return
                self._unstored, self._fails = None, False

    def _store_in_time(self, chunk: LogChunk) -> None:
        """Store a chunk within ``MAX_STORE`` of its stamp. Readers recognise it by its number if it is stored twice."""
        for _ in range(MAX_SLOW_STORES):
            # a clock that went back must not change the order of the chunks
            self._stamp = max(self._clock(), self._stamp)
            self._store(replace(chunk, stored_at=self._stamp))
            if self._clock() - self._stamp <= MAX_STORE:
                return

    def _next_chunk(self) -> LogChunk | None:
        lines = self._take_lines()
        if not lines:
            return None
        self._number += 1
        self._totals.update(line.level for line in lines)
        return LogChunk(
            part=self._part,
            attempt=self._attempt,
            number=self._number,
            stored_at=self._stamp,
            lines=tuple(lines),
            totals=dict(self._totals),
        )

    def _take_lines(self) -> list[LogLine]:
        """Take the lines of one chunk. At least one, if any waits."""
        lines: list[LogLine] = []
        taken = 0
        self.acquire()
        try:
            for line, size in self._waiting:
                if lines and taken + size > MAX_CHUNK_BYTES:
                    break
                lines.append(line)
                taken += size
            del self._waiting[: len(lines)]
            self._waiting_bytes -= taken
            dropped, self._dropped = self._dropped, 0
        finally:
            self.release()
        if dropped and lines:
            text = f"{dropped} lines are missing here: they could not be stored"
            lines.append(LogLine(lines[-1].at_ms, "WARNING", text))
        return lines


def _line_of(record: logging.LogRecord) -> tuple[LogLine, int]:
    """The line, and its size in bytes."""
    fields = extra_fields(record)
    if record.exc_info:
        fields["exception"] = _FORMATTER.formatException(record.exc_info)
    message, text = _storable(record.getMessage()), _storable(_json(fields))
    size = len(message.encode()) + len(text.encode())
    if size > MAX_LINE_BYTES:
        message, size = f"{message[: MAX_LINE_BYTES // 4]} … (cut: the line has {size:,} bytes)", MAX_LINE_BYTES
        text = json.dumps({"cut": text[: MAX_LINE_BYTES // 4]}) if fields else "{}"
    return LogLine(round(record.created * 1000), record.levelname, message, json.loads(text)), size + 50


def _json(fields: dict[str, Any]) -> str:
    """Return fields as JSON. A value that JSON cannot express becomes text."""
    try:
        return json.dumps(fields, default=str, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps({name: str(value) for name, value in fields.items()}, ensure_ascii=False)


def _storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot express."""
    return text.encode("utf-8", "replace").decode()


_FORMATTER = logging.Formatter()
