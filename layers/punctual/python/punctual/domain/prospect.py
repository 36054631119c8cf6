"""The prospect of one execution: when it will end, why that may be too late, and what would help.

All that it is told from is passed in: the execution, its job with the run times of earlier ones, and how crowded the
queues and the long lane are. So the monitor's check and a person's question get the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from punctual.domain.backlog import Backlog
from punctual.domain.execution import Execution
from punctual.domain.forecast import Forecast, Pace, Wait, forecast
from punctual.domain.history import FEWEST_RELIED_ON
from punctual.domain.job import Job, Lane
from punctual.domain.laxity import Limits
from punctual.domain.notice import spelled
from punctual.domain.outlook import DeadlineState, Outlook, Seen, state_after
from punctual.domain.part import EXECUTION
from punctual.domain.run_time import RunTime, run_time_of
from punctual.domain.slots import LaneOutlook
from punctual.domain.status import Status

UNSURE = 1.5
"""A wait's P95, as a multiple of its median: those who come later may be let in before."""

SEEN_KEPT = 5
SLOWER = 1.25
"""A run that will take this much longer than the median is slower than usual."""
STARVED = timedelta(seconds=30)
"""Due for so long, with nothing before it, and not started: somebody should look why."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What an execution shares with others. Unknown is fine: then it counts as nothing in the way."""

    limits: Limits
    concurrency: Mapping[str, int]
    queues: Mapping[str, Backlog] = field(default_factory=dict)
    lane: LaneOutlook | None = None


@dataclass(frozen=True)
class Prospect:
    forecast: Forecast
    cause: str
    remedy: str


def outlook_of(execution: Execution, job: Job, around: Surroundings, now: datetime) -> Outlook:
    """What a look at a live execution with a deadline finds. Cause and remedy are given while it is in danger."""
    assert execution.deadline_at is not None
    prospect = prospect_of(execution, job, around, now)
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


def prospect_of(execution: Execution, job: Job, around: Surroundings, now: datetime) -> Prospect:
    run_time, well_known = _run_time(execution, job)
    runs = execution.status is Status.RUNNING or (execution.lane is Lane.LONG and execution.progress is not None)
    wait = Wait() if runs else _wait(execution, run_time, around, now)
    told = forecast(
        now=now,
        run_time=run_time,
        not_before=execution.retry_at or execution.released_at,
        wait=wait,
        started_at=execution.started_at if runs else None,
        pace=_pace(execution, now) if runs else None,
        deadline_at=execution.deadline_at,
    )
    cause, remedy = _why(execution, told, run_time, well_known, wait, around, now)
    return Prospect(told, cause, remedy)


def _run_time(execution: Execution, job: Job) -> tuple[RunTime, bool]:
    """Of the whole, and whether enough runs have shown it. A time-out is of one partition, and so is what was declared:
    they come one after the other as often as not all may run at once."""
    runs = job.run_times.get(EXECUTION, ())
    rounds = _rounds(execution)
    declared = job.expected_seconds * rounds if job.expected_seconds else None
    return run_time_of(runs, declared, execution.timeout_seconds * rounds), len(runs) >= FEWEST_RELIED_ON


def _rounds(execution: Execution) -> int:
    partitions = execution.batch.partitions if execution.batch else None
    if partitions is None or partitions.at_once is None:
        return 1
    known = partitions.count or len(partitions.of or ())
    total = execution.progress.total if execution.progress else None  # partitions, once they are cut
    return max(math.ceil((known or total or partitions.at_once) / partitions.at_once), 1)


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
    """Seconds until those have started that wait longer. What is not due yet finds less in its way by then."""
    if not backlog.depth or not backlog.capacity_per_minute:
        return 0.0
    minutes = (now - released_at) / timedelta(minutes=1)
    passed = (backlog.arrival_per_minute or 0.0) * minutes if minutes > 0 else -minutes * backlog.capacity_per_minute
    return max(backlog.depth - passed, 0.0) / backlog.capacity_per_minute * 60


