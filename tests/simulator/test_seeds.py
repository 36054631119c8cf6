"""A bounded number of seeds, another range each day: in 100 days, seeds 1 to 10,000. ``make simulate`` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = 100
RANGES = 100
SECONDS = 40


def test_the_seeds_of_the_day_violate_no_invariant() -> None:
    first = datetime.now(UTC).toordinal() % RANGES * SEEDS + 1
    command = [sys.executable, "-m", "tests.simulator", str(first), str(first + SEEDS - 1), "--seconds", str(SECONDS)]
    environment = os.environ | {"PYTHONPATH": "layers/punctual/python:."}
    run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)  # the seeds, and the trace of the first that fails
    assert run.returncode == 0, run.stdout
