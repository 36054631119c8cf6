"""As many seeds as run in half a minute, from another range each day. ``make simulate`` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.simulator.simulation import simulate

ROOT = Path(__file__).parents[2]
SEEDS = 100
"""More than run in that time."""
SECONDS = 30
"""The seed that runs at the end of this time is cut off: a busy machine completes fewer of them."""


def seeds_of(day: date) -> range:
    first = day.toordinal() * SEEDS
    return range(first, first + SEEDS)


def test_each_day_runs_the_seeds_after_those_of_the_day_before() -> None:
    day = date(2026, 11, 16)
    assert seeds_of(day + timedelta(days=1)).start == seeds_of(day).stop


def test_a_run_is_cut_off_when_its_time_is_up() -> None:
    outcome = simulate(1, stop_at=time.monotonic())
    assert not outcome.is_complete
    assert not outcome.violations
    assert outcome.steps <= 5


def test_the_seeds_of_the_day_violate_no_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = seeds_of(datetime.now(UTC).date())
    command = [sys.executable, "-m", "tests.simulator", str(seeds.start), str(seeds.stop - 1)]
    command += ["--seconds", str(SECONDS)]
    environment = os.environ | {"PYTHONPATH": "layers/punctual/python:."}
    run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)  # the trace of the first seed that fails
    assert run.returncode == 0, run.stdout
    summary = [line for line in run.stdout.splitlines() if " seeds from " in line][-1]
    with capsys.disabled():
        print(f"\nseeds of the day: {summary}")
