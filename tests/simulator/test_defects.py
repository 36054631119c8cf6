"""The simulator finds defects of earlier versions that are put back, each in a few short runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.defects import DEFECTS, FOUND_IN, SEEDS
from tests.simulator.profiles import PROFILES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """The first violation per defect, from a process whose sets have a fixed order, as the seeds require."""
    environment = os.environ | {"PYTHONPATH": "layers/punctual/python:.", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.simulator.defects"]
    run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {line["defect"]: line for line in map(json.loads, run.stdout.splitlines())}


@pytest.mark.parametrize("defect", FOUND_IN)
def test_the_simulator_finds_a_defect_that_is_put_back(found: dict[str, dict[str, Any]], defect: str) -> None:
    assert found[defect]["violation"], f"none of {SEEDS} runs of the profile “{FOUND_IN[defect]}” finds it"
    print(found[defect])


def test_every_defect_has_a_profile() -> None:
    assert FOUND_IN.keys() == DEFECTS.keys()
    assert set(FOUND_IN.values()) <= PROFILES.keys()
