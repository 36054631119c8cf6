"""Successive deadline checks of a partitioned execution: its state does not become worse again without a cause."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, next_check
from punctual.domain.forecasts.deadline_forecast import outlook_of
from punctual.domain.jobs.job import Job
from tests.unit.domain.forecasts.deadlines import NOW, job
from tests.unit.domain.forecasts.partitioned_runs import HOUR, Run, Shape
from tests.unit.domain.forecasts.test_calibration import steady, uneven

RUNS = 4
NEARLY_ALL = 0.97
"""A part that has run for this share of its usual time counts as overrun: most runs have ended, or are about to."""
WEEK, UNEVEN = (1.0,) * 7, (0.4, 0.5, 0.8, 1.0, 1.2, 1.6, 2.5)
SHAPES = (
    Shape("at_once 1", WEEK, at_once=1),
    Shape("at_once 3", WEEK, at_once=3),
    Shape("at_once 7", WEEK, at_once=7),
    Shape("4 slots", WEEK, slots=4),
    Shape("uneven, at_once 2", UNEVEN, at_once=2),
    Shape("steady progress, at_once 3", WEEK, at_once=3, progress=steady),
    Shape("uneven progress, 4 slots", WEEK, slots=4, progress=uneven),
)


def outlooks(run: Run, its_job: Job, deadline: timedelta) -> list[Outlook]:
    """All checks of a run, from its start to its end."""
    found: list[Outlook] = []
    at: datetime | None = NOW
    while at is not None and at < NOW + timedelta(seconds=run.end):
        elapsed = (at - NOW).total_seconds()
        one = run.execution(elapsed, deadline_at=NOW + deadline, outlook=found[-1] if found else None)
        parts = run.parts(elapsed) if elapsed else ()
        found.append(outlook_of(one, its_job, run.load(elapsed), at, parts=parts))
        at = next_check(NOW, NOW + deadline, at)
    return found


def relapses(found: Sequence[Outlook]) -> list[tuple[Outlook, Outlook]]:
    """The checks before and after each change for the worse that follows an improvement."""
    severity, has_improved, worse = list(DeadlineState), False, []
    for before, after in pairwise(found):
        change = severity.index(after.state) - severity.index(before.state)
        has_improved = has_improved or change < 0
        if has_improved and change > 0 and after.state is not DeadlineState.MISSED:
            worse.append((before, after))
    return worse


def has_cause(run: Run, before: Outlook, after: Outlook) -> bool:
    """Whether between two checks a partition has ended, a part has overrun, or the progress has slowed down."""
    since, until = ((one.checked_at - NOW).total_seconds() for one in (before, after))
    running = [number for number, end in enumerate(run.ends) if run.starts[number] < until < end]
    overran = any(until - run.starts[number] >= usual_seconds(run, number, until) for number in running)
    collector_overran = until - max(run.ends) >= NEARLY_ALL * run.shape.collect
    ended = any(since < end <= until for end in run.ends)
    return ended or overran or collector_overran or any(slows_down(run, number, since, until) for number in running)


def usual_seconds(run: Run, number: int, at: float) -> float:
    """The time after which a partition has almost overrun: the usual one, or that of this run if it is faster."""
    ended = [took / hours for took, hours, end in zip(run.seconds, run.shape.hours, run.ends, strict=True) if end <= at]
    return NEARLY_ALL * run.shape.hours[number] * min(median(ended or [HOUR]), HOUR)


def slows_down(run: Run, number: int, since: float, until: float) -> bool:
    """Whether a partition has progressed more slowly between two instants than until the earlier one."""
    if not run.steps or since <= run.starts[number]:
        return False
    before, after = (run.percent(number, at) for at in (since, until))
    return (after - before) / (until - since) < before / (since - run.starts[number])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("share", [0.9, 1.05, 1.3])
def test_the_state_does_not_flap(shape: Shape, share: float) -> None:
    """With a deadline before, near and after the usual end.

    Runs that end far from their deadline relapse at most once; the others only when something has happened.
    """
    draw, far = random.Random(f"{shape.name} {share}"), 0
    its_job = job(run_times=shape.history(draw))
    deadline = share * median(its_job.run_times["execution"])
    for _ in range(RUNS):
        run = shape.draw(draw)
        found = outlooks(run, its_job, timedelta(seconds=deadline))
        is_close = abs(run.end / deadline - 1) < 0.06
        assert all(has_cause(run, *checks) for checks in relapses(found))
        assert len(relapses(found)) <= 2
        far += 0 if is_close else len(relapses(found))
        if share > 1.2 and not is_close:
            assert {outlook.state for outlook in found} == {DeadlineState.ON_TRACK}
    assert far <= 1


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_state_of_a_run_that_ends_close_to_its_deadline_becomes_worse_again_only_with_a_cause(shape: Shape) -> None:
    draw = random.Random(f"close {shape.name}")
    its_job = job(run_times=shape.history(draw))
    for _ in range(RUNS):
        run = shape.draw(draw)
        found = outlooks(run, its_job, timedelta(seconds=run.end / draw.uniform(0.94, 1.05)))
        assert all(has_cause(run, *checks) for checks in relapses(found)), [one.state for one in found]
