"""Calibration of forecasts of partitioned executions: how often runs end by their forecast median and P95.

``pytest -s`` prints the table.
"""

from __future__ import annotations

import random
from datetime import timedelta
from functools import cache

import pytest

from punctual.domain.executions.deadline_outlook import Outlook
from punctual.domain.forecasts.deadline_forecast import outlook_of
from punctual.domain.jobs.job import Job
from tests.unit.domain.forecasts.deadlines import NOW, job
from tests.unit.domain.forecasts.partitioned_runs import Run, Shape
from tests.unit.domain.forecasts.test_calibration import Count, steady, uneven

HISTORIES = 200
NEXT_RUNS = 10
MOMENTS = 3
WEEK, UNEVEN = (1.0,) * 7, (0.4, 0.5, 0.8, 1.0, 1.2, 1.6, 2.5)
SHAPES = (
    Shape("7 even, at_once 1", WEEK, at_once=1),
    Shape("7 even, at_once 3", WEEK, at_once=3),
    Shape("7 even, at_once 7", WEEK, at_once=7),
    Shape("7 even, 4 slots", WEEK, slots=4),
    Shape("7 uneven, at_once 3", UNEVEN, at_once=3),
    Shape("7 uneven, 4 slots", UNEVEN, slots=4),
    Shape("24 even, at_once 7, 5 slots", (1.0,) * 24, at_once=7, slots=5),
    Shape("7 even, 4 slots, uneven progress", WEEK, slots=4, progress=uneven),
    Shape("7 even, at_once 7, uneven progress", WEEK, at_once=7, progress=uneven),
    Shape("7 even, at_once 1, steady progress", WEEK, at_once=1, progress=steady),
    Shape("7 even, at_once 3, steady progress", WEEK, at_once=3, progress=steady),
    Shape("7 even, at_once 7, steady progress", WEEK, at_once=7, progress=steady),
    Shape("7 even, 4 slots, steady progress", WEEK, slots=4, progress=steady),
    Shape("7 uneven, at_once 3, steady progress", UNEVEN, at_once=3, progress=steady),
)

CAUTIOUS = {"7 even, at_once 7, uneven progress": 0.985}
"""A higher upper bound, for the reason in docs/forecasts.md. The standard error of 500 forecasts is 0.008."""


@cache
def measured(shape: Shape) -> tuple[Count, Count]:
    """Forecasts before the start, and at moments of other runs that are independent of their ends.

    Those before the start are the same with and without progress.
    """
    draw, before, running = random.Random(shape.name), Count(), Count()
    for _ in range(HISTORIES):
        history = job(run_times=shape.history(draw))
        if shape.progress is None:
            expected = ends(outlook_at(shape.draw(draw), 0.0, history))
            for _ in range(NEXT_RUNS):
                before.add(shape.draw(draw).end, *expected)
        for _ in range(MOMENTS):
            run, at = shape.draw(draw), draw.uniform(1, max(history.run_times["execution"]))
            if at < run.end:
                running.add(run.end, *ends(outlook_at(run, at, history)))
    return before, running


def outlook_at(run: Run, at: float, history: Job) -> Outlook:
    parts = run.parts(at) if at else ()
    one = run.execution(at, outlook=run.checked(history, at))
    return outlook_of(one, history, run.load(at), NOW + timedelta(seconds=at), parts=parts)


def ends(outlook: Outlook) -> tuple[float, float]:
    return (outlook.median_end - NOW).total_seconds(), (outlook.p95_end - NOW).total_seconds()


SILENT = [shape for shape in SHAPES if shape.progress is None]


@pytest.mark.parametrize("shape", SILENT, ids=lambda shape: shape.name)
def test_before_the_start_93_to_97_percent_of_partitioned_executions_end_before_their_p95_end(shape: Shape) -> None:
    before, _ = measured(shape)
    print(f"{shape.name:40} {before}  before the start")
    assert before.forecasts >= 1500
    assert 0.93 <= before.p95_share <= 0.97
    assert 0.42 <= before.median_share <= 0.58


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_while_running_93_to_97_percent_of_partitioned_executions_end_before_their_p95_end(shape: Shape) -> None:
    _, running = measured(shape)
    print(f"{shape.name:40} {running}  while running")
    assert running.forecasts >= 450
    assert 0.93 <= running.p95_share <= CAUTIOUS.get(shape.name, 0.97)
    assert 0.42 <= running.median_share <= 0.58
