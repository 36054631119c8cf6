"""Letting the functions come to rest before the emulator stops, and letting them go on afterwards.

What the emulator saves when it stops is one service after the other, while the functions still run; and it
saves no stream records. A message could be gone from its queue while its execution still waits for it, and a
record that nobody has read yet would never be read. So first nothing new may begin, then the streams run dry.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from local.aws import client

# Everything that begins something. The planner and the settler only follow the streams: they finish their work.
BEGINNERS = ("api", "dispatcher", "worker", "intake")
QUIET_SECONDS = 1.0
PATIENCE_SECONDS = 15.0


def hold(endpoint: str, functions: Mapping[str, str], log: Path) -> None:
    """Let no function begin anything new, and return when those that follow the streams are done."""
    lambda_ = client("lambda", endpoint)
    for name in BEGINNERS:
        lambda_.put_function_concurrency(FunctionName=functions[name], ReservedConcurrentExecutions=0)
    _wait_until_quiet(log)


def release(endpoint: str, functions: Mapping[str, str]) -> None:
    """Undo `hold`. Repeating it changes nothing."""
    lambda_ = client("lambda", endpoint)
    for name in BEGINNERS:
        with suppress(lambda_.exceptions.ResourceNotFoundException):  # it may be about to be deployed again
            lambda_.delete_function_concurrency(FunctionName=functions[name])


def _wait_until_quiet(log: Path) -> None:
    """The emulator logs each batch of a stream: when it says nothing for a while, there are none left."""
    end = time.monotonic() + PATIENCE_SECONDS
    size, since = -1, time.monotonic()
    while time.monotonic() < end and time.monotonic() - since < QUIET_SECONDS:
        now = log.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.05)
