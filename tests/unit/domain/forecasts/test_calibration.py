"""Are forecasts honest? Many jobs are made up, each with a history and the run that follows, and what came is counted.

``pytest -s`` shows the table.
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

from punctual.domain.forecasts.forecast import Forecast, Pace, Wait, forecast, remaining
from punctual.domain.forecasts.run_history import KEPT_RUNS
from punctual.domain.forecasts.run_time import RunTime, run_time_of

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = 3600
TIMEOUT = 10**8
PAIRS = 4000
FEWER_PAIRS = 800
MOMENTS = 3
MORE_DEADLINES = 4
FEW = (5, 10, 20)
STEPS = 200
NONE = Wait()

Draw = Callable[[random.Random, int], float]
"""The seconds that a job's run of this number takes."""


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
    """When each step of a run is done, if all take the same."""
    took = stable(draw, 0)
    return [took * step / STEPS for step in range(1, STEPS + 1)]


def uneven(draw: random.Random) -> list[float]:
    """When each step of a run is done, if they differ by as much as explains the differences between stable runs."""
    return list(accumulate(draw.gammavariate(2, 8 * HOUR / STEPS / 2) for _ in range(STEPS)))


@dataclass
class Count:
    """Of those asked about, how many ended by their median end and by their P95 end."""

    asked: int = 0
    by_median: int = 0
    by_p95: int = 0

    def add(self, took: float, median: float, p95: float) -> None:
        self.asked += 1
        self.by_median += took <= median
        self.by_p95 += took <= p95

    @property
    def median_share(self) -> float:
        return self.by_median / self.asked

    @property
    def p95_share(self) -> float:
        return self.by_p95 / self.asked

    def __str__(self) -> str:
        return f"{self.asked:6} {self.median_share:7.1%} {self.p95_share:7.1%}"


@dataclass
class Promises:
    """Probabilities of meeting some deadline, and how many did meet it, by tenths of the probability."""

    given: dict[int, list[float]] = field(default_factory=dict)
    kept: Counter[int] = field(default_factory=Counter)

    def add(self, probability: float, kept: bool) -> None:
        tenth = min(int(probability * 10), 9)
        self.given.setdefault(tenth, []).append(probability)
        self.kept[tenth] += kept

    @property
    def errors(self) -> dict[int, float]:
        """How far the share that met its deadline is from what was promised."""
        return {tenth: abs(self.kept[tenth] / len(given) - mean(given)) for tenth, given in self.given.items()}


@dataclass
class Figures:
    before: Count = field(default_factory=Count)
    running: Count = field(default_factory=Count)
    promises: Promises = field(default_factory=Promises)


def asked(run_time: RunTime, elapsed: float | None, deadline: float | None = None, wait: Wait = NONE) -> Forecast:
    """The forecast for a run that starts, or started, now; all else is seconds since then."""
    return forecast(
        now=NOW + timedelta(seconds=elapsed or 0),
        run_time=run_time,
        not_before=NOW,
        wait=wait,
        started_at=None if elapsed is None else NOW,
        pace=None,
        deadline_at=None if deadline is None else NOW + timedelta(seconds=deadline),
    )


def ends(told: Forecast) -> tuple[float, float]:
    return (told.median_end - NOW).total_seconds(), (told.p95_end - NOW).total_seconds()


def measured(
    kind: Draw, runs: int, pairs: int, believed: Callable[[list[int]], Sequence[int]] = lambda history: history
) -> Figures:
    """Each pair is a history and the run that follows it, which is asked about before it starts and while it runs.

    The moments at which it is asked again know nothing of its end: they lie anywhere up to the longest run of its
    history, and those that it does not live to see do not count. ``believed`` is what the forecast sees of the history.
    """
    draw, figures = random.Random(f"{kind.__name__} {runs}"), Figures()
    for _ in range(pairs):
        history = [round(kind(draw, number)) for number in range(runs)]
        took = kind(draw, runs)
        run_time = run_time_of(believed(history), None, TIMEOUT)
        told = asked(run_time, None, deadline := kind(draw, runs))
        figures.before.add(took, *ends(told))
        figures.promises.add(told.probability or 0.0, took <= deadline)
        for _ in range(MOMENTS):
            elapsed = draw.uniform(0, max(history))
            if elapsed < took:
                figures.running.add(took, *ends(asked(run_time, elapsed)))
        for _ in range(MORE_DEADLINES):
            deadline = kind(draw, runs)
            figures.promises.add(run_time.within(deadline), took <= deadline)
    return figures


@cache
def measured_once(kind: Draw, runs: int) -> Figures:
    return measured(kind, runs, PAIRS if runs == KEPT_RUNS else FEWER_PAIRS)


@cache
def measured_waiting() -> Count:
    """Stable runs that wait first, most of them shortly and some for long."""
    draw, count = random.Random("waiting"), Count()
    wait = Wait(median=HOUR * log(2), p95=HOUR * log(20))
    for _ in range(FEWER_PAIRS):
        run_time = run_time_of([round(stable(draw, number)) for number in range(KEPT_RUNS)], None, TIMEOUT)
        count.add(draw.expovariate(1 / HOUR) + stable(draw, KEPT_RUNS), *ends(asked(run_time, None, wait=wait)))
    return count


