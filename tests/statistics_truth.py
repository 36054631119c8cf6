"""The counters as they are stored, and as they have to be according to the executions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from punctual.aws.dynamodb.items import plain
from punctual.aws.dynamodb.statistics import counts_of_item, record_of_item
from punctual.domain.executions.execution import Execution
from punctual.domain.statistics.ended import counted_end
from punctual.domain.statistics.job_record import JobRecord
from punctual.domain.status import FINAL

Totals = dict[tuple[str, str], Counter[str]]
"""Counts by job and day, or by owner and quarter of an hour."""


def stored_totals(items: Iterable[Mapping[str, Any]]) -> Totals:
    """The counts in all items of the statistics table."""
    totals: Totals = {}
    for item in map(plain, items):
        kind, _, name = item["series"].partition("#")
        bucket, _, rest = item["bucket"].partition("#")
        if bucket == "ledger":
            continue
        if bucket == "record":
            record = record_of_item(item)
            key, counts = (name, record.day), record.counts
        else:
            key, counts = (name, rest if kind == "job" else bucket), counts_of_item(item)
        totals.setdefault(key, Counter()).update(counts)
    return totals


def stored_records(items: Iterable[Mapping[str, Any]]) -> list[JobRecord]:
    return [record_of_item(item) for item in map(plain, items) if item["bucket"] == "record"]


def true_totals(executions: Iterable[Execution]) -> Totals:
    """The counts that the executions that have ended add up to."""
    totals: Totals = {}
    for end in (counted_end(one) for one in executions if one.status in FINAL):
        quarter = f"{end.quarter:%Y-%m-%dT%H:%M}:00.000Z"
        totals.setdefault((end.ended.job_id, end.ended.day), Counter()).update(end.of_job)
        totals.setdefault((end.owner, quarter), Counter()).update(end.of_owner)
    return totals
