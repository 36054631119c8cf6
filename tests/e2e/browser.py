"""Runs the browser tests of the console: ``python -m tests.e2e.browser`` stores the pictures of the documentation."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from local.places import Places
from local.stack import Stack

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def play(stack: Stack, *files: str, **environment: str) -> None:
    """Run the browser tests in these files, or in all, against the running stack. Raises ``AssertionError``."""
    known = stack.require()
    ran = subprocess.run(
        [ROOT / "node_modules" / ".bin" / "playwright", "test", *files],
        cwd=ROOT / "console",
        env=os.environ
        | {
            "API_URL": known["api_url"],
            "CONSOLE_URL": known["console_url"],
            "EMULATOR_URL": known["endpoint_url"],
            "FUNCTIONS": json.dumps(known["functions"]),
            "TOKEN": known["tokens"]["operator"],
            "PASSWORDS": json.dumps(json.loads(stack.places.passwords.read_text())),
        }
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]


if __name__ == "__main__":
    play(Stack(Places.from_env()), "pictures", PICTURES=str(PICTURES))
