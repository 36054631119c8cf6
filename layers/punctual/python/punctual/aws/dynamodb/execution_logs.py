"""The logs table: the lines of each execution, under its own partition key.

::

    <execution id>   <stored at>#<part>#<attempt>#<number>   lines (compressed), totals: one chunk
    <execution id>   #<part>#<attempt>                       totals: the number of lines by level

Both items of a chunk are written with one request. A chunk that is stored again has another stamp. A lookup reads only
items of its own execution.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from punctual.aws.dynamodb.items import Item, from_json, to_json
from punctual.aws.dynamodb.table import Table
from punctual.domain.executions.execution_log import LogChunk, LogLine
from punctual.domain.instant import from_epoch_ms

CHUNKS_PER_PAGE = 20


@dataclass(frozen=True)
class DynamoExecutionLogs:
    table: Table
    retention: timedelta

    def store(self, execution_id: str, chunk: LogChunk) -> None:
        expires_at = int((chunk.stored_at + self.retention).timestamp())
        lines = to_json([[line.at_ms, line.level, line.message, line.fields] for line in chunk.lines])
        totals = f"#{chunk.part}#{chunk.attempt:04}"
        common = {"execution_id": execution_id, "expires_at": expires_at}
        self.table.put_many(
            [
                {**common, "entry": chunk.entry, "lines": zlib.compress(lines.encode("utf-8", "replace"))},
                {**common, "entry": totals, "totals": to_json(chunk.totals)},
            ]
        )

    def chunks(
        self, execution_id: str, low: str, high: str, *, descending: bool = False, consistent: bool = False
    ) -> Iterator[LogChunk]:
        pages = self.table.query(
            "#execution_id = :execution AND #entry BETWEEN :low AND :high",
            {"execution": execution_id, "low": low, "high": high},
            descending=descending,
            page_size=CHUNKS_PER_PAGE,
            consistent=consistent,
        )
        for page in pages:
            yield from (_chunk(item) for item in page)

    def totals(self, execution_id: str) -> Mapping[str, int]:
        condition = "#execution_id = :execution AND #entry < :first_chunk"
        totals: Counter[str] = Counter()
        for page in self.table.query(condition, {"execution": execution_id, "first_chunk": "0"}):
            for item in page:
                totals.update(from_json(item["totals"]))
        return totals


def _chunk(item: Item) -> LogChunk:
    stored_at, part, attempt, number = item["entry"].split("#")
    return LogChunk(
        part=part,
        attempt=int(attempt),
        number=int(number),
        stored_at=from_epoch_ms(int(stored_at)),
        lines=tuple(LogLine(*line) for line in from_json(zlib.decompress(item["lines"]).decode())),
        totals={},
    )


if TYPE_CHECKING:
    from punctual.ports.execution_logs import LogStore, StoredLogs

    _log_store: type[LogStore] = DynamoExecutionLogs
    _stored_logs: type[StoredLogs] = DynamoExecutionLogs
