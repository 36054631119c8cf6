"""A bounded number of seeds, another range each day, all of which are run. ``make simulate`` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = 25
"""As many as take about 40 seconds."""


def seeds_of(day: date) -> range:
    first = day.toordinal() * SEEDS
    return range(first, first + SEEDS)


def test_each_day_runs_the_seeds_after_those_of_the_day_before() -> None:
    day = date(2026, 11, 16)
    assert seeds_of(day + timedelta(days=1)).start == seeds_of(day).stop


def test_the_seeds_of_the_day_violate_no_invariant() -> None:
    seeds = seeds_of(datetime.now(UTC).date())
    command = [sys.executable, "-m", "tests.simulator", str(seeds.start), str(seeds.stop - 1)]
    environment = os.environ | {"PYTHONPATH": "layers/punctual/python:."}
    run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)  # the seeds, and the trace of the first that fails
    assert run.returncode == 0, run.stdout
