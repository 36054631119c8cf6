"""Why a partitioned execution is in danger, and what to do: found by simulating it under other limits.

The cause is the limit without which the execution would probably meet its deadline: the slots of the lane, or
``at_once``. The remedy is the smallest change of that limit that puts the execution on track.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from punctual.domain.executions.deadline_outlook import ON_TRACK_ABOVE
from punctual.domain.executions.execution import Execution
from punctual.domain.executions.remedy import CauseCode, Remedy, RemedyAction
from punctual.domain.forecasts.deadline_explanation import (
    EARLIER,
    EXPECTATIONS,
    LATER_DEADLINE,
    MORE_PARTITIONS,
    SLOW_FACTOR,
    STARVATION_THRESHOLD,
    Explanation,
    UpstreamEnd,
    cancel_laxest,
    inspect,
    leaves_too_little_time,
    raised_settings,
    run_time_unknown,
    seconds_text,
    settings_text,
    waits_for_upstream,
)
from punctual.domain.forecasts.forecast import SAFE_PROBABILITY, Forecast
from punctual.domain.forecasts.partition_forecast import PartitionedWork, SimulatedEnd, simulate
from punctual.domain.forecasts.run_time import RunTimeSource
from punctual.domain.forecasts.slot_simulation import SlotPlan
from punctual.domain.jobs.partitions import MAX_PARALLEL_PARTITIONS
from punctual.domain.notices.notice import format_duration
from punctual.domain.schedules.timezone import zone_named

HELPFUL_PROBABILITY = 0.5
"""A limit is the cause if the execution would meet its deadline with this probability without it."""
AMBIGUOUS_AFTER = timedelta(days=6)
"""A weekday further away than this is shown with its date."""


@dataclass(frozen=True, kw_only=True)
class PartitionedBasis:
    """The values that the forecast of a partitioned execution was computed from."""

    work: PartitionedWork
    plan: SlotPlan
    timezone: str
    runs_used: int = 0
    """The number of recorded runs behind the run times of the partitions."""
    upstream: UpstreamEnd | None = None
    waiting: int = 0
    """The number of partitions that wait for a slot."""
    failure: str | None = None
    """The last error of a partition that failed, or that is to be retried."""
    laxest: str | None = None
    """Another execution that holds a slot and has the most time to spare."""

    def whole_run(self) -> SimulatedEnd:
        """The run time of the execution, without waits for other executions."""
        return simulate(self.work.from_scratch(), self.plan.alone())


def explain_partitions(execution: Execution, forecast: Forecast, basis: PartitionedBasis, now: datetime) -> Explanation:
    """Name the most likely cause of the danger and a remedy."""
    assert execution.deadline_at is not None
    work, plan, left = basis.work, basis.plan, (execution.deadline_at - now).total_seconds()
    if basis.upstream is not None and work.wait.median > 0:
        return waits_for_upstream(basis.upstream, work.wait.median)
    if work.has_failed:
        return Explanation(
            CauseCode.PARTITION_FAILED,
            f"a partition has failed{basis.failure or ''}",
            "fix the error, then retry the execution: see the attempts and the log of the partition",
            (
                inspect(execution, "shows the error of the partition"),
                Remedy(RemedyAction.RETRY_EXECUTION, execution.execution_id, "keeps the finished partitions"),
            ),
        )
    if work.times.source is RunTimeSource.TIMEOUT and not work.ended:
        return run_time_unknown(work.times.typical)
    unlimited = plan.with_slots(plan.at_once).alone()
    if _helps(work, unlimited, left):
        return _too_few_slots(execution, basis, left, now)
    parallel = min(len(work.times.sizes), MAX_PARALLEL_PARTITIONS)
    if parallel > plan.at_once and _helps(work, replace(unlimited, at_once=parallel).with_slots(parallel), left):
        return _too_few_at_once(execution, basis, left, parallel, now)
    return _slow(execution, forecast, basis, now)


def _helps(work: PartitionedWork, plan: SlotPlan, left: float) -> bool:
    return simulate(work, plan).success_probability(left) >= HELPFUL_PROBABILITY


def _too_few_slots(execution: Execution, basis: PartitionedBasis, left: float, now: datetime) -> Explanation:
    plan, held = basis.plan, sum(one.tasks for one in basis.plan.held)
    if basis.waiting:
        need = f"{_partitions(basis.waiting)} {'is' if basis.waiting == 1 else 'are'} waiting for slots"
    else:
        need = f"its partitions need {plan.at_once} slots at once"
    taken = f", of which other executions hold {held}" if held else ""
    taken += ", and other executions are due before the deadline" if plan.planned else ""
    raised, steps = _raise_lane(basis, plan, left)
    remedies = [raised, _start_by(execution, basis, now)]
    if basis.laxest:
        remedies.insert(1, f"pause or cancel execution {basis.laxest}, which has the most time to spare")
        steps.append(cancel_laxest(basis.laxest))
    return Explanation(
        CauseCode.TOO_FEW_SLOTS,
        f"{need}: the lane has {_slots(plan.slots)}{taken}",
        ", or ".join(remedies),
        (*steps, EARLIER),
    )


def _raise_lane(basis: PartitionedBasis, plan: SlotPlan, left: float) -> tuple[str, list[Remedy]]:
    """The smallest number of slots with which the execution is on track, and the settings that provide it."""
    others = [(one.tasks, one.cpu) for one in plan.held]
    later = [*plan.waiting, *(one.parts for one in plan.planned)]
    others += [(one.tasks, one.tasks * one.cpu) for one in later]
    most = max(sum(tasks for tasks, _ in others), -(-sum(cpu for _, cpu in others) // plan.cpu)) + plan.at_once
    enough = _smallest(plan.slots + 1, most, lambda slots: _probability(basis.work, plan.with_slots(slots), left))
    raised = list(raised_settings(plan.limits, plan.with_slots(enough).limits))
    return f"raise the lane from {plan.slots} to {_slots(enough)} ({settings_text(raised)})", raised


def _too_few_at_once(
    execution: Execution, basis: PartitionedBasis, left: float, parallel: int, now: datetime
) -> Explanation:
    work, plan = basis.work, basis.plan
    roomy = plan.with_slots(parallel).alone()
    enough = _smallest(
        plan.at_once + 1, parallel, lambda at_once: _probability(work, replace(roomy, at_once=at_once), left)
    )
    change = f"raise partitions.at_once from {plan.at_once} to {enough}"
    steps, wider = [Remedy(RemedyAction.EDIT_JOB, "partitions.at_once", f"to {enough}")], replace(plan, at_once=enough)
    if not _helps(work, wider, left):
        raised, settings = _raise_lane(basis, wider, left)
        change, steps = f"{change} and {raised}", steps + settings
    if execution.started_at is not None:
        change = f"next time {change}"
    rest = seconds_text(simulate(work, plan).quantile(0.5))
    unended = len(work.running) + len(work.pending)
    return Explanation(
        CauseCode.TOO_FEW_AT_ONCE,
        f"{_partitions(unended)} of about {seconds_text(work.times.typical.quantile(0.5))} remain and run "
        f"{plan.at_once} at a time (at_once), which takes about {rest}",
        ", or ".join([change, _start_by(execution, basis, now)]),
        (*steps, EARLIER),
    )


def _slow(execution: Execution, forecast: Forecast, basis: PartitionedBasis, now: datetime) -> Explanation:
    work, whole = basis.work, basis.whole_run()
    median, expectation = whole.quantile(0.5), EXPECTATIONS[work.times.source]
    if basis.failure:
        return Explanation(
            CauseCode.PARTITION_RETRYING,
            f"a partition is to be retried{basis.failure}",
            "fix the error that made its last attempt fail: see its attempts and its log",
            (inspect(execution, "shows the error that made the last attempt of the partition fail"),),
        )
    if not work.ended and not work.running:
        return Explanation(
            CauseCode.TOO_LITTLE_TIME,
            f"it {expectation} {seconds_text(median)}, and its deadline leaves less time than that",
            f"{_start_by(execution, basis, now)}, run it with more partitions, or set a later deadline",
            (EARLIER, MORE_PARTITIONS, LATER_DEADLINE),
        )
    started = execution.started_at or now
    ran, expected = format_duration(now - started), (forecast.median_end - started).total_seconds()
    percent = execution.progress.percent if execution.progress else 0.0
    facts = f"{percent:.0f}% done after {ran}; it {expectation} {seconds_text(median)}"
    if expected > SLOW_FACTOR * median:
        return Explanation(
            CauseCode.SLOWER_THAN_USUAL,
            f"slower than usual: {facts} and would take {seconds_text(expected)}",
            "see the logs of its partitions for what delays them; next time run it with more partitions",
            (inspect(execution, "shows what delays its partitions"), MORE_PARTITIONS),
        )
    late = started - execution.earliest_start
    if late > STARVATION_THRESHOLD:
        cause = f"started {format_duration(late)} after its due instant: {facts}"
        return Explanation(CauseCode.STARTED_LATE, cause, "set a later deadline", (LATER_DEADLINE,))
    return leaves_too_little_time(facts)


def _start_by(execution: Execution, basis: PartitionedBasis, now: datetime) -> str:
    assert execution.deadline_at is not None
    latest = execution.deadline_at - timedelta(seconds=basis.whole_run().quantile(SAFE_PROBABILITY))
    local = latest.astimezone(zone_named(basis.timezone))
    day = "%A %d %B" if abs(latest - now) > AMBIGUOUS_AFTER else "%A"
    is_possible = latest > now and execution.started_at is None
    return f"{'' if is_possible else 'next time '}start by {local:{day} %H:%M} ({basis.timezone})"


def _probability(work: PartitionedWork, plan: SlotPlan, left: float) -> float:
    return simulate(work, plan).success_probability(left)


def _smallest(low: int, high: int, probability: Callable[[int], float]) -> int:
    """The smallest number from ``low`` to ``high`` with which the execution is on track; ``high`` if there is none."""
    return low + bisect_left(range(low, high), True, key=lambda number: probability(number) >= ON_TRACK_ABOVE)


def _partitions(count: int) -> str:
    return f"{count} partition" + ("" if count == 1 else "s")


def _slots(count: int) -> str:
    return f"{count} slot" + ("" if count == 1 else "s")
