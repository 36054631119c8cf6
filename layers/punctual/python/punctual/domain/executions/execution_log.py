"""The log of an execution: the lines that its attempts write, stored in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from punctual.domain.instant import from_text, to_epoch_ms, to_text


class Level(StrEnum):
    """The levels of log lines, the least severe first."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"


_LEVELS = list(Level)


@dataclass(frozen=True)
class LogLine:
    at_ms: int
    """When it was written, in milliseconds since 1970."""
    level: str
    message: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def severity(self) -> int:
        return severity_of(self.level)

    def contains(self, text: str) -> bool:
        """Whether the message or a field contains ``text``, in upper or lower case."""
        return text.casefold() in f"{self.message} {dict(self.fields)}".casefold()


@dataclass(frozen=True, kw_only=True)
class LogChunk:
    """Consecutive lines of one attempt, which its process stores with one request."""

    part: str
    """The part of a long execution; empty in the short lane."""
    attempt: int
    number: int
    """Counts the chunks of the attempt. A reader recognises a chunk that was stored twice by it."""
    stored_at: datetime
    """The stamp: when the store began, by the clock of the process that wrote the lines."""
    lines: tuple[LogLine, ...]
    totals: Mapping[str, int]
    """The number of lines of the attempt by level, up to and including this chunk."""

    @property
    def entry(self) -> str:
        """The sort key: chunks of an execution are ordered by their stamps."""
        return f"{to_epoch_ms(self.stored_at):013}#{self.part}#{self.attempt:04}#{self.number:06}"

    def to_payload(self) -> dict[str, Any]:
        """Serialise for the reporter; ``read_chunk`` is the inverse."""
        return {**asdict(self), "stored_at": to_text(self.stored_at)}


def read_chunk(payload: Mapping[str, Any]) -> LogChunk:
    """Raises ``KeyError``, ``TypeError`` or ``ValueError`` if ``payload`` is not a chunk."""
    return LogChunk(
        part=str(payload["part"]),
        attempt=int(payload["attempt"]),
        number=int(payload["number"]),
        stored_at=from_text(payload["stored_at"]),
        lines=tuple(_read_line(line) for line in payload["lines"]),
        totals=dict(payload["totals"]),
    )


def _read_line(payload: Mapping[str, Any]) -> LogLine:
    return LogLine(
        at_ms=int(payload["at_ms"]),
        level=str(payload["level"]),
        message=str(payload["message"]),
        fields=dict(payload["fields"]),
    )


def severity_of(level: str) -> int:
    """The rank of a level. A level of a library's own counts as ``INFO``."""
    return _LEVELS.index(Level(level if level in _LEVELS else Level.INFO))