@cache
def measured_with_progress(steps: Callable[[random.Random], list[float]]) -> Count:
    """Runs that tell how far they are, in whole percent, and how far they were half an hour ago."""
    draw, count = random.Random(steps.__name__), Count()
    for _ in range(FEWER_PAIRS):
        run_time = run_time_of([round(stable(draw, number)) for number in range(KEPT_RUNS)], None, TIMEOUT)
        done = steps(draw)
        elapsed = draw.uniform(HOUR / 2, 9 * HOUR)
        if elapsed < done[-1]:
            now, then = (bisect_right(done, at) * 100 // STEPS / 100 for at in (elapsed, elapsed - HOUR / 2))
            pace = Pace(fraction=now, elapsed=elapsed, earlier_fraction=then, earlier_elapsed=elapsed - HOUR / 2)
            rest = remaining(run_time, elapsed, pace)
            count.add(done[-1] - elapsed, rest.quantile(0.5), rest.quantile(0.95))
    return count


def table() -> str:
    """Of those asked about, the share that ended by its median end and by its P95 end."""
    count = f"{'asked':>6} {'median':>7} {'P95':>7}"
    lines = [
        f"{'':19} {'before the start':>22}  {'while running':>22}  promises,",
        f"{'history':14} runs {count}  {count}  worst tenth",
    ]
    for runs in (KEPT_RUNS, *FEW):
        for kind in KINDS:
            figures = measured_once(kind, runs)
            worst = max(figures.promises.errors.values())
            lines.append(f"{kind.__name__:14} {runs:4} {figures.before}  {figures.running}  off by {worst:5.1%}")
    for steps in (steady, uneven):
        told = f"stable, tells {steps.__name__} progress"
        lines.append(f"{told:43} {measured_with_progress(steps)}")
    lines.append(f"{'stable, waits':14} {KEPT_RUNS:4} {measured_waiting()}")
    return "\n".join(lines)


@pytest.fixture(scope="module", autouse=True)
def _shown() -> None:
    print("", table(), sep="\n")


@pytest.mark.parametrize("kind", KINDS)
def test_of_those_given_a_p95_end_93_to_97_percent_end_before_it(kind: Draw) -> None:
    before = measured_once(kind, KEPT_RUNS).before
    assert before.asked >= 4000
    assert 0.93 <= before.p95_share <= 0.97
    assert 0.45 <= before.median_share <= 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_of_those_asked_about_while_they_run_93_to_97_percent_end_before_their_p95_end(kind: Draw) -> None:
    running = measured_once(kind, KEPT_RUNS).running
    assert running.asked >= 2000
    assert 0.93 <= running.p95_share <= 0.97
    assert 0.45 <= running.median_share <= 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_deadlines_are_met_as_often_as_promised(kind: Draw) -> None:
    errors = measured_once(kind, KEPT_RUNS).promises.errors
    assert len(errors) == 10
    assert max(errors.values()) <= 0.05


@pytest.mark.parametrize("runs", FEW)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not drifting])
def test_few_runs_are_made_up_for_by_a_wider_forecast(kind: Draw, runs: int) -> None:
    figures = measured_once(kind, runs)
    assert figures.before.p95_share >= 0.92
    assert figures.running.p95_share >= 0.88
    assert 0.45 <= figures.before.median_share <= 0.55


@pytest.mark.parametrize(("runs", "at_least"), [(5, 0.93), (10, 0.88), (20, 0.93)])
def test_a_drift_too_short_to_be_told_from_chance_costs_a_few_percent(runs: int, at_least: float) -> None:
    assert measured_once(drifting, runs).before.p95_share >= at_least


@pytest.mark.parametrize(("steps", "at_least"), [(steady, 0.97), (uneven, 0.91)])
def test_those_that_tell_how_far_they_are_end_before_their_p95_end(
    steps: Callable[[random.Random], list[float]], at_least: float
) -> None:
    assert measured_with_progress(steps).p95_share >= at_least


def test_those_that_wait_first_end_before_their_p95_end() -> None:
    assert 0.92 <= measured_waiting().p95_share <= 0.98


def spread(times: float) -> Callable[[list[int]], list[int]]:
    def believed(history: list[int]) -> list[int]:
        middle = median(history)
        return [round(middle + times * (seconds - middle)) for seconds in history]

    return believed


def with_its_drift_hidden(history: list[int]) -> list[int]:
    return [*history[::2], *reversed(history[1::2])]


@pytest.mark.parametrize(
    ("kind", "believed"), [(stable, spread(0.7)), (stable, spread(1.4)), (drifting, with_its_drift_hidden)]
)
def test_a_forecast_that_is_off_is_found_out(kind: Draw, believed: Callable[[list[int]], list[int]]) -> None:
    figures = measured(kind, KEPT_RUNS, FEWER_PAIRS, believed)
    assert not 0.93 <= figures.before.p95_share <= 0.97
    assert not 0.93 <= figures.running.p95_share <= 0.97
    assert max(figures.promises.errors.values()) > 0.05
