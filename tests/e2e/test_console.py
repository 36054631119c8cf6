"""The web console in headless Chromium, on the deployed stack."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from local.stack import Stack
from tests.e2e.many_jobs import TEAM, many_jobs
from tests.e2e.punctual import Punctual

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".build" / "pictures"


def test_the_console_works_in_a_browser(punctual: Punctual, stack: Stack) -> None:
    """Runs `console/browser`, and stores pictures of the views."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    play(punctual, stack, PICTURES=str(PICTURES))


def test_the_console_lists_ten_thousand_jobs(punctual: Punctual, stack: Stack) -> None:
    with many_jobs(punctual.stack, 10_000):
        play(punctual, stack, "large", LARGE_TEAM=TEAM)


def play(punctual: Punctual, stack: Stack, *files: str, **environment: str) -> None:
    """Run the browser tests in these files, or in all."""
    ran = subprocess.run(
        [ROOT / "node_modules" / ".bin" / "playwright", "test", *files],
        cwd=ROOT / "console",
        env=os.environ
        | {
            "API_URL": punctual.stack["api_url"],
            "CONSOLE_URL": punctual.stack["console_url"],
            "EMULATOR_URL": punctual.stack["endpoint_url"],
            "API_FUNCTION": punctual.stack["functions"]["api"],
            "TOKEN": punctual.stack["tokens"]["operator"],
            "PASSWORDS": json.dumps(json.loads(stack.places.passwords.read_text())),
        }
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
