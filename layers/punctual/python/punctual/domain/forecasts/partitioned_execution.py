"""What a partitioned execution has done, still has to do, and which slots it needs: the inputs of its forecast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median
from typing import TypeVar

from punctual.domain.errors import Invalid
from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Execution
from punctual.domain.forecasts.deadline_explanation import MAX_CAUSE_ERROR_CHARACTERS, UpstreamEnd
from punctual.domain.forecasts.forecast import NO_WAIT, SAFE_PROBABILITY, Forecast, Wait
from punctual.domain.forecasts.pace import Pace, precision_of
from punctual.domain.forecasts.part_progress import unevenness_of
from punctual.domain.forecasts.partition_explanation import PartitionedBasis
from punctual.domain.forecasts.partition_forecast import (
    PartitionedWork,
    PendingPartition,
    RunningPartition,
    simulate,
)
from punctual.domain.forecasts.partition_times import collect_time_of, partition_times_of
from punctual.domain.forecasts.run_history import QUANTILE
from punctual.domain.forecasts.run_time import RunTimeSource
from punctual.domain.forecasts.slot_simulation import Held, Planned, SlotPlan, Waiting
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.lane_forecast import HeldSlots, LaneOutlook, WaitingSlots, expected_release
from punctual.domain.long_lane.laxity import latest_start
from punctual.domain.long_lane.part import COLLECT, PARTITIONS, Part, busy_seconds
from punctual.domain.schedules.due_window import zone_of
from punctual.domain.status import FINAL, SLOT_HOLDING_STATUSES, Status

REPORT_GRACE = timedelta(seconds=60)
"""Progress reported within this time counts as current: two heartbeat intervals."""

G = TypeVar("G", HeldSlots, WaitingSlots)


def forecast_partitioned(
    execution: Execution,
    job: Job,
    load: SystemLoad,
    now: datetime,
    parts: Sequence[Part],
    wait: Wait,
    upstream: UpstreamEnd | None,
) -> tuple[Forecast, PartitionedBasis]:
    work = work_of(execution, job, parts, now, wait)
    basis = PartitionedBasis(
        work=work,
        plan=plan_of(execution, work, parts, load, now),
        timezone=zone_of(job.schedule),
        runs_used=len(job.run_times.get(PARTITIONS, ())) if work.times.source is RunTimeSource.HISTORY else 0,
        upstream=upstream,
        waiting=sum(part.status is Status.WAITING for part in parts),
        failure=next(map(_failure, filter(_has_failed, parts)), None),
        laxest=load.lane.laxest if load.lane and load.lane.laxest != execution.execution_id else None,
    )
    end, deadline = simulate(work, basis.plan), execution.deadline_at
    safe = timedelta(seconds=basis.whole_run().quantile(SAFE_PROBABILITY)) if _is_unstarted(execution) else None
    return Forecast(
        median_end=now + timedelta(seconds=end.quantile(0.5)),
        p95_end=now + timedelta(seconds=end.quantile(SAFE_PROBABILITY)),
        probability=end.success_probability((deadline - now).total_seconds()) if deadline else None,
        latest_safe_start=deadline - safe if deadline and safe is not None else None,
    ), basis


def work_of(
    execution: Execution, job: Job, parts: Sequence[Part], now: datetime, wait: Wait = NO_WAIT
) -> PartitionedWork:
    """The state of each partition. Without parts, none of them has started."""
    count = _count_of(execution, job, parts)
    times = partition_times_of(job.run_times, count, job.expected_seconds, execution.timeout_seconds)
    released = max((execution.earliest_start - now).total_seconds(), 0.0)
    partitions = [part for part in parts if part.name != COLLECT]
    ended = [(part.number, busy_seconds(part)) for part in partitions if part.status is Status.SUCCEEDED]
    known = {part.number for part in partitions}
    pending = [_pending(part, now) for part in _in_order(partitions)]
    pending += [PendingPartition(number=number, not_before=released) for number in range(count) if number not in known]
    collector = next((part for part in parts if part.name == COLLECT), None)
    collect = collect_time_of(job.run_times, times.typical, execution.timeout_seconds)
    if collector and collector.status is Status.RUNNING:
        collect = collect.given(_elapsed(collector, now))
    collects = execution.batch is not None and execution.batch.collects
    return PartitionedWork(
        times=times,
        ended=ended,
        running=_running_of(partitions, execution, ended, now),
        pending=pending,
        collect=collect if collects and not (collector and collector.status in FINAL) else None,
        collector_runs=collector is not None and collector.status in SLOT_HOLDING_STATUSES,
        start_delay=_start_delay(parts),
        wait=wait,
        has_failed=any(part.status in FINAL and part.status is not Status.SUCCEEDED for part in parts),
    )


def plan_of(
    execution: Execution, work: PartitionedWork, parts: Sequence[Part], load: SystemLoad, now: datetime
) -> SlotPlan:
    """The slots that the execution needs, and the lane without its own parts."""
    assert execution.batch is not None
    assert execution.batch.partitions is not None
    count = len(work.times.sizes)
    at_once = execution.batch.partitions.parallel(count)
    plan = SlotPlan(
        limits=load.limits,
        held=tuple(_held(load.lane, parts, now)),
        waiting=tuple(_waiting(load.lane, parts, now)),
        planned=tuple(_planned(load.lane, execution, now)),
        cpu=execution.batch.resources.cpu,
        at_once=at_once,
    )
    collect = work.collect.quantile(QUANTILE / 100) if work.collect else 0.0
    needed = work.times.typical.quantile(QUANTILE / 100) * -(-count // at_once) + collect
    latest = [part.latest_start for part in parts if part.name != COLLECT and part.status not in FINAL]
    earliest = min(latest, default=_latest_start(execution, needed))
    return replace(
        plan,
        latest_start=(earliest - now).total_seconds(),
        collect_latest_start=(_latest_start(execution, collect) - now).total_seconds(),
    )


def _count_of(execution: Execution, job: Job, parts: Sequence[Part]) -> int:
    """The number of partitions; 1 if the window cannot be split, because then the execution fails at its start."""
    created = next((part.count for part in parts if part.name != COLLECT), None)
    if created is not None:
        return created
    assert execution.batch is not None
    assert execution.batch.partitions is not None
    try:
        return len(execution.batch.partitions.split(execution.window, zone_of(job.schedule)))
    except Invalid:
        return 1


def _in_order(partitions: Sequence[Part]) -> list[Part]:
    """The partitions without a slot. Partitions that have requested a slot come first."""
    waiting = [part for part in partitions if part.status not in FINAL | SLOT_HOLDING_STATUSES]
    return sorted(waiting, key=lambda part: (part.status is Status.QUEUED, part.number))


def _pending(part: Part, now: datetime) -> PendingPartition:
    not_before = (part.retry_at - now).total_seconds() if part.status is Status.RETRYING and part.retry_at else 0.0
    elapsed = busy_seconds(part) if part.checkpoint else 0.0
    return PendingPartition(number=part.number, not_before=max(not_before, 0.0), elapsed=elapsed)


def _running_of(
    partitions: Sequence[Part], execution: Execution, ended: Sequence[tuple[int, float]], now: datetime
) -> list[RunningPartition]:
    """The running partitions, which are as uneven as the samples of all of them show."""
    running = [_running(part, execution, now) for part in partitions if part.status in SLOT_HOLDING_STATUSES]
    unevenness = unevenness_of(execution.outlook.part_samples if execution.outlook else (), running, ended)
    return [replace(one, pace=one.pace and replace(one.pace, unevenness=unevenness)) for one in running]


def _running(part: Part, execution: Execution, now: datetime) -> RunningPartition:
    """As of the last report of any partition, or as of ``REPORT_GRACE`` ago if that report is older."""
    elapsed = _elapsed(part, now)
    if part.progress is None or execution.progress_at is None:
        return RunningPartition(number=part.number, elapsed=elapsed)
    ago = min(max((now - execution.progress_at).total_seconds(), 0.0), REPORT_GRACE.total_seconds(), elapsed)
    pace = Pace(fraction=part.progress.percent / 100, elapsed=elapsed - ago, precision=precision_of(part.progress))
    return RunningPartition(number=part.number, elapsed=elapsed - ago, pace=pace, reported_ago=ago)


def _elapsed(part: Part, now: datetime) -> float:
    """How long a part has run: with its earlier attempts, if it resumed from a checkpoint."""
    if part.started_at is None or part.status is not Status.RUNNING:
        return 0.0
    return (now - part.started_at).total_seconds() + (busy_seconds(part) if part.checkpoint else 0.0)


def _is_unstarted(execution: Execution) -> bool:
    return execution.deadline_at is not None and execution.status is not Status.RUNNING


def _has_failed(part: Part) -> bool:
    """Whether a part has failed for good, or is to be retried."""
    failed = part.status in FINAL and part.status is not Status.SUCCEEDED
    is_retried = part.status not in FINAL and any(one.outcome not in UNCOUNTED_OUTCOMES for one in part.attempts)
    return failed or is_retried


def _failure(part: Part) -> str:
    error = f": {part.error.type}: {part.error.message[:MAX_CAUSE_ERROR_CHARACTERS]}" if part.error else ""
    return f": {part.name}{error}"


def _start_delay(parts: Sequence[Part]) -> float:
    """How long the containers of this execution took to start, from the grant of a slot on."""
    started = [(part.started_at, part.granted_at) for part in parts if part.started_at and part.granted_at]
    delays = [(started_at - granted_at).total_seconds() for started_at, granted_at in started]
    return max(median(delays), 0.0) if delays else 0.0


def _latest_start(execution: Execution, seconds: float) -> datetime:
    return latest_start(execution.deadline_at, execution.earliest_start, execution.priority, round(seconds))


def _held(lane: LaneOutlook | None, own: Sequence[Part], now: datetime) -> Iterator[Held]:
    groups = list(lane.holding) if lane else []
    for part in own:
        if lane and _held_slot_at(part, lane.at):
            release = expected_release(part, lane.at)
            _remove_nearest(groups, [abs(group.until - release) for group in groups])
    for group in groups:
        yield Held(max((group.until - now).total_seconds(), 0.0), group.tasks, group.cpu)


def _waiting(lane: LaneOutlook | None, own: Sequence[Part], now: datetime) -> Iterator[Waiting]:
    groups = list(lane.demand) if lane else []
    for part in own:
        if lane and _waited_at(part, lane.at):
            _remove_nearest(groups, [abs(group.latest_start - part.latest_start) for group in groups])
    for group in groups:
        latest = (group.latest_start - now).total_seconds()
        yield Waiting(latest, group.seconds, group.tasks, group.cpu // group.tasks)


def _planned(lane: LaneOutlook | None, execution: Execution, now: datetime) -> Iterator[Planned]:
    """Other executions that are due before the deadline of this one."""
    for one in lane.planned if lane else ():
        is_due = execution.deadline_at is None or one.at < execution.deadline_at
        if is_due and one.execution_id != execution.execution_id:
            latest = (one.latest_start - now).total_seconds()
            parts = Waiting(latest, one.seconds, one.tasks, one.cpu // one.tasks)
            yield Planned(max((one.at - now).total_seconds(), 0.0), parts)


def _remove_nearest(groups: list[G], distances: Sequence[timedelta]) -> None:
    """Remove one part from the nearest group: the lane's outlook also contains the execution's own parts."""
    if not groups:
        return
    place = distances.index(min(distances))
    group = groups[place]
    rest = replace(group, tasks=group.tasks - 1, cpu=group.cpu - group.cpu // group.tasks)
    groups[place : place + 1] = [rest] if rest.tasks else []


def _held_slot_at(part: Part, at: datetime) -> bool:
    had_ended = part.status not in SLOT_HOLDING_STATUSES and not any(one.ended_at > at for one in part.attempts[-1:])
    return part.granted_at is not None and part.granted_at <= at and not had_ended


def _waited_at(part: Part, at: datetime) -> bool:
    waited = part.status is Status.WAITING or (part.granted_at is not None and part.granted_at > at)
    return part.requested_at is not None and part.requested_at <= at and waited
