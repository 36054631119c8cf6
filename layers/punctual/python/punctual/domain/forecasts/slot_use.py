"""The slots of the long lane that its executions are expected to use over the next days, hour by hour.

It is the demand: parts that hold or wait for slots at their forecast times, and planned executions from their due
instants on. Where it exceeds the capacity of the lane, executions will wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.run_history import expected_seconds
from punctual.domain.jobs.batch import Batch
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.lane_forecast import PlannedSlots, expected_release, expected_starts
from punctual.domain.long_lane.laxity import LaneLimits, latest_start
from punctual.domain.long_lane.part import COLLECT, PARTITION, WHOLE, Part
from punctual.domain.schedules.due_window import zone_of

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class SlotUse:
    """Slots that are expected to be held from ``start`` to ``end``."""

    start: datetime
    end: datetime
    tasks: int
    cpu: int
    """Of all of them together, in ECS CPU units."""


@dataclass(frozen=True)
class HourOfSlots:
    """The average number of slots in use within a clock hour in UTC; of the current hour, within what is left of it."""

    at: datetime
    tasks: float
    cpu: float


def uses_of_parts(
    holders: Sequence[Part], waiting: Sequence[Part], limits: LaneLimits, now: datetime
) -> Iterator[SlotUse]:
    """The slots of the holders, and of the waiting parts as a simulation of the lane admits them."""
    for part in holders:
        yield SlotUse(now, expected_release(part, now), 1, part.cpu)
    for part, start in zip(waiting, expected_starts(holders, waiting, limits, now), strict=True):
        yield SlotUse(start, start + timedelta(seconds=part.expected_seconds), 1, part.cpu)


def uses_of_execution(execution: Execution, job: Job, now: datetime) -> Iterator[SlotUse]:
    """The slots of an execution without parts yet, if it gets them at its earliest start."""
    batch, start = execution.batch or Batch(), max(execution.earliest_start, now)
    if batch.partitions is None:
        yield _use(execution, job, start, WHOLE, 1)
        return
    count = _count_of(execution, job, batch)
    parallel = batch.partitions.parallel(count)
    while count > 0:
        use = _use(execution, job, start, PARTITION, min(count, parallel))
        yield use
        count, start = count - parallel, use.end
    if batch.collects:
        yield _use(execution, job, start, COLLECT, 1)


def planned_slots(execution: Execution, job: Job, now: datetime) -> Iterator[PlannedSlots]:
    """The slots that an execution without parts will request, wave by wave."""
    uses = list(uses_of_execution(execution, job, now))
    for use in uses:
        left = round((uses[-1].end - use.start).total_seconds())
        latest = latest_start(execution.deadline_at, execution.earliest_start, execution.priority, left)
        seconds = round((use.end - use.start).total_seconds())
        yield PlannedSlots(use.start, latest, seconds, use.tasks, use.cpu, execution.execution_id)


def by_hour(uses: Iterable[SlotUse], now: datetime, hours: int) -> list[HourOfSlots]:
    """The average use in each of the ``hours`` from the current one on."""
    since, tasks, cpu = start_of_hour(now), [0.0] * hours, [0.0] * hours
    for use in uses:
        first = max(int((use.start - since) / HOUR), 0)
        for number in range(first, hours):
            begin, end = max(since + number * HOUR, now), since + (number + 1) * HOUR
            if begin >= use.end:
                break
            share = max((min(use.end, end) - max(use.start, begin)) / (end - begin), 0.0)
            tasks[number] += use.tasks * share
            cpu[number] += use.cpu * share
    return [HourOfSlots(since + number * HOUR, tasks[number], cpu[number]) for number in range(hours)]


def start_of_hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0)


def _use(execution: Execution, job: Job, start: datetime, kind: str, tasks: int) -> SlotUse:
    times = job.run_times.get(kind, ())
    seconds = expected_seconds(times, job.expected_seconds, execution.timeout_seconds)
    cpu = execution.batch.resources.cpu if execution.batch else Batch().resources.cpu
    return SlotUse(start, start + timedelta(seconds=seconds), tasks, cpu * tasks)


def _count_of(execution: Execution, job: Job, batch: Batch) -> int:
    """The number of partitions; none if the window cannot be split, because then the execution fails at its start."""
    assert batch.partitions is not None
    try:
        return len(batch.partitions.split(execution.window, zone_of(job.schedule)))
    except Invalid:
        return 0
