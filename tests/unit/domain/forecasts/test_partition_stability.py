"""Successive deadline checks of partitioned executions: a state changes only after an event.

``pytest -s`` prints how many runs became worse again after an improvement.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from statistics import median

import pytest

from punctual.domain.executions.deadline_outlook import DeadlineState, Outlook, next_check
from punctual.domain.forecasts.deadline_forecast import outlook_of
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.lane_forecast import WaitingSlots
from tests.unit.domain.forecasts.deadlines import NOW, job
from tests.unit.domain.forecasts.partitioned_runs import HOUR, Run, Shape
from tests.unit.domain.forecasts.test_calibration import steady, uneven

RUNS = 3
NEARLY = 0.9
"""The share of its usual time after which it counts that a part has not ended: a sixth of its runs take less."""
SHARES = (0.9, 1.05, 1.3, None)
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


@dataclass(frozen=True)
class CheckedRun:
    run: Run
    deadline: float
    """In seconds since its start."""
    outlooks: list[Outlook]
    """All checks, from its start to its end."""

    def changes(self) -> Iterator[tuple[int, Outlook, Outlook]]:
        """How much worse each check is than the previous one; the missed deadline itself does not count."""
        severity = list(DeadlineState)
        for before, after in pairwise(self.outlooks):
            if after.state is not DeadlineState.MISSED:
                yield severity.index(after.state) - severity.index(before.state), before, after

    def relapses(self) -> list[tuple[Outlook, Outlook]]:
        """The checks before and after each change for the worse that follows an improvement."""
        has_improved, worse = False, []
        for change, before, after in self.changes():
            has_improved = has_improved or change < 0
            if has_improved and change > 0:
                worse.append((before, after))
        return worse

    def events(self, before: Outlook, after: Outlook) -> set[str]:
        """The events since the check ``before``, and the conditions at ``after``.

        ``end``: a part has ended. ``report``: a partition has reported progress. ``silence``: a part has been running
        for nearly its usual time, or longer. ``late``: the rest of the run usually ends after the
        deadline, which comes nearer.
        The lane does not change here.
        """
        run, since, until = self.run, *((one.checked_at - NOW).total_seconds() for one in (before, after))
        running = [number for number, end in enumerate(run.ends) if run.starts[number] < until < end]
        due = {number: run.starts[number] + usual_seconds(run, number, until) for number in running}
        collector = max([end for end in run.ends if end <= until] + list(due.values()))
        happened = {
            "end": any(since < end <= until for end in run.ends),
            "report": any(has_reported(run, number, since, until) for number in running),
            "silence": any(until - run.starts[number] >= NEARLY * (due[number] - run.starts[number]) for number in due)
            or (not running and until - collector >= NEARLY * run.shape.collect),
            "late": max(run.starts) < until and collector + run.shape.collect > self.deadline,
        }
        return {name for name, value in happened.items() if value}


def usual_seconds(run: Run, number: int, at: float) -> float:
    """The usual time of a partition: that of earlier runs, or that of this run if it is faster."""
    ended = [took / hours for took, hours, end in zip(run.seconds, run.shape.hours, run.ends, strict=True) if end <= at]
    return run.shape.hours[number] * min(median(ended or [HOUR]), HOUR)


def has_reported(run: Run, number: int, since: float, until: float) -> bool:
    return bool(run.steps) and run.percent(number, until) > run.percent(number, max(since, run.starts[number]))


def outlooks(run: Run, its_job: Job, deadline: float) -> list[Outlook]:
    found: list[Outlook] = []
    deadline_at = NOW + timedelta(seconds=deadline)
    at: datetime | None = NOW
    while at is not None and at < NOW + timedelta(seconds=run.end):
        elapsed = (at - NOW).total_seconds()
        one = run.execution(elapsed, deadline_at=deadline_at, outlook=found[-1] if found else None)
        parts = run.parts(elapsed) if elapsed else ()
        found.append(outlook_of(one, its_job, run.load(elapsed), at, parts=parts))
        at = next_check(NOW, deadline_at, at)
    return found


@cache
def checked_runs(shape: Shape, share: float | None) -> list[CheckedRun]:
    """Runs with a deadline at this share of the usual run time; with ``None``, close to their own end."""
    draw = random.Random(f"{shape.name} {share}")
    its_job = job(run_times=shape.history(draw))
    usual, found = median(its_job.run_times["execution"]), []
    for _ in range(RUNS):
        run = shape.draw(draw)
        deadline = run.end / draw.uniform(0.94, 1.05) if share is None else share * usual
        found.append(CheckedRun(run, deadline, outlooks(run, its_job, deadline)))
    return found


def all_runs(shape: Shape) -> list[CheckedRun]:
    return [one for share in SHARES for one in checked_runs(shape, share)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_state_changes_only_after_an_event(shape: Shape) -> None:
    """It improves only if a part has ended or has reported; then it becomes worse only after a further event."""
    for one in all_runs(shape):
        for change, *checks in one.changes():
            assert change >= 0 or one.events(*checks) & {"end", "report"}, checks
        for before, after in one.relapses():
            assert one.events(before, after), (before, after)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_run_with_time_to_spare_is_always_on_track(shape: Shape) -> None:
    for one in checked_runs(shape, 1.3):
        if one.run.end < 0.94 * one.deadline:
            assert {outlook.state for outlook in one.outlooks} == {DeadlineState.ON_TRACK}


@pytest.mark.parametrize(("silent", "most"), [(True, 0.1), (False, 0.25)], ids=["silent", "reporting"])
def test_few_runs_become_worse_again(silent: bool, most: float) -> None:
    """A quarter of the runs end close to their deadline, where every partition decides."""
    found = [len(one.relapses()) for shape in SHAPES if (shape.progress is None) is silent for one in all_runs(shape)]
    print(f"{'silent' if silent else 'reporting':10} {len(found)} runs: {sum(map(bool, found))} became worse again")
    assert sum(map(bool, found)) <= most * len(found)
    assert max(found) <= 2


def test_the_slots_that_another_execution_requests_change_the_state_and_change_it_back() -> None:
    shape = Shape("14 even, 7 slots", (1.0,) * 14, slots=7)
    its_job = job(run_times=shape.history(random.Random(1)))
    run = Run(shape, [HOUR] * 14, shape.collect)
    calm = run.load(0.3 * HOUR)
    request = WaitingSlots(NOW + timedelta(hours=1), 3 * 3600, 5, 5 * 1024)
    asked = replace(calm, lane=replace(calm.lane, demand=(*calm.lane.demand, request)))
    found: list[Outlook] = []
    for minute, load in ((20, calm), (25, calm), (30, asked), (35, asked), (40, calm), (45, calm)):
        at = minute * 60.0
        outlook = found[-1] if found else None
        one = run.execution(at, deadline_at=NOW + timedelta(hours=2.9), outlook=outlook)
        found.append(outlook_of(one, its_job, load, NOW + timedelta(seconds=at), parts=run.parts(at)))
    on_track, changed = DeadlineState.ON_TRACK, DeadlineState.WILL_MISS
    assert [one.state for one in found] == [on_track, on_track, changed, changed, on_track, on_track]
