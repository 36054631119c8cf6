"""Ports for the statistics: the counters that the settler maintains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from punctual.domain.statistics.ended import Counts
from punctual.domain.statistics.job_record import JobRecord, LedgerPage, RecordChange
from punctual.domain.statistics.quarter import Quarter


class CountedStatistics(Protocol):
    """The statistics as the settler maintains them. All reads are consistent."""

    def records(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        """The records of jobs; jobs without one are left out."""

    def ledger_page(self, job_id: str, key: str) -> LedgerPage | None:
        """The first page of a job's ledger that reaches to ``key``."""

    def apply(
        self, changes: Sequence[RecordChange], quarters: Mapping[tuple[str, datetime], Quarter], now: datetime
    ) -> bool:
        """Apply the changes of jobs, and add to the quarters of owners, in one transaction.

        ``False`` if the record of one of the jobs has changed since it was read: then nothing was written.
        """


class StatisticsReader(Protocol):
    """The statistics as the API reads them."""

    def records(self, job_ids: Iterable[str]) -> Mapping[str, JobRecord]:
        """The records of jobs, with one request for up to 100; jobs without one are left out."""

    def days(self, record: JobRecord, since: date, until: date) -> Mapping[str, Counts]:
        """The counts of the days from ``since`` to ``until``, both included; days without an end are left out."""

    def quarters(self, owner: str, since: datetime, until: datetime) -> Mapping[datetime, Quarter]:
        """The counts of an owner in each quarter of an hour that begins from ``since`` on and before ``until``."""