def _pace(execution: Execution, now: datetime) -> Pace | None:
    """How far it is now, and how far it was some looks ago. A runner tells every few seconds: that is now."""
    progress, started_at = execution.progress, execution.started_at
    if progress is None or started_at is None:
        return None
    looks = execution.outlook.seen if execution.outlook else ()
    earlier = next((look for look in looks if started_at < look.at < now), None)
    return Pace(
        fraction=progress.percent / 100,
        elapsed=(now - started_at).total_seconds(),
        earlier_fraction=earlier.percent / 100 if earlier else None,
        earlier_elapsed=(earlier.at - started_at).total_seconds() if earlier else None,
    )


def _seen(execution: Execution, now: datetime) -> tuple[Seen, ...]:
    before = execution.outlook.seen if execution.outlook else ()
    if execution.progress is None or execution.status is not Status.RUNNING:
        return before
    return (*before, Seen(now, execution.progress.percent))[-SEEN_KEPT:]


def _why(
    execution: Execution,
    told: Forecast,
    run_time: RunTime,
    well_known: bool,
    wait: Wait,
    around: Surroundings,
    now: datetime,
) -> tuple[str, str]:
    """The cause of a danger and what would help, as far as they can be told from here."""
    usual = spelled(timedelta(seconds=run_time.quantile(0.5)))
    if execution.status is Status.RETRYING or execution.attempt > 1:
        error = f": {execution.error.type}: {execution.error.message[:200]}" if execution.error else ""
        attempt = execution.attempt + (execution.status is Status.RETRYING)
        cause = f"retrying: attempt {attempt} of {execution.retry.max_attempts}{error}"
        return cause, "mend what made it fail: its attempts and their log tell"
    if execution.status is Status.RUNNING:
        return _why_running(execution, told, run_time, well_known, now)
    if execution.status is Status.STARTING:
        return "not started: its container has not come up yet", "see whether ECS can start it: its image, its capacity"
    if wait.median > 0 and execution.lane is Lane.LONG:
        return _why_no_slot(execution, wait, around)
    if wait.median > 0:
        return _why_in_queue(execution, told, wait, around, now)
    if now - execution.released_at > STARVED:
        waits = spelled(now - execution.released_at)
        return f"starved: due {waits} ago, and nobody has taken it", "see the alarms: does the scheduler run?"
    if not well_known:
        return (
            f"it has too few runs to tell: {usual} is as likely to be too short as too long",
            "give expected_seconds, or a later deadline",
        )
    return (
        f"it usually takes {usual}, and its deadline leaves it too little time",
        "let it start earlier, run with more partitions, or give a later deadline"
        if execution.lane is Lane.LONG
        else "let it start earlier, make it smaller, or give a later deadline",
    )


def _why_running(
    execution: Execution, told: Forecast, run_time: RunTime, well_known: bool, now: datetime
) -> tuple[str, str]:
    assert execution.started_at is not None
    usual, ran = timedelta(seconds=run_time.quantile(0.5)), now - execution.started_at
    will_take = told.median_end - execution.started_at
    far = (
        f"{execution.progress.percent:.0f}% after {spelled(ran)}" if execution.progress else f"runs for {spelled(ran)}"
    )
    usually = f"usually takes {spelled(usual)}" if well_known else f"was expected to take {spelled(usual)}"
    remedy = "see its log for what holds it up"
    if execution.lane is Lane.LONG:
        remedy += "; next time run it with more partitions"
    if will_take > SLOWER * usual:
        return f"slower than usual: {far}; it {usually} and would take {spelled(will_take)}", remedy
    late = execution.started_at - execution.released_at
    return f"started {spelled(late)} after its due instant: {far}; it {usually}", remedy


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
        remedies.append(f"cancel {lane.laxest}, which has the most time to spare")
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
