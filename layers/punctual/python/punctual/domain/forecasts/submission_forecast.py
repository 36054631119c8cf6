"""What a job is expected to cost, and how often it is due: for the dry run of its submission."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.cost import NOTHING, Cost, container_cost, short_cost
from punctual.domain.forecasts.partition_times import collect_time_of
from punctual.domain.forecasts.run_time import RunTime, RunTimeSource, run_time_of, run_time_source
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import EXECUTION, PARTITION
from punctual.domain.schedules.due_window import zone_of
from punctual.domain.schedules.schedule import occurrences_between

MONTH = timedelta(days=30)
MAX_FORECAST_STARTS = 1_000
"""Due instants that are counted."""


@dataclass(frozen=True)
class ExpectedRunTime:
    """Of an execution, or of each of its partitions."""

    median_seconds: float
    p95_seconds: float
    source: RunTimeSource


def expected_run_time(job: Job) -> ExpectedRunTime:
    """The run time of the next execution, or of each of its partitions."""
    run_time, runs = _run_time(job), job.run_times.get(_kind(job), ())
    source = run_time_source(runs, job.expected_seconds)
    return ExpectedRunTime(run_time.quantile(0.5), run_time.quantile(0.95), source)


def expected_cost(job: Job, execution: Execution) -> Cost:
    """The cost of an execution that succeeds at its first attempt, with the median run time."""
    run_time = _run_time(job)
    seconds = run_time.quantile(0.5)
    if job.lane is Lane.SHORT:
        return short_cost(seconds)
    batch = job.batch or Batch()
    if batch.partitions is None:
        return container_cost(batch.resources, seconds)
    count = _partitions_of(job, execution)
    collect = collect_time_of(job.run_times, run_time, job.timeout_seconds).quantile(0.5) if batch.collects else None
    final = container_cost(batch.resources, collect) if collect is not None else NOTHING
    return container_cost(batch.resources, count * seconds, count) + final


def due_per_month(job: Job, now: datetime, most: int = MAX_FORECAST_STARTS) -> float | None:
    """How often the job is due within a month; ``None`` for a queue job, whose messages decide.

    Counts up to ``most`` due instants, and extrapolates the rest of the month.
    """
    if job.schedule.kind == "queue":
        return None
    if not job.schedule.recurring:
        return 1
    found = (one.at for one in occurrences_between(job.schedule, now, now + MONTH) if one.at is not None)
    counted = list(islice(found, most))
    if len(counted) < most:
        return len(counted)
    return most * (MONTH / (counted[-1] - now))


def _kind(job: Job) -> str:
    return PARTITION if job.batch and job.batch.partitions else EXECUTION


def _run_time(job: Job) -> RunTime:
    return run_time_of(job.run_times.get(_kind(job), ()), job.expected_seconds, job.timeout_seconds)


def _partitions_of(job: Job, execution: Execution) -> int:
    """The number of partitions; none if the window cannot be split: then the execution fails at its start."""
    assert job.batch is not None
    assert job.batch.partitions is not None
    try:
        return len(job.batch.partitions.split(execution.window, zone_of(job.schedule)))
    except Invalid:
        return 0
