"""Histories of run times, and the run times that follow from them."""

from __future__ import annotations

import random
from math import exp

from hypothesis import settings
from hypothesis import strategies as st

from punctual.domain.forecasts.run_history import KEPT_RUNS, MIN_RUNS
from punctual.domain.forecasts.run_time import RunTime, run_time_of

HOUR = 3600
DAY = 24 * HOUR
ALMOST = 1 - 1e-9
"""Tolerance for floating-point sums."""

SECONDS = st.integers(0, 3 * DAY)
SHARES = st.floats(0.01, 0.99)
MOMENTS = st.floats(0, 4 * DAY)
HISTORIES = st.lists(SECONDS, min_size=MIN_RUNS, max_size=KEPT_RUNS)
RUN_TIMES = st.builds(
    run_time_of,
    st.one_of(st.just([]), HISTORIES),
    st.one_of(st.none(), st.integers(1, 3 * DAY)),
    st.integers(1, 3 * DAY),
)
properties = settings(max_examples=200, deadline=None, derandomize=True)


def around(seconds: float, share: float = 0.05, runs: int = KEPT_RUNS, seed: int = 1) -> list[int]:
    """Random run times around so many seconds."""
    draw = random.Random(seed)
    return [round(seconds * exp(draw.gauss(0, share))) for _ in range(runs)]


def without_trend(runs: list[int]) -> list[int]:
    """The same runs in an order that shows no drift."""
    rising = sorted(runs)
    return [*rising[::2], *reversed(rising[1::2])]


def run_time(runs: list[int], timeout: int = 7 * DAY) -> RunTime:
    return run_time_of(runs, None, timeout)
