"""Calibration of forecasts: simulate many jobs, each with a history and a next run, and count how often forecasts hold.

``pytest -s`` prints the table.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from math import exp, log
from statistics import mean, median

import pytest

from punctual.domain.forecasts.forecast import Forecast, Wait, forecast, remaining
from punctual.domain.forecasts.pace import Pace
from punctual.domain.forecasts.run_history import KEPT_RUNS
from punctual.domain.forecasts.run_time import RunTime, run_time_of

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = 3600
TIMEOUT = 10**8
PAIRS = 4000
FEWER_PAIRS = 800
PROGRESS_PAIRS = 2000
MOMENTS = 3
MORE_DEADLINES = 4
FEW = (5, 10, 20)
STEPS, CHECKS = 200, 8
NONE = Wait()

Draw = Callable[[random.Random, int], float]
"""Seconds of a job's run with this number."""


def stable(draw: random.Random, _: int) -> float:
    return 8 * HOUR * exp(draw.gauss(0, 0.05))


def drifting(draw: random.Random, number: int) -> float:
    return 2 * HOUR * 1.01**number * exp(draw.gauss(0, 0.05))


def bimodal(draw: random.Random, _: int) -> float:
    return (HOUR if draw.random() < 0.7 else 3 * HOUR) * exp(draw.gauss(0, 0.05))


def heavy_tailed(draw: random.Random, _: int) -> float:
    return HOUR * exp(draw.gauss(0, 0.8))


def pareto(draw: random.Random, _: int) -> float:
    return HOUR * draw.paretovariate(2.5)


KINDS = (stable, drifting, bimodal, heavy_tailed, pareto)


def steady(draw: random.Random) -> list[float]:
    """The end of each step of a run whose steps take equally long."""
    took = stable(draw, 0)
    return [took * step / STEPS for step in range(1, STEPS + 1)]


def uneven(draw: random.Random) -> list[float]:
    """The end of each step of a run whose steps vary enough to explain the variation between stable runs."""
    return list(accumulate(draw.gammavariate(2, 8 * HOUR / STEPS / 2) for _ in range(STEPS)))


@dataclass
class Count:
    """How many of the forecast runs ended by their median end and by their P95 end."""

    forecasts: int = 0
    by_median: int = 0
    by_p95: int = 0

    def add(self, took: float, median: float, p95: float) -> None:
        self.forecasts += 1
        self.by_median += took <= median
        self.by_p95 += took <= p95

    @property
    def median_share(self) -> float:
        return self.by_median / self.forecasts

    @property
    def p95_share(self) -> float:
        return self.by_p95 / self.forecasts

    def __str__(self) -> str:
        return f"{self.forecasts:6} {self.median_share:7.1%} {self.p95_share:7.1%}"


@dataclass
class DeadlineForecasts:
    """Forecast probabilities of meeting a deadline and how many were met, by tenths of the probability."""

    forecast: dict[int, list[float]] = field(default_factory=dict)
    met: Counter[int] = field(default_factory=Counter)

    def add(self, probability: float, met: bool) -> None:
        tenth = min(int(probability * 10), 9)
        self.forecast.setdefault(tenth, []).append(probability)
        self.met[tenth] += met

    @property
    def errors(self) -> dict[int, float]:
        """Difference between the share that met its deadline and the forecast probability."""
        return {
            tenth: abs(self.met[tenth] / len(probabilities) - mean(probabilities))
            for tenth, probabilities in self.forecast.items()
        }


@dataclass
class Figures:
    before: Count = field(default_factory=Count)
    running: Count = field(default_factory=Count)
    deadlines: DeadlineForecasts = field(default_factory=DeadlineForecasts)


def forecast_of(run_time: RunTime, elapsed: float | None, deadline: float | None = None, wait: Wait = NONE) -> Forecast:
    """The forecast of a run that starts, or started, at ``NOW``. All arguments are seconds since then."""
    return forecast(
        now=NOW + timedelta(seconds=elapsed or 0),
        run_time=run_time,
        not_before=NOW,
        wait=wait,
        started_at=None if elapsed is None else NOW,
        pace=None,
        deadline_at=None if deadline is None else NOW + timedelta(seconds=deadline),
    )


def ends(expected: Forecast) -> tuple[float, float]:
    return (expected.median_end - NOW).total_seconds(), (expected.p95_end - NOW).total_seconds()


def measured(
    kind: Draw, runs: int, pairs: int, distort: Callable[[list[int]], Sequence[int]] = lambda history: history
) -> Figures:
    """Simulate pairs of a history and the next run, with forecasts before the run starts and while it runs.

    The moments of the later forecasts are independent of the run's end: they are random up to the longest run of the
    history, and moments after the end are ignored. ``distort`` changes the history that the forecast uses.
    """
    draw, figures = random.Random(f"{kind.__name__} {runs}"), Figures()
    for _ in range(pairs):
        history = [round(kind(draw, number)) for number in range(runs)]
        took = kind(draw, runs)
        run_time = run_time_of(distort(history), None, TIMEOUT)
        expected = forecast_of(run_time, None, deadline := kind(draw, runs))
        figures.before.add(took, *ends(expected))
        figures.deadlines.add(expected.probability or 0.0, took <= deadline)
        for _ in range(MOMENTS):
            elapsed = draw.uniform(0, max(history))
            if elapsed < took:
                figures.running.add(took, *ends(forecast_of(run_time, elapsed)))
        for _ in range(MORE_DEADLINES):
            deadline = kind(draw, runs)
            figures.deadlines.add(run_time.end_probability(deadline), took <= deadline)
    return figures


@cache
def measured_once(kind: Draw, runs: int) -> Figures:
    return measured(kind, runs, PAIRS if runs == KEPT_RUNS else FEWER_PAIRS)


