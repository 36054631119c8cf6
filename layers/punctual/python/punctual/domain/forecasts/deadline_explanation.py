"""The wording of a deadline forecast: why an execution is in danger, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from punctual.domain.executions.execution import UNCOUNTED_OUTCOMES, Execution, Outcome
from punctual.domain.executions.remedy import CauseCode, Remedy, RemedyAction
from punctual.domain.forecasts.forecast import Forecast, Wait
from punctual.domain.forecasts.run_history import MIN_RUNS
from punctual.domain.forecasts.run_time import RunTime, RunTimeSource
from punctual.domain.forecasts.system_load import SystemLoad
from punctual.domain.lane import Lane
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.notices.notice import format_duration
from punctual.domain.status import Status

TIMEOUT_SHARE = 0.999
"""A run that is expected to take this share of its timeout, or more, is expected to be stopped by it."""
SLOW_FACTOR = 1.25
"""A run that is expected to take longer than this multiple of the median is slower than usual."""
STARVATION_THRESHOLD = timedelta(seconds=30)
"""An execution that is due for longer than this, with nothing ahead of it, and has not started is starved."""
MAX_CAUSE_ERROR_CHARACTERS = 200

LATER_DEADLINE = Remedy(RemedyAction.EDIT_JOB, "deadline", "a later deadline leaves more time")
LESS_WORK = Remedy(RemedyAction.EDIT_JOB, "parameters", "less work ends earlier")
MORE_PARTITIONS = Remedy(RemedyAction.EDIT_JOB, "partitions", "more partitions end earlier, from the next execution on")
EARLIER = Remedy(RemedyAction.EDIT_JOB, "schedule", "an earlier due instant leaves more time")

EXPECTATIONS = {
    RunTimeSource.HISTORY: "usually takes",
    RunTimeSource.DECLARED: "is expected to take",
    RunTimeSource.TIMEOUT: "may take up to",
}


@dataclass(frozen=True)
class Explanation:
    """The same statement as text for people and as values for programs."""

    code: CauseCode
    cause: str
    remedy: str
    remedies: tuple[Remedy, ...]
    """The most promising first."""


@dataclass(frozen=True)
class UpstreamEnd:
    """The expected end of the upstream with the latest median end."""

    job_id: str
    name: str
    median_end: datetime
    p95_end: datetime


@dataclass(frozen=True, kw_only=True)
class ForecastBasis:
    """The values that the forecast of an execution was computed from."""

    run_time: RunTime
    source: RunTimeSource
    wait: Wait
    runs_used: int = 0
    """The number of recorded runs behind ``run_time``."""
    upstream: UpstreamEnd | None = None
    """The upstream that the execution waits for."""
    effective_start: datetime | None = None
    """When the run would have started without the pauses between its attempts; ``None`` before it starts."""


def explain(
    execution: Execution, forecast: Forecast, basis: ForecastBasis, load: SystemLoad, now: datetime
) -> Explanation:
    """Name the most likely cause of the danger and a remedy, as far as the given values show them."""
    wait = basis.wait.median
    if basis.upstream is not None and wait > 0:
        return waits_for_upstream(basis.upstream, wait)
    if execution.status is Status.RETRYING and _last_outcome(execution) is Outcome.NOT_STARTED:
        return _not_started(execution)
    if any(attempt.outcome not in UNCOUNTED_OUTCOMES for attempt in execution.attempts):
        return _retrying(execution)
    if execution.status is Status.RUNNING:
        return _running(execution, forecast, basis, now)
    if execution.status is Status.STARTING:
        return Explanation(
            CauseCode.CONTAINER_STARTING,
            "not started: its container is still starting",
            "check in ECS why the container does not start: its image, the Fargate capacity",
            (Remedy(RemedyAction.CHECK_COMPONENT, "ecs", "shows why the container does not start"),),
        )
    if wait > 0 and execution.lane is Lane.LONG:
        return _waits_for_slot(execution, wait, load)
    if wait > 0:
        return _waits_in_queue(execution, forecast, wait, load, now)
    if now - execution.earliest_start > STARVATION_THRESHOLD:
        overdue = format_duration(now - execution.earliest_start)
        return Explanation(
            CauseCode.NOT_CLAIMED,
            f"starved: due {overdue} ago, but no worker has claimed it",
            "check the alarms: are the planner and the workers running?",
            (Remedy(RemedyAction.CHECK_COMPONENT, "alarms", "shows whether the planner and the workers run"),),
        )
    return _too_little_time(execution, basis)


def waits_for_upstream(upstream: UpstreamEnd, wait: float) -> Explanation:
    return Explanation(
        CauseCode.UPSTREAM,
        f"not started: waits for upstream {upstream.name}, which needs about {seconds_text(wait)} more",
        f"find out what delays {upstream.name}, schedule it earlier, or set a later deadline",
        (
            Remedy(RemedyAction.INSPECT_JOB, upstream.job_id, f"shows what delays {upstream.name}, or runs it earlier"),
            LATER_DEADLINE,
        ),
    )


def run_time_unknown(run_time: RunTime) -> Explanation:
    return Explanation(
        CauseCode.RUN_TIME_UNKNOWN,
        f"run time unknown: fewer than {MIN_RUNS} recorded runs and no expected_seconds; "
        f"{seconds_text(run_time.quantile(0.5))} is assumed",
        "set expected_seconds, or a later deadline",
        (Remedy(RemedyAction.EDIT_JOB, "expected_seconds", "the forecast uses it"), LATER_DEADLINE),
    )


def _last_outcome(execution: Execution) -> Outcome | None:
    return execution.attempts[-1].outcome if execution.attempts else None


def _not_started(execution: Execution) -> Explanation:
    return Explanation(
        CauseCode.CONTAINER_STARTING,
        f"not started: {execution.reason}",
        "request a higher quota if the cause names one; otherwise it starts when AWS has capacity",
        (LATER_DEADLINE,),
    )


def _retrying(execution: Execution) -> Explanation:
    failed = sum(attempt.outcome not in UNCOUNTED_OUTCOMES for attempt in execution.attempts)
    error = execution.error
    words = f": {error.type}: {error.message[:MAX_CAUSE_ERROR_CHARACTERS]}" if error else ""
    return Explanation(
        CauseCode.RETRYING,
        f"retrying: attempt {failed + 1} of {execution.retry.max_attempts}{words}",
        "fix the error that made the last attempt fail: see the execution's attempts and its log",
        (inspect(execution, "shows the error that made the last attempt fail"),),
    )


def inspect(execution: Execution, effect: str) -> Remedy:
    return Remedy(RemedyAction.INSPECT_EXECUTION, execution.execution_id, effect)


def _too_little_time(execution: Execution, basis: ForecastBasis) -> Explanation:
    median = seconds_text(basis.run_time.quantile(0.5))
    if basis.source is RunTimeSource.TIMEOUT:
        return run_time_unknown(basis.run_time)
    is_long = execution.lane is Lane.LONG
    change = "run it with more partitions" if is_long else "reduce its work"
    return Explanation(
        CauseCode.TOO_LITTLE_TIME,
        f"it {EXPECTATIONS[basis.source]} {median}, and its deadline leaves less time than that",
        f"schedule it earlier, {change}, or set a later deadline",
        (EARLIER, MORE_PARTITIONS if is_long else LESS_WORK, LATER_DEADLINE),
    )


def _running(execution: Execution, forecast: Forecast, basis: ForecastBasis, now: datetime) -> Explanation:
    started = basis.effective_start or now
    median, timeout = timedelta(seconds=basis.run_time.quantile(0.5)), basis.run_time.timeout
    expected = forecast.median_end - started
    ran, progress = format_duration(now - started), execution.progress
    so_far = f"{progress.percent:.0f}% done after {ran}" if progress else f"running for {ran} without reported progress"
    usual = timedelta(seconds=timeout) if basis.source is RunTimeSource.TIMEOUT else median
    facts = f"{so_far}; it {EXPECTATIONS[basis.source]} {format_duration(usual)}"
    remedy, steps = "see its log for what delays it", [inspect(execution, "shows what delays it")]
    if execution.lane is Lane.LONG:
        remedy += "; next time run it with more partitions"
        steps.append(MORE_PARTITIONS)
    if expected.total_seconds() >= TIMEOUT_SHARE * timeout:
        limit = seconds_text(execution.timeout_seconds)
        raised = Remedy(RemedyAction.EDIT_JOB, "timeout_seconds", "a longer timeout does not stop it")
        cause = f"its timeout of {limit} will stop it: {facts}"
        return Explanation(CauseCode.TIMEOUT, cause, f"{remedy}; raise timeout_seconds", (*steps, raised))
    if basis.source is not RunTimeSource.TIMEOUT and expected > SLOW_FACTOR * median:
        cause = f"slower than usual: {facts} and would take {format_duration(expected)}"
        return Explanation(CauseCode.SLOWER_THAN_USUAL, cause, remedy, tuple(steps))
    late = started - execution.earliest_start
    if late > STARVATION_THRESHOLD:
        cause = f"started {format_duration(late)} after its due instant: {facts}"
        return Explanation(CauseCode.STARTED_LATE, cause, remedy, tuple(steps))
    return leaves_too_little_time(facts)


def leaves_too_little_time(facts: str) -> Explanation:
    return Explanation(
        CauseCode.TOO_LITTLE_TIME,
        f"its deadline leaves too little time: {facts}",
        "set a later deadline, or reduce its work",
        (LATER_DEADLINE, LESS_WORK),
    )


def _waits_for_slot(execution: Execution, wait: float, load: SystemLoad) -> Explanation:
    lane = load.lane
    assert lane is not None
    # the lane's figures contain the demand of an execution only once it is waiting
    own_cpu = execution.batch.resources.cpu if execution.batch and execution.status is not Status.WAITING else 0
    vcpus = math.ceil((lane.taken_cpu + lane.waiting_cpu + own_cpu) / 1024)
    tasks = lane.taken_tasks + max(lane.waiting, 1)
    steps = list(raised_settings(load.limits, LaneLimits(tasks=tasks, cpu=vcpus * 1024)))
    remedies = [f"raise {settings_text(steps)}"] if steps else []
    if lane.laxest and lane.laxest != execution.execution_id:
        remedies.append(f"pause or cancel execution {lane.laxest}, which has the most time to spare")
        steps.append(cancel_laxest(lane.laxest))
    wait_for_it = Remedy(RemedyAction.WAIT, execution.execution_id, "a slot is about to become free")
    return Explanation(
        CauseCode.SLOT_WAIT,
        f"not started: waits for a slot of the long lane for about {seconds_text(wait)} more; "
        f"tasks running: {lane.taken_tasks}, waiting: {lane.waiting}",
        ", or ".join(remedies) or "wait: a slot is about to become free",
        tuple(steps) or (wait_for_it,),
    )


def raised_settings(now: LaneLimits, needed: LaneLimits) -> Iterator[Remedy]:
    """The settings of the long lane that have to be raised, each with its new value as the effect."""
    if needed.cpu > now.cpu:
        yield Remedy(RemedyAction.RAISE_SETTING, "long.vcpus", f"to {-(-needed.cpu // 1024)}")
    if needed.tasks > now.tasks:
        yield Remedy(RemedyAction.RAISE_SETTING, "long.tasks", f"to {needed.tasks}")


def settings_text(raised: Iterable[Remedy]) -> str:
    return " and ".join(f"{one.target} {one.effect}" for one in raised)


def cancel_laxest(execution_id: str) -> Remedy:
    return Remedy(RemedyAction.CANCEL_EXECUTION, execution_id, "frees its slots; it has the most time to spare")


def _waits_in_queue(
    execution: Execution, forecast: Forecast, wait: float, load: SystemLoad, now: datetime
) -> Explanation:
    queue, backlog = execution.priority, load.queues[execution.priority]
    cause = f"not started: waits in queue {queue} behind {backlog.depth:,} messages for about {seconds_text(wait)} more"
    spare = (forecast.latest_safe_start - now).total_seconds() if forecast.latest_safe_start else 0.0
    workers = load.concurrency.get(queue)
    setting = f"concurrency.{queue}"
    if workers and spare > 0:
        enough = f"to {math.ceil(workers * max(wait / spare, 1))}"
        raised = Remedy(RemedyAction.RAISE_SETTING, setting, enough)
        return Explanation(CauseCode.QUEUE_WAIT, cause, f"raise {setting} {enough}", (raised,))
    return Explanation(
        CauseCode.QUEUE_WAIT,
        cause,
        f"raise {setting}, or give the job a higher priority",
        (
            Remedy(RemedyAction.RAISE_SETTING, setting, "more workers drain the queue sooner"),
            Remedy(RemedyAction.EDIT_JOB, "priority", "a higher priority uses another queue"),
        ),
    )


def seconds_text(seconds: float) -> str:
    return format_duration(timedelta(seconds=seconds))
