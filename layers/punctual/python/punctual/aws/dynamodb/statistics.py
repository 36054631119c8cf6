"""The statistics table: counters of ended executions by job and by owner.

::

    job#<job id>      record                      the job's last ended executions and the counts of its current day
    job#<job id>      day#<date>                  the counts of an earlier day
    job#<job id>      ledger#<end>#<execution>    executions that were counted and have left the record
    owner#<owner>     <instant>#<part>            counts and failed executions of a quarter of an hour, in up to 8 parts

The version of the record fences all items of a job: each write of one is part of a transaction with the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from punctual.aws.dynamodb.items import Item
from punctual.aws.dynamodb.table import Table, transact
from punctual.domain.instant import from_text, to_text
from punctual.domain.statistics.ended import Counts, add, ends_of_text, ends_text
from punctual.domain.statistics.job_record import DAYS_KEPT, JobRecord, LedgerPage, RecordChange
from punctual.domain.statistics.quarter import Quarter, slot_of

QUARTERS_KEPT = timedelta(days=36)
LEDGER_KEPT = timedelta(days=15)
"""Longer than a dead letter of the settler is kept: it can be sent again until then."""

PARTS = 8
"""Each process adds to one of so many items per owner and quarter, so that few transactions conflict."""

_FAILED = "failed"
"""The prefix of the attributes with the ids of failed executions; the number of the slot follows."""
_KEYS = frozenset({"series", "bucket", "expires_at"})


@dataclass(frozen=True)
class DynamoStatistics:
    table: Table
    part: int = 0
    """Which part of the items of owners this process adds to."""
    consistent: bool = False

    def records(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        keys = ({"series": _of_job(one), "bucket": "record"} for one in job_ids)
        found = map(record_of_item, self.table.get_many(keys, consistent=self.consistent))
        return {one.job_id: one for one in found}

    def ledger_page(self, job_id: str, key: str) -> LedgerPage | None:
        pages = self.table.query(
            "#series = :series AND #bucket BETWEEN :low AND :high",
            {"series": _of_job(job_id), "low": f"ledger#{key}", "high": "ledger#~"},
            page_size=1,
            consistent=True,
        )
        item = next((item for page in pages for item in page), None)
        return None if item is None else LedgerPage(item["bucket"].removeprefix("ledger#"), item["counted"])

    def apply(
        self, changes: Sequence[RecordChange], quarters: Mapping[tuple[str, datetime], Quarter], now: datetime
    ) -> bool:
        writes = [write for change in changes for write in self._writes(change, now)]
        writes += [self._addition_to_quarter(owner, at, quarter) for (owner, at), quarter in quarters.items()]
        return all(transact(self.table.client, [{"Update": one} for one in writes]))

    def days(self, record: JobRecord, since: date, until: date) -> Mapping[str, Counts]:
        pages = self.table.query(
            "#series = :series AND #bucket BETWEEN :low AND :high",
            {"series": _of_job(record.job_id), "low": f"day#{since}", "high": f"day#{until}"},
        )
        days = {item["bucket"].removeprefix("day#"): counts_of_item(item) for page in pages for item in page}
        if f"{since}" <= record.day <= f"{until}":
            days[record.day] = add(days.get(record.day, {}), record.counts)
        return days

    def quarters(self, owner: str, since: datetime, until: datetime) -> Mapping[datetime, Quarter]:
        pages = self.table.query(
            "#series = :series AND #bucket BETWEEN :low AND :high",
            {"series": f"owner#{owner}", "low": to_text(since), "high": to_text(until)},
        )
        quarters: dict[datetime, Quarter] = defaultdict(Quarter)
        for item in (item for page in pages for item in page):
            at = from_text(item["bucket"].partition("#")[0])
            quarters[at] += Quarter(counts_of_item(item), _failed_of_item(item))
        return quarters

    def _writes(self, change: RecordChange, now: datetime) -> Iterable[dict[str, Any]]:
        before, after = change.before, change.after
        condition = "#version = :version" if before.version else "attribute_not_exists(#version)"
        yield self.table.update_request(
            {"series": _of_job(after.job_id), "bucket": "record"},
            set={
                "version": after.version,
                "counted": ends_text(after.counted),
                "floor": after.floor or None,
                "since": after.since,
                "day": after.day,
                "counts": _counts_text(after.counts),
                "expires_at": int((_midnight(after.day) + DAYS_KEPT).timestamp()),
            },
            condition=condition,
            values={"version": before.version} if before.version else {},
        )
        for day, counts in change.days.items():
            yield self._addition(_of_job(after.job_id), f"day#{day}", counts, _midnight(day) + DAYS_KEPT)
        for page in change.pages:
            counted = {"counted": page.execution_ids}
            yield self._addition(_of_job(after.job_id), f"ledger#{page.key}", counted, now + LEDGER_KEPT)

    def _addition_to_quarter(self, owner: str, at: datetime, quarter: Quarter) -> dict[str, Any]:
        failed = {f"{_FAILED}{slot_of(one)}": one for one in quarter.failed}
        bucket = f"{to_text(at)}#{self.part}"
        return self._addition(f"owner#{owner}", bucket, quarter.counts, at + QUARTERS_KEPT, failed)

    def _addition(
        self,
        series: str,
        bucket: str,
        counts: Mapping[str, Any],
        expiry: datetime,
        latest: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Add the counts, and replace what is the ``latest``."""
        assigned = {"expires_at": int(expiry.timestamp()), **latest}
        return self.table.update_request({"series": series, "bucket": bucket}, set=assigned, add=counts)


def _of_job(job_id: str) -> str:
    return f"job#{job_id}"


def record_of_item(item: Item) -> JobRecord:
    job_id = item["series"].removeprefix("job#")
    return JobRecord(
        job_id=job_id,
        version=item["version"],
        counted=ends_of_text(job_id, item["counted"]),
        floor=item.get("floor", ""),
        since=item["since"],
        day=item["day"],
        counts=_counts_of_text(item["counts"]),
    )


def counts_of_item(item: Item) -> Counts:
    return {name: value for name, value in item.items() if name not in _KEYS and not name.startswith(_FAILED)}


def _failed_of_item(item: Item) -> frozenset[str]:
    return frozenset(value for name, value in item.items() if name.startswith(_FAILED))


def _counts_text(counts: Counts) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(counts.items()))


def _counts_of_text(text: str) -> Counts:
    return {name: int(value) for name, value in (word.split("=") for word in text.split())}


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


if TYPE_CHECKING:
    from punctual.ports.statistics import CountedStatistics, StatisticsReader

    _counted_statistics: type[CountedStatistics] = DynamoStatistics
    _statistics_reader: type[StatisticsReader] = DynamoStatistics
