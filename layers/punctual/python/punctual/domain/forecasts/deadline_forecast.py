"""The prospect of one execution: when it will end, why that may be too late, and what would help.

All that it is told from is passed in: the execution, its job with the run times of earlier ones, and how crowded the
queues and the long lane are. So the monitor's check and a person's question get the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, Seen, state_after
from punctual.domain.executions.execution import UNCOUNTED, Execution
from punctual.domain.executions.execution_factory import execution_of
from punctual.domain.forecasts.forecast import Forecast, Pace, Wait, forecast
from punctual.domain.forecasts.queue_backlog import NEVER, Backlog
from punctual.domain.forecasts.run_history import FEWEST_RELIED_ON
from punctual.domain.forecasts.run_time import RunTime, run_time_of
from punctual.domain.jobs.job import Job
from punctual.domain.lane import Lane
from punctual.domain.long_lane.lane_forecast import LaneOutlook
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import EXECUTION
from punctual.domain.notices.notice import spelled
from punctual.domain.planning.upstreams import Upstream
from punctual.domain.status import Status

UNSURE = 1.5
"""A wait's P95, as a multiple of its median: those who come later may be let in before."""

SEEN_KEPT = 5
SILENCE = {Lane.SHORT: timedelta(seconds=20), Lane.LONG: timedelta(seconds=60)}
"""What was told no longer ago than this is as good as told now: two heartbeats."""
LEAST_LEFT = 0.02
NEARLY = 0.999
SLOWER = 1.25
"""A run that will take this much longer than the median is slower than usual."""
STARVED = timedelta(seconds=30)
"""Due for so long, with nothing before it, and not started: somebody should look why."""


