"""The deadline forecast of one execution: when it will end, and how likely it is to meet its deadline.

All inputs are arguments: the execution, its job with the run times of earlier executions, and the load of the queues
and the long lane. The monitor's checks and API requests use the same calculation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, ProgressSample, state_after, state_since
from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.deadline_explanation import Explanation, ForecastBasis, UpstreamEnd, explain
from punctual.domain.forecasts.forecast import NO_WAIT, Forecast, Wait, forecast
from punctual.domain.forecasts.pace import Pace, precision_of
from punctual.domain.forecasts.part_progress import kept_samples
from punctual.domain.forecasts.partition_explanation import PartitionedBasis, explain_partitions
from punctual.domain.forecasts.partitioned_execution import forecast_partitioned
from punctual.domain.forecasts.queue_backlog import MAX_DRAIN_MINUTES, Backlog
from punctual.domain.forecasts.run_time import RunTime, RunTimeSource, run_time_of, run_time_source
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.long_lane.part import EXECUTION, Part
from punctual.domain.planning.upstreams import Upstream
from punctual.domain.status import Status

WAIT_P95_FACTOR = 1.5
"""The P95 of a wait as a multiple of its median: executions that arrive later may be started first."""
MAX_PROGRESS_SAMPLES = 8
"""Number of progress samples that an outlook keeps."""
HEARTBEAT_GRACE = {Lane.SHORT: timedelta(seconds=20), Lane.LONG: timedelta(seconds=60)}
"""Progress reported within this time counts as current: two heartbeat intervals of the lane."""
MIN_REMAINING_SHARE = 0.02
"""The smallest share of the work that is assumed to remain before the first or next attempt of an execution."""

PartsLookup = Callable[[Execution], Sequence[Part]]


def no_parts(_: Execution) -> Sequence[Part]:
    return ()


def last_upstream_end(
    upstreams: Iterable[Upstream], load: SystemLoad, now: datetime, parts_of: PartsLookup = no_parts
) -> UpstreamEnd | None:
    """Return ``None`` when no upstream is left to wait for, or none can be forecast."""
    ends = [
        _end_of(one, one.job, one.due, load, now, parts_of)
        for one in upstreams
        if one.job and one.due and not one.ended
    ]
    return max(ends, key=lambda end: end.median_end, default=None)


def _end_of(
    upstream: Upstream, job: Job, due: datetime, load: SystemLoad, now: datetime, parts_of: PartsLookup
) -> UpstreamEnd:
    """From the outlook of its last check; without one, from its own run times, which ignores its own upstreams."""
    execution = upstream.execution or execution_of(job, due, status=Status.SCHEDULED, now=now)
    end = execution.outlook or _forecast(execution, job, load, now, None, parts_of(execution))[0]
    return UpstreamEnd(job.job_id, job.display_name, max(end.median_end, now), max(end.p95_end, now))


def outlook_of(
    execution: Execution,
    job: Job,
    load: SystemLoad,
    now: datetime,
    upstream: UpstreamEnd | None = None,
    parts: Sequence[Part] = (),
) -> Outlook:
    """Assess a live execution that has a deadline. The outlook has a cause and a remedy unless it is on track.

    ``parts`` are those of a partitioned execution, once they exist.
    """
    assert execution.deadline_at is not None
    expected, basis = _forecast(execution, job, load, now, upstream, parts)
    before = execution.outlook
    probability = expected.probability or 0.0
    state = state_after(before.state if before else None, probability, execution.deadline_at, now)
    on_track = state is DeadlineState.ON_TRACK
    explanation = None if on_track else _explain(execution, expected, basis, load, now)
    return Outlook(
        state=state,
        probability=probability,
        median_end=expected.median_end,
        p95_end=expected.p95_end,
        latest_safe_start=expected.latest_safe_start,
        cause=explanation.cause if explanation else None,
        remedy=explanation.remedy if explanation else None,
        cause_code=explanation.code if explanation else None,
        remedies=explanation.remedies if explanation else (),
        since=state_since(before, state, execution.deadline_at, now),
        runs_used=basis.runs_used,
        checked_at=now,
        progress_samples=_progress_samples(execution, now),
        part_samples=kept_samples(before.part_samples if before else (), basis.work.running)
        if isinstance(basis, PartitionedBasis)
        else (),
    )


def forecast_end(
    execution: Execution,
    job: Job,
    load: SystemLoad,
    now: datetime,
    upstream: UpstreamEnd | None = None,
    parts: Sequence[Part] = (),
) -> Forecast:
    """Forecast the end of a live execution, with or without a deadline."""
    return _forecast(execution, job, load, now, upstream, parts)[0]


def _explain(
    execution: Execution, expected: Forecast, basis: ForecastBasis | PartitionedBasis, load: SystemLoad, now: datetime
) -> Explanation:
    if isinstance(basis, PartitionedBasis):
        return explain_partitions(execution, expected, basis, now)
    return explain(execution, expected, basis, load, now)


def _forecast(
    execution: Execution,
    job: Job,
    load: SystemLoad,
    now: datetime,
    upstream: UpstreamEnd | None,
    parts: Sequence[Part],
) -> tuple[Forecast, ForecastBasis | PartitionedBasis]:
    if execution.is_partitioned:
        wait = _upstream_wait(upstream, execution, now) if upstream else NO_WAIT
        return forecast_partitioned(execution, job, load, now, parts, wait, upstream)
    run_time, source, runs_used = _run_time(execution, job)
    if execution.status is Status.RUNNING:
        start = _effective_start(execution)
        basis = ForecastBasis(run_time=run_time, source=source, runs_used=runs_used, wait=Wait(), effective_start=start)
        return _forecast_running(execution, run_time, now), basis
    run_time = run_time.scaled(_remaining_share(execution))
    wait = _upstream_wait(upstream, execution, now) if upstream else _capacity_wait(execution, run_time, load, now)
    expected = forecast(
        now=now,
        run_time=run_time,
        not_before=execution.retry_at or execution.earliest_start,
        wait=wait,
        started_at=None,
        pace=None,
        deadline_at=execution.deadline_at,
    )
    return expected, ForecastBasis(run_time=run_time, source=source, runs_used=runs_used, wait=wait, upstream=upstream)


def _forecast_running(execution: Execution, run_time: RunTime, now: datetime) -> Forecast:
    """Forecast as of the last progress report, or as of ``HEARTBEAT_GRACE`` ago when that report is older.

    A report that is missing for longer than the grace period counts as standstill. Without any report, forecast as of
    now.
    """
    as_of = now
    if execution.progress is not None and execution.progress_at is not None:
        as_of = min(max(execution.progress_at, now - HEARTBEAT_GRACE[execution.lane]), now)
    expected = forecast(
        now=as_of,
        run_time=run_time,
        not_before=execution.earliest_start,
        wait=Wait(),
        started_at=_effective_start(execution),
        pace=_pace(execution, as_of),
        deadline_at=execution.deadline_at,
    )
    return replace(expected, median_end=max(expected.median_end, now), p95_end=max(expected.p95_end, now))


def _effective_start(execution: Execution) -> datetime | None:
    """The start that the run would have had without the gaps between its finished attempts.

    In the long lane, the time between attempts is not run time. The record of a running execution has only the start of
    its first attempt, so these gaps are added to it. The gap before the current attempt is not recorded: it counts as
    run time.
    """
    start = execution.started_at
    if start is None or execution.lane is not Lane.LONG:
        return start
    gaps = (later.started_at - earlier.ended_at for earlier, later in pairwise(execution.attempts) if later.started_at)
    return start + sum(gaps, timedelta())


def _remaining_share(execution: Execution) -> float:
    """The share of the work that is left before the first or next attempt.

    A preempted execution resumes from its checkpoint. After a failure, all of the work is assumed to remain.
    """
    progress, attempts = execution.progress, execution.attempts
    if execution.lane is not Lane.LONG or progress is None:
        return 1.0
    done = progress.percent / 100 if attempts and attempts[-1].outcome in UNCOUNTED_OUTCOMES else 0.0
    return max(1 - done, MIN_REMAINING_SHARE)


def _run_time(execution: Execution, job: Job) -> tuple[RunTime, RunTimeSource, int]:
    """The run time of the whole execution, its source, and the number of runs behind it.

    In the long lane the timeout is per attempt.
    """
    runs, declared = job.run_times.get(EXECUTION, ()), job.expected_seconds
    attempts = len(execution.attempts) + 1 if execution.lane is Lane.LONG else 1
    run_time = run_time_of(runs, declared, execution.timeout_seconds * attempts)
    source = run_time_source(runs, declared)
    return run_time, source, len(runs) if source is RunTimeSource.HISTORY else 0


def _upstream_wait(upstream: UpstreamEnd, execution: Execution, now: datetime) -> Wait:
    since = max(now, execution.earliest_start)
    median, p95 = ((end - since).total_seconds() for end in (upstream.median_end, upstream.p95_end))
    return Wait(max(median, 0.0), max(p95, 0.0))


def _capacity_wait(execution: Execution, run_time: RunTime, load: SystemLoad, now: datetime) -> Wait:
    """The time until a slot or a worker is free for the execution: from now, or in the short lane from its release.

    The lane's future load is unknown, so an execution of the long lane that is released later has no wait.
    """
    if execution.lane is Lane.LONG:
        if load.lane is None or execution.deadline_at is None or execution.earliest_start > now:
            return Wait()
        latest_start = execution.deadline_at - timedelta(seconds=run_time.quantile(0.9))
        seconds = (load.lane.start_of(latest_start, now) - now).total_seconds()
    else:
        backlog = load.queues.get(execution.priority)
        seconds = 0.0 if backlog is None or execution.retry_at else _queue_wait(backlog, execution.earliest_start, now)
    return Wait(seconds, seconds * WAIT_P95_FACTOR)


def _queue_wait(backlog: Backlog, earliest_start: datetime, now: datetime) -> float:
    """Seconds from now, or from the release if later, until the messages that are ahead at that time have started."""
    depth, capacity, arrival = backlog.depth, backlog.capacity_per_minute, backlog.arrival_per_minute or 0.0
    if depth is None or capacity is None:
        return 0.0
    waited = (now - earliest_start) / timedelta(minutes=1)
    ahead = depth - arrival * waited if waited > 0 else depth + (arrival - capacity) * -waited
    if ahead <= 0:
        return 0.0
    return min(ahead / capacity, MAX_DRAIN_MINUTES) * 60 if capacity else MAX_DRAIN_MINUTES * 60


def _pace(execution: Execution, as_of: datetime) -> Pace | None:
    """The current progress, and the kept samples of this run."""
    progress, start = execution.progress, _effective_start(execution)
    if progress is None or start is None:
        return None
    reported_at = min(execution.progress_at or as_of, as_of)
    kept = execution.outlook.progress_samples if execution.outlook else ()
    samples = tuple(
        ((one.at - start).total_seconds(), one.percent / 100) for one in kept if start < one.at < reported_at
    )
    return Pace(
        fraction=progress.percent / 100,
        elapsed=max((reported_at - start).total_seconds(), 0.0),
        samples=samples,
        precision=precision_of(progress),
    )


def _progress_samples(execution: Execution, now: datetime) -> tuple[ProgressSample, ...]:
    """The kept samples, and the current progress if the newest of them is old enough.

    They are spread over the run so far, however often the deadline is checked: if there are too many, every second one
    is dropped.
    """
    before = execution.outlook.progress_samples if execution.outlook else ()
    if execution.progress is None or execution.status is not Status.RUNNING or execution.started_at is None:
        return before
    at = execution.progress_at or now
    if before and at - before[-1].at < (at - execution.started_at) / (2 * MAX_PROGRESS_SAMPLES):
        return before
    samples = (*before, ProgressSample(at, execution.progress.percent))
    return samples if len(samples) <= MAX_PROGRESS_SAMPLES else samples[::2]
