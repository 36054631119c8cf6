"""The wording of a deadline forecast: why an execution is in danger, and what to do about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Execution
from punctual.domain.forecasts.forecast import Forecast, Wait
from punctual.domain.forecasts.run_history import MIN_RUNS
from punctual.domain.forecasts.run_time import RunTime, RunTimeSource
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.lane import Lane
from punctual.domain.notices.notice import format_duration
from punctual.domain.status import Status

TIMEOUT_SHARE = 0.999
"""A run that is expected to take this share of its timeout, or more, is expected to be stopped by it."""
SLOW_FACTOR = 1.25
"""A run that is expected to take longer than this multiple of the median is slower than usual."""
STARVATION_THRESHOLD = timedelta(seconds=30)
"""An execution that is due for longer than this, with nothing ahead of it, and has not started is starved."""
MAX_CAUSE_ERROR_CHARACTERS = 200

EXPECTATIONS = {
    RunTimeSource.HISTORY: "usually takes",
    RunTimeSource.DECLARED: "is expected to take",
    RunTimeSource.TIMEOUT: "may take up to",
}


@dataclass(frozen=True)
class Explanation:
    cause: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class ForecastBasis:
    """The values that the forecast of an execution was computed from."""

    run_time: RunTime
    source: RunTimeSource
    wait: Wait
    upstream: str | None = None
    """Name of the upstream job that the execution waits for."""
    effective_start: datetime | None = None
    """When the run would have started without the pauses between its attempts; ``None`` before it starts."""


def explain(
    execution: Execution, forecast: Forecast, basis: ForecastBasis, load: SystemLoad, now: datetime
) -> Explanation:
    """Name the most likely cause of the danger and a remedy, as far as the given values show them."""
    wait = basis.wait.median
    if basis.upstream is not None and wait > 0:
        return waits_for_upstream(basis.upstream, wait)
    if any(attempt.outcome not in UNCOUNTED_OUTCOMES for attempt in execution.attempts):
        return _retrying(execution)
    if execution.status is Status.RUNNING:
        return _running(execution, forecast, basis, now)
    if execution.status is Status.STARTING:
        return Explanation(
            "not started: its container is still starting",
            "check in ECS why the container does not start: its image, the Fargate capacity",
        )
    if wait > 0 and execution.lane is Lane.LONG:
        return _waits_for_slot(execution, wait, load)
    if wait > 0:
        return _waits_in_queue(execution, forecast, wait, load, now)
    if now - execution.earliest_start > STARVATION_THRESHOLD:
        overdue = format_duration(now - execution.earliest_start)
        return Explanation(
            f"starved: due {overdue} ago, but no worker has claimed it",
            "check the alarms: are the planner and the workers running?",
        )
    return _too_little_time(execution, basis)


def waits_for_upstream(upstream: str, wait: float) -> Explanation:
    return Explanation(
        f"not started: waits for upstream {upstream}, which needs about {seconds_text(wait)} more",
        f"find out what delays {upstream}, schedule it earlier, or set a later deadline",
    )


def run_time_unknown(run_time: RunTime) -> Explanation:
    return Explanation(
        f"run time unknown: fewer than {MIN_RUNS} recorded runs and no expected_seconds; "
        f"{seconds_text(run_time.quantile(0.5))} is assumed",
        "set expected_seconds, or a later deadline",
    )


def _retrying(execution: Execution) -> Explanation:
    failed = sum(attempt.outcome not in UNCOUNTED_OUTCOMES for attempt in execution.attempts)
    error = execution.error
    words = f": {error.type}: {error.message[:MAX_CAUSE_ERROR_CHARACTERS]}" if error else ""
    return Explanation(
        f"retrying: attempt {failed + 1} of {execution.retry.max_attempts}{words}",
        "fix the error that made the last attempt fail: see the execution's attempts and its log",
    )


def _too_little_time(execution: Execution, basis: ForecastBasis) -> Explanation:
    median = seconds_text(basis.run_time.quantile(0.5))
    if basis.source is RunTimeSource.TIMEOUT:
        return run_time_unknown(basis.run_time)
    change = "run it with more partitions" if execution.lane is Lane.LONG else "reduce its work"
    return Explanation(
        f"it {EXPECTATIONS[basis.source]} {median}, and its deadline leaves less time than that",
        f"schedule it earlier, {change}, or set a later deadline",
    )


def _running(execution: Execution, forecast: Forecast, basis: ForecastBasis, now: datetime) -> Explanation:
    started = basis.effective_start or now
    median, timeout = timedelta(seconds=basis.run_time.quantile(0.5)), basis.run_time.timeout
    expected = forecast.median_end - started
    ran, progress = format_duration(now - started), execution.progress
    so_far = f"{progress.percent:.0f}% done after {ran}" if progress else f"running for {ran} without reported progress"
    usual = timedelta(seconds=timeout) if basis.source is RunTimeSource.TIMEOUT else median
    facts = f"{so_far}; it {EXPECTATIONS[basis.source]} {format_duration(usual)}"
    remedy = "see its log for what delays it"
    if execution.lane is Lane.LONG:
        remedy += "; next time run it with more partitions"
    if expected.total_seconds() >= TIMEOUT_SHARE * timeout:
        limit = seconds_text(execution.timeout_seconds)
        return Explanation(f"its timeout of {limit} will stop it: {facts}", f"{remedy}; raise timeout_seconds")
    if basis.source is not RunTimeSource.TIMEOUT and expected > SLOW_FACTOR * median:
        return Explanation(f"slower than usual: {facts} and would take {format_duration(expected)}", remedy)
    late = started - execution.earliest_start
    if late > STARVATION_THRESHOLD:
        return Explanation(f"started {format_duration(late)} after its due instant: {facts}", remedy)
    return Explanation(f"its deadline leaves too little time: {facts}", "set a later deadline, or reduce its work")


def _waits_for_slot(execution: Execution, wait: float, load: SystemLoad) -> Explanation:
    lane = load.lane
    assert lane is not None
    # the lane's figures contain the demand of an execution only once it is waiting
    own_cpu = execution.batch.resources.cpu if execution.batch and execution.status is not Status.WAITING else 0
    vcpus = math.ceil((lane.taken_cpu + lane.waiting_cpu + own_cpu) / 1024)
    tasks = lane.taken_tasks + max(lane.waiting, 1)
    raised = [
        f"long.vcpus to {vcpus}" if vcpus * 1024 > load.limits.cpu else "",
        f"long.tasks to {tasks}" if tasks > load.limits.tasks else "",
    ]
    remedies = [f"raise {' and '.join(filter(None, raised))}"] if any(raised) else []
    if lane.laxest and lane.laxest != execution.execution_id:
        remedies.append(f"pause or cancel execution {lane.laxest}, which has the most time to spare")
    return Explanation(
        f"not started: waits for a slot of the long lane for about {seconds_text(wait)} more; "
        f"tasks running: {lane.taken_tasks}, waiting: {lane.waiting}",
        ", or ".join(remedies) or "wait: a slot is about to become free",
    )


def _waits_in_queue(
    execution: Execution, forecast: Forecast, wait: float, load: SystemLoad, now: datetime
) -> Explanation:
    queue, backlog = execution.priority, load.queues[execution.priority]
    cause = f"not started: waits in queue {queue} behind {backlog.depth:,} messages for about {seconds_text(wait)} more"
    spare = (forecast.latest_safe_start - now).total_seconds() if forecast.latest_safe_start else 0.0
    workers = load.concurrency.get(queue)
    if workers and spare > 0:
        return Explanation(cause, f"raise concurrency.{queue} to {math.ceil(workers * max(wait / spare, 1))}")
    return Explanation(cause, f"raise concurrency.{queue}, or give the job a higher priority")


def seconds_text(seconds: float) -> str:
    return format_duration(timedelta(seconds=seconds))