class Source(StrEnum):
    """What a run time is told from, and so how to speak of it."""

    RUNS = "usually takes"
    DECLARED = "is expected to take"
    TIMEOUT = "may take up to"


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What an execution shares with others. Unknown is fine: then it counts as nothing in the way."""

    limits: LaneLimits
    concurrency: Mapping[str, int]
    queues: Mapping[str, Backlog] = field(default_factory=dict)
    lane: LaneOutlook | None = None


@dataclass(frozen=True)
class Prospect:
    forecast: Forecast
    cause: str
    remedy: str


@dataclass(frozen=True)
class Awaited:
    """Of what an execution depends on, the one that will end last."""

    name: str
    median_end: datetime
    p95_end: datetime


def awaited_of(upstreams: Iterable[Upstream], around: Surroundings, now: datetime) -> Awaited | None:
    """``None`` when nothing is left to wait for, or nothing can be told of it."""
    ends = [_end_of(one, one.job, one.due, around, now) for one in upstreams if one.job and one.due and not one.ended]
    return max(ends, key=lambda one: one.median_end, default=None)


def _end_of(upstream: Upstream, job: Job, due: datetime, around: Surroundings, now: datetime) -> Awaited:
    """As the last look at its deadline found, or from its own run times. What it waits for itself is left out."""
    execution = upstream.execution or execution_of(job, due, status=Status.SCHEDULED, now=now)
    told = execution.outlook or prospect_of(execution, job, around, now).forecast
    return Awaited(job.name, max(told.median_end, now), max(told.p95_end, now))


def outlook_of(
    execution: Execution, job: Job, around: Surroundings, now: datetime, awaited: Awaited | None = None
) -> Outlook:
    """What a look at a live execution with a deadline finds. Cause and remedy are given while it is in danger."""
    assert execution.deadline_at is not None
    prospect = prospect_of(execution, job, around, now, awaited)
    before = execution.outlook
    probability = prospect.forecast.probability or 0.0
    state = state_after(before.state if before else None, probability, execution.deadline_at, now)
    fine = state is DeadlineState.ON_TRACK
    return Outlook(
        state=state,
        probability=probability,
        median_end=prospect.forecast.median_end,
        p95_end=prospect.forecast.p95_end,
        latest_safe_start=prospect.forecast.latest_safe_start,
        cause=None if fine else prospect.cause,
        remedy=None if fine else prospect.remedy,
        checked_at=now,
        seen=_seen(execution, now),
    )


def prospect_of(
    execution: Execution, job: Job, around: Surroundings, now: datetime, awaited: Awaited | None = None
) -> Prospect:
    run_time, source = _run_time(execution, job)
    if execution.status is Status.RUNNING:
        wait, told = Wait(), _while_running(execution, run_time, now)
    else:
        run_time = run_time.of(_left_to_do(execution))
        wait = _until(awaited, execution, now) if awaited else _wait(execution, run_time, around, now)
        told = forecast(
            now=now,
            run_time=run_time,
            not_before=execution.retry_at or execution.released_at,
            wait=wait,
            started_at=None,
            pace=None,
            deadline_at=execution.deadline_at,
        )
    if awaited is not None and wait.median > 0:
        rest = spelled(timedelta(seconds=wait.median))
        return Prospect(
            told,
            f"not started: waits for {awaited.name}, which will take about {rest} more",
            f"see what holds {awaited.name} up, let it start earlier, or give a later deadline",
        )
    cause, remedy = _why(execution, told, run_time, source, wait, around, now)
    return Prospect(told, cause, remedy)


def _while_running(execution: Execution, run_time: RunTime, now: datetime) -> Forecast:
    """As of when it last told its progress, unless that is so long ago that its silence says something."""
    as_of = now
    if execution.progress is not None and execution.progress_at is not None:
        as_of = min(max(execution.progress_at, now - SILENCE[execution.lane]), now)
    told = forecast(
        now=as_of,
        run_time=run_time,
        not_before=execution.released_at,
        wait=Wait(),
        started_at=_begun(execution),
        pace=_pace(execution, as_of),
        deadline_at=execution.deadline_at,
    )
    return replace(told, median_end=max(told.median_end, now), p95_end=max(told.p95_end, now))


def _begun(execution: Execution) -> datetime | None:
    """When it would have begun if it had run in one go: what came between attempts of a long one is no run time. Of the
    one that runs now only the very first start is known."""
    begun = execution.started_at
    if begun is None or execution.lane is not Lane.LONG:
        return begun
    rests = (later.started_at - earlier.ended_at for earlier, later in pairwise(execution.attempts) if later.started_at)
    return begun + sum(rests, timedelta())


def _left_to_do(execution: Execution) -> float:
    """The share of the work that is before one that does not run: partitions that have ended stay so, and who was
    asked to leave goes on from its checkpoint. Who failed may have to start over."""
    progress, attempts = execution.progress, execution.attempts
    if execution.lane is not Lane.LONG or progress is None:
        return 1.0
    if execution.batch is not None and execution.batch.partitions is not None:
        done = (progress.done or 0.0) / progress.total if progress.total else 0.0
    else:
        done = progress.percent / 100 if attempts and attempts[-1].outcome in UNCOUNTED else 0.0
    return max(1 - done, LEAST_LEFT)


def _run_time(execution: Execution, job: Job) -> tuple[RunTime, Source]:
    """Of the whole, and what it is told from. A time-out is of one attempt at one partition, and
    what was declared of one partition: as often as not all may run at once they come one after the other."""
    runs = job.run_times.get(EXECUTION, ())
    rounds = _rounds(execution)
    declared = job.expected_seconds * rounds if job.expected_seconds else None
    attempts = len(execution.attempts) + 1 if execution.lane is Lane.LONG else 1
    run_time = run_time_of(runs, declared, execution.timeout_seconds * rounds * attempts)
    if len(runs) >= FEWEST_RELIED_ON:
        return run_time, Source.RUNS
    return run_time, Source.DECLARED if declared else Source.TIMEOUT


def _rounds(execution: Execution) -> int:
    partitions = execution.batch.partitions if execution.batch else None
    if partitions is None or partitions.at_once is None:
        return 1
    known = partitions.count or len(partitions.of or ())
    total = execution.progress.total if execution.progress else None  # partitions, once they are cut
    return max(math.ceil((known or total or partitions.at_once) / partitions.at_once), 1)


def _until(awaited: Awaited, execution: Execution, now: datetime) -> Wait:
    since = max(now, execution.released_at)
    median, p95 = ((end - since).total_seconds() for end in (awaited.median_end, awaited.p95_end))
    return Wait(max(median, 0.0), max(p95, 0.0))


def _wait(execution: Execution, run_time: RunTime, around: Surroundings, now: datetime) -> Wait:
    """From when it may start to when it will."""
    if execution.lane is Lane.LONG:
        if around.lane is None or execution.deadline_at is None or execution.released_at > now:
            return Wait()
        latest_start = execution.deadline_at - timedelta(seconds=run_time.quantile(0.9))
        seconds = (around.lane.start_of(latest_start, now) - now).total_seconds()
    else:
        backlog = around.queues.get(execution.priority)
        seconds = 0.0 if backlog is None or execution.retry_at else _behind(backlog, execution.released_at, now)
    return Wait(seconds, seconds * UNSURE)


def _behind(backlog: Backlog, released_at: datetime, now: datetime) -> float:
    """Seconds until those have started that wait longer, now or when it is due."""
    depth, capacity, arrival = backlog.depth, backlog.capacity_per_minute, backlog.arrival_per_minute or 0.0
    if depth is None or capacity is None:
        return 0.0
    waited = (now - released_at) / timedelta(minutes=1)
    ahead = depth - arrival * waited if waited > 0 else depth + (arrival - capacity) * -waited
    if ahead <= 0:
        return 0.0
    return min(ahead / capacity, NEVER) * 60 if capacity else NEVER * 60


def _pace(execution: Execution, as_of: datetime) -> Pace | None:
    """How far it is, and how far it was some looks ago."""
    progress, begun = execution.progress, _begun(execution)
    if progress is None or begun is None:
        return None
    told_at = min(execution.progress_at or as_of, as_of)
    looks = execution.outlook.seen if execution.outlook else ()
    earlier = next((look for look in looks if begun < look.at < told_at), None)
    return Pace(
        fraction=progress.percent / 100,
        elapsed=max((told_at - begun).total_seconds(), 0.0),
        earlier_fraction=earlier.percent / 100 if earlier else None,
        earlier_elapsed=(earlier.at - begun).total_seconds() if earlier else None,
    )


def _seen(execution: Execution, now: datetime) -> tuple[Seen, ...]:
    """With how far it is now; spread over about the last quarter of its run, however dense the looks are."""
    before = execution.outlook.seen if execution.outlook else ()
    if execution.progress is None or execution.status is not Status.RUNNING or execution.started_at is None:
        return before
    at = execution.progress_at or now
    if before and at - before[-1].at < (at - execution.started_at) / (4 * SEEN_KEPT):
        return before
    return (*before, Seen(at, execution.progress.percent))[-SEEN_KEPT:]


def _why(
    execution: Execution,
    told: Forecast,
    run_time: RunTime,
    source: Source,
    wait: Wait,
    around: Surroundings,
    now: datetime,
) -> tuple[str, str]:
    """The cause of a danger and what would help, as far as they can be told from here."""
    usual = spelled(timedelta(seconds=run_time.quantile(0.5)))
    failed = [attempt for attempt in execution.attempts if attempt.outcome not in UNCOUNTED]
    if failed:
        error = f": {execution.error.type}: {execution.error.message[:200]}" if execution.error else ""
        cause = f"retrying: attempt {len(failed) + 1} of {execution.retry.max_attempts}{error}"
        return cause, "mend what made it fail: its attempts and their log tell"
    if execution.status is Status.RUNNING:
        return _why_running(execution, told, run_time, source, now)
    if execution.status is Status.STARTING:
        return "not started: its container has not come up yet", "see whether ECS can start it: its image, its capacity"
    if wait.median > 0 and execution.lane is Lane.LONG:
        return _why_no_slot(execution, wait, around)
    if wait.median > 0:
        return _why_in_queue(execution, told, wait, around, now)
    if now - execution.released_at > STARVED:
        waits = spelled(now - execution.released_at)
        return f"starved: due {waits} ago, and nobody has taken it", "see the alarms: does the scheduler run?"
    if source is Source.TIMEOUT:
        return (
            f"it has too few runs to tell: {usual} is as likely to be too short as too long",
            "give expected_seconds, or a later deadline",
        )
    return (
        f"it {source} {usual}, and its deadline leaves it too little time",
        "let it start earlier, run with more partitions, or give a later deadline"
        if execution.lane is Lane.LONG
        else "let it start earlier, make it smaller, or give a later deadline",
    )


def _why_running(
    execution: Execution, told: Forecast, run_time: RunTime, source: Source, now: datetime
) -> tuple[str, str]:
    begun = _begun(execution) or now
    usual, ran = timedelta(seconds=run_time.quantile(0.5)), now - begun
    will_take = told.median_end - begun
    progress, longest = execution.progress, timedelta(seconds=run_time.timeout)
    far = f"{progress.percent:.0f}% after {spelled(ran)}" if progress else f"runs for {spelled(ran)}"
    usually = f"{source} {spelled(longest if source is Source.TIMEOUT else usual)}"
    remedy = "see its log for what holds it up"
    if execution.lane is Lane.LONG:
        remedy += "; next time run it with more partitions"
    if will_take.total_seconds() >= NEARLY * run_time.timeout:
        limit = spelled(timedelta(seconds=execution.timeout_seconds))
        return f"its time-out of {limit} will stop it: {far}; it {usually}", f"{remedy}; give a longer timeout_seconds"
    if source is not Source.TIMEOUT and will_take > SLOWER * usual:
        return f"slower than usual: {far}; it {usually} and would take {spelled(will_take)}", remedy
    late = begun - execution.released_at
    if late > STARVED:
        return f"started {spelled(late)} after its due instant: {far}; it {usually}", remedy
    cause = f"its deadline leaves it too little time: {far}; it {usually}"
    return cause, "give it a later deadline, or make it smaller"


def _why_no_slot(execution: Execution, wait: Wait, around: Surroundings) -> tuple[str, str]:
    lane = around.lane
    assert lane is not None
    not_counted = execution.batch.resources.cpu if execution.batch and execution.status is not Status.WAITING else 0
    wanted = lane.taken_cpu + lane.waiting_cpu + not_counted
    ask = f"not started: waits for a slot of the long lane for about {spelled(timedelta(seconds=wait.median))} more"
    cause = f"{ask}; {lane.taken_tasks} run and {lane.waiting} ask"
    vcpus, tasks = math.ceil(wanted / 1024), lane.taken_tasks + max(lane.waiting, 1)
    raised = [
        f"vcpus to {vcpus}" if vcpus * 1024 > around.limits.cpu else "",
        f"tasks to {tasks}" if tasks > around.limits.tasks else "",
    ]
    remedies = [f"raise the long lane's {' and '.join(filter(None, raised))}"] if any(raised) else []
    if lane.laxest and lane.laxest != execution.execution_id:
        remedies.append(f"pause or cancel {lane.laxest}, which has the most time to spare")
    return cause, ", or ".join(remedies) or "wait for a slot: one is coming free"


def _why_in_queue(
    execution: Execution, told: Forecast, wait: Wait, around: Surroundings, now: datetime
) -> tuple[str, str]:
    queue, backlog = execution.priority, around.queues[execution.priority]
    cause = (
        f"not started: waits in the queue {queue} behind {backlog.depth:,}, "
        f"for about {spelled(timedelta(seconds=wait.median))} more"
    )
    spare = (told.latest_safe_start - now).total_seconds() if told.latest_safe_start else 0.0
    workers = around.concurrency.get(queue)
    if workers and spare > 0:
        return cause, f"raise concurrency.{queue} to {math.ceil(workers * max(wait.median / spare, 1))}"
    return cause, f"raise concurrency.{queue}, or give it a higher priority"