@cache
def measured_waiting() -> Count:
    """Stable runs after a wait that is mostly short and sometimes long."""
    draw, count = random.Random("waiting"), Count()
    wait = Wait(median=HOUR * log(2), p95=HOUR * log(20))
    for _ in range(FEWER_PAIRS):
        run_time = run_time_of([round(stable(draw, number)) for number in range(KEPT_RUNS)], None, TIMEOUT)
        count.add(draw.expovariate(1 / HOUR) + stable(draw, KEPT_RUNS), *ends(forecast_of(run_time, None, wait=wait)))
    return count


@cache
def measured_with_progress(steps: Callable[[random.Random], list[float]]) -> Count:
    """Runs that report progress in whole percents, whose checks have kept samples of it."""
    draw, count = random.Random(steps.__name__), Count()
    for _ in range(PROGRESS_PAIRS):
        run_time = run_time_of([round(stable(draw, number)) for number in range(KEPT_RUNS)], None, TIMEOUT)
        done = steps(draw)
        elapsed = draw.uniform(HOUR / 2, 9 * HOUR)
        if elapsed < done[-1]:
            moments = [elapsed * check / CHECKS for check in range(1, CHECKS + 1)]
            *samples, now = ((at, bisect_right(done, at) * 100 // STEPS / 100) for at in moments)
            pace = Pace(fraction=now[1], elapsed=elapsed, samples=tuple(samples))
            rest = remaining(run_time, elapsed, pace)
            count.add(done[-1] - elapsed, rest.quantile(0.5), rest.quantile(0.95))
    return count


def table() -> str:
    """The share of runs that ended by their median end and by their P95 end."""
    count = f"{'runs':>6} {'median':>7} {'P95':>7}"
    lines = [
        f"{'':19} {'before the start':>22}  {'while running':>22}  deadlines,",
        f"{'history':14} runs {count}  {count}  worst tenth",
    ]
    for runs in (KEPT_RUNS, *FEW):
        for kind in KINDS:
            figures = measured_once(kind, runs)
            worst = max(figures.deadlines.errors.values())
            lines.append(f"{kind.__name__:14} {runs:4} {figures.before}  {figures.running}  off by {worst:5.1%}")
    for steps in (steady, uneven):
        label = f"stable, {steps.__name__} progress"
        lines.append(f"{label:43} {measured_with_progress(steps)}")
    lines.append(f"{'stable, waits':14} {KEPT_RUNS:4} {measured_waiting()}")
    return "\n".join(lines)


@pytest.fixture(scope="module", autouse=True)
def _print_table() -> None:
    print("", table(), sep="\n")


@pytest.mark.parametrize("kind", KINDS)
def test_before_the_start_93_to_97_percent_of_runs_end_before_their_p95_end(kind: Draw) -> None:
    before = measured_once(kind, KEPT_RUNS).before
    assert before.forecasts >= 4000
    assert 0.93 <= before.p95_share <= 0.97
    assert 0.45 <= before.median_share <= 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_while_running_93_to_97_percent_of_runs_end_before_their_p95_end(kind: Draw) -> None:
    running = measured_once(kind, KEPT_RUNS).running
    assert running.forecasts >= 2000
    assert 0.93 <= running.p95_share <= 0.97
    assert 0.45 <= running.median_share <= 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_deadlines_are_met_as_often_as_forecast(kind: Draw) -> None:
    errors = measured_once(kind, KEPT_RUNS).deadlines.errors
    assert len(errors) == 10
    assert max(errors.values()) <= 0.05


@pytest.mark.parametrize("runs", FEW)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not drifting])
def test_a_short_history_widens_the_forecast_enough(kind: Draw, runs: int) -> None:
    figures = measured_once(kind, runs)
    assert figures.before.p95_share >= 0.92
    assert figures.running.p95_share >= 0.88
    assert 0.45 <= figures.before.median_share <= 0.55


@pytest.mark.parametrize(("runs", "at_least"), [(5, 0.93), (10, 0.88), (20, 0.93)])
def test_a_drift_in_a_short_history_costs_a_few_percent(runs: int, at_least: float) -> None:
    assert measured_once(drifting, runs).before.p95_share >= at_least


@pytest.mark.parametrize("steps", [steady, uneven])
def test_93_to_97_percent_of_runs_with_progress_end_before_their_p95_end(
    steps: Callable[[random.Random], list[float]],
) -> None:
    count = measured_with_progress(steps)
    assert count.forecasts >= 1500
    assert 0.93 <= count.p95_share <= 0.97
    assert 0.45 <= count.median_share <= 0.55


def test_runs_after_a_wait_end_before_their_p95_end() -> None:
    assert 0.92 <= measured_waiting().p95_share <= 0.98


def spread(times: float) -> Callable[[list[int]], list[int]]:
    def distort(history: list[int]) -> list[int]:
        middle = median(history)
        return [round(middle + times * (seconds - middle)) for seconds in history]

    return distort


def hide_drift(history: list[int]) -> list[int]:
    return [*history[::2], *reversed(history[1::2])]


@pytest.mark.parametrize(("kind", "distort"), [(stable, spread(0.7)), (stable, spread(1.4)), (drifting, hide_drift)])
def test_this_suite_detects_a_miscalibrated_forecast(kind: Draw, distort: Callable[[list[int]], list[int]]) -> None:
    figures = measured(kind, KEPT_RUNS, FEWER_PAIRS, distort)
    assert not 0.93 <= figures.before.p95_share <= 0.97
    assert not 0.93 <= figures.running.p95_share <= 0.97
    assert max(figures.deadlines.errors.values()) > 0.05
