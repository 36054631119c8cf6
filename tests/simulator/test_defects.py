"""The simulator finds defects of earlier versions that are put back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOUND_BY = {
    "two_at_once": 3,
    "waiter_never_woken": 15,
    "own_claim_not_recognised": 3,
    "two_jobs_for_one_key": 2,
    "two_runs_of_one_execution": 16,
    "rate_ignored": 6,
    "long_execution_without_places": 4,
    "long_execution_started_early": 1,
    "taken_over_before_the_lease_expired": 24,
    "paused_job_continues": 25,
    "message_of_a_batch_lost": 17,
    "full_gate_without_rule": 3,
}
"""A seed that finds each defect. The other defects are so rare that a search takes longer than a test may."""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """The first violation per defect, from a process whose sets have a fixed order, as the seeds require."""
    searches = [f"{name}={FOUND_BY[name]}" for name in FOUND_BY]
    environment = os.environ | {"PYTHONPATH": "layers/punctual/python:.", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.simulator.defects", *searches]
    run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {line["defect"]: line for line in map(json.loads, run.stdout.splitlines())}


@pytest.mark.parametrize("defect", FOUND_BY)
def test_the_simulator_finds_a_defect_that_is_put_back(found: dict[str, dict[str, Any]], defect: str) -> None:
    search = f"find another seed: python -m tests.simulator 1 2000 --defect {defect}"
    assert found[defect]["violation"], search
    print(found[defect])
