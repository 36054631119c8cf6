"""``make notices``, as a user runs it beside the stack."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

from local.stack import Stack
from tests.e2e.punctual import Punctual, wait_for

ROOT = Path(__file__).parents[2]


@contextmanager
def following(stack: Stack) -> Iterator[list[str]]:
    """Run the command until the block ends, and yield the lines that it has printed. Ctrl-C must end it cleanly."""
    environment = {**os.environ, "PUNCTUAL_LOCAL_DIR": str(stack.places.directory)}
    command = [sys.executable, "-m", "local", "notices"]
    lines: list[str] = []
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reader = Thread(target=collect, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            yield lines
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0
        finally:
            process.kill()
            reader.join()


def collect(stream: IO[str], lines: list[str]) -> None:
    lines.extend(iter(stream.readline, ""))


def test_the_notice_of_a_failed_job_is_shown_when_it_arrives(stack: Stack, punctual: Punctual) -> None:
    with following(stack) as lines:
        wait_for(lambda: any("Waiting for notices" in line for line in lines), 60, "the subscription")
        failed = punctual.run_job(name="shown by make notices", task="fail", parameters={"fatal": True})
        assert failed["status"] == "failed"
        wait_for(lambda: any("shown by make notices failed" in line for line in lines), 60, "the notice")
        link = f"/console/executions/{failed['execution_id']}"
        wait_for(lambda: any(link in line for line in lines), 10, "its link")
