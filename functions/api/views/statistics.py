"""Convert statistics to the response models of the API."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from functools import reduce
from typing import Any

from answers.statistics import (
    DayStatistics,
    JobStatistics,
    Quantiles,
    RecentExecution,
    Summary,
    SummaryBucket,
)

from punctual.domain.identity import due_of
from punctual.domain.instant import to_text
from punctual.domain.requests.statistics_range import Bucket
from punctual.domain.statistics.ended import (
    DELAY,
    LATENESS,
    LETTERS,
    QUEUES,
    RUN_TIME,
    Counts,
    Ended,
    add,
    by_status,
    histogram,
)
from punctual.domain.statistics.histogram import quantile
from punctual.domain.status import Status
from punctual.stages.api.read_statistics import JobHistory, JobPulse

RAN = frozenset({Status.SUCCEEDED, Status.FAILED, Status.TIMED_OUT})
"""The statuses that count in `success_percent`."""


class Grouping(StrEnum):
    STATUS = "status"
    QUEUE = "queue"


def pulse_fields(pulse: JobPulse) -> dict[str, Any]:
    """The fields of a job that come from its live and from its last ended executions."""
    newest_first = pulse.record.last[::-1]
    ran = [one for one in newest_first if one.status in RAN]
    succeeded = [one for one in ran if one.status is Status.SUCCEEDED]
    seconds = sorted(one.run_ms / 1000 for one in succeeded if one.run_ms is not None)
    return {
        "last_execution": _recent_view(newest_first[0]) if newest_first else None,
        "recent_executions": [_recent_view(one) for one in newest_first],
        "success_percent": 100 * len(succeeded) / len(ran) if ran else None,
        "median_seconds": _rank(seconds, 50),
        "p95_seconds": _rank(seconds, 95),
        "running": pulse.running,
        "deadline_state": pulse.deadline_state,
    }


def _rank(values: list[float], percent: int) -> float | None:
    """The nearest-rank percentile of sorted values."""
    return values[-(-len(values) * percent // 100) - 1] if values else None


def _recent_view(one: Ended) -> RecentExecution:
    return RecentExecution(
        execution_id=one.execution_id,
        status=one.status,
        scheduled_at=to_text(due_of(one.execution_id)),
        ended_at=to_text(one.ended_at),
        run_seconds=None if one.run_ms is None else one.run_ms / 1000,
    )


def summary_view(buckets: Iterable[tuple[datetime, Counts]], bucket: Bucket, by: Grouping) -> Summary:
    items = [_bucket_view(start, start + bucket.length, counts, by) for start, counts in buckets]
    return Summary(items=items, cursor=None)


def _bucket_view(start: datetime, end: datetime, counts: Counts, by: Grouping) -> SummaryBucket:
    by_queue = {queue: by_status(counts, prefix) for queue, prefix in QUEUES.items()}
    if by is Grouping.QUEUE:
        groups = {queue: sum(found.values()) for queue, found in by_queue.items()}
    else:
        groups = {str(one): sum(found.get(one, 0) for found in by_queue.values()) for one in LETTERS}
    delays = {queue: quantile(histogram(counts, prefix + DELAY), 0.99) for queue, prefix in QUEUES.items()}
    return SummaryBucket(
        start=to_text(start),
        end=to_text(end),
        total=sum(groups.values()),
        counts={name: count for name, count in groups.items() if count},
        start_delay_p99_seconds={queue: delay for queue, delay in delays.items() if delay is not None},
    )


def history_view(job_id: str, history: JobHistory) -> JobStatistics:
    empty: Counts = {}
    return JobStatistics(
        job_id=job_id,
        first_day=None if history.first_day is None else f"{history.first_day}",
        **_statistics(reduce(add, history.days.values(), empty)),
        days=[DayStatistics(day=f"{day}", **_statistics(counts)) for day, counts in history.days.items()],
    )


def _statistics(counts: Counts) -> dict[str, Any]:
    statuses = by_status(counts)
    return {
        "total": sum(statuses.values()),
        "counts": {str(status): count for status, count in statuses.items()},
        "run_times": _quantiles(histogram(counts, RUN_TIME)),
        "lateness": _quantiles(histogram(counts, LATENESS)),
    }


def _quantiles(found: dict[int, int]) -> Quantiles:
    return Quantiles(median_seconds=quantile(found, 0.5), p95_seconds=quantile(found, 0.95))
