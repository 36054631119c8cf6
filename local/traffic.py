"""Pause the functions before the emulator stops or a deployment replaces them, and resume them afterwards.

When the emulator stops, it saves one service after the other while functions still run, and it saves no stream records.
A message could be missing from its queue while its execution still waits for it, and unread stream records would be
lost. A deployment terminates running Lambda invocations. So first no new work starts, then running functions finish and
the streams drain.

Containers run for hours. When the emulator stops, they stop at their next checkpoint. During a deployment they keep
running, and repeat a report that was lost.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from typing import Any

from local.aws import client

# Functions that start new work. The planner and the settler keep running, because they only drain the streams. So do
# the conductor and the reporter, because they serve runs in progress: containers report when they stop, and a state
# machine would count a rejected call as a failure.
SCHEDULING = ("dispatcher", "admission", "reconciler")
CALLED = ("api", *SCHEDULING)
# The event sources of these functions are disabled as well. With a concurrency of 0 alone, received messages would stay
# invisible for minutes, and stream records would be retried in a loop.
READING = ("worker", "intake", "admission", "bulk")
QUIET_SECONDS = 1.5
PATIENCE_SECONDS = 15.0
# Log lines of the emulator for a batch from a stream or a queue, and for an invocation by a schedule or an event. Other
# invocations do not count: containers report continuously.
ACTIVITY = (b"ESM: Lambda", b"async output", b"EventBridge ")


class Traffic:
    """Pauses and resumes the functions of one deployed stack. Both are idempotent."""

    def __init__(self, endpoint: str, functions: Mapping[str, str]) -> None:
        self._lambda: Any = client("lambda", endpoint)
        self._functions = functions

    def hold_all(self) -> None:
        """Start no new work, and reject API requests. Work in progress continues."""
        self._refuse("api")
        self.hold_scheduling()

    def hold_scheduling(self) -> None:
        """Start no new work. The API still accepts jobs for later. Work in progress continues."""
        for name in SCHEDULING:
            self._refuse(name)
        self._read(False)

    def release(self, name: str) -> None:
        """Remove the concurrency limit of one function. Its event sources stay disabled until ``release_all``."""
        # A function that does not exist yet will be created without a limit.
        if name in self._functions:
            with suppress(self._lambda.exceptions.ResourceNotFoundException):
                self._lambda.delete_function_concurrency(FunctionName=self._functions[name])

    def release_all(self) -> None:
        for name in CALLED:
            self.release(name)
        self._read(True)

    def _refuse(self, name: str) -> None:
        if name in self._functions:  # an older stack may lack the function
            self._lambda.put_function_concurrency(FunctionName=self._functions[name], ReservedConcurrentExecutions=0)

    def _read(self, enabled: bool) -> None:
        for source in self._sources():
            self._lambda.update_event_source_mapping(UUID=source, Enabled=enabled)

    def _sources(self) -> Iterator[str]:
        for name in READING:
            if name in self._functions:
                reply = self._lambda.list_event_source_mappings(FunctionName=self._functions[name])
                yield from (mapping["UUID"] for mapping in reply["EventSourceMappings"])


def wait_until_quiet(log: Path) -> None:
    """Wait until no invocation (``ACTIVITY``) was logged for 1.5 s, at most 15 s.

    The streams are then normally drained. Work queues keep their messages.
    """
    since = start = time.monotonic()
    with log.open("rb") as lines:
        lines.seek(0, SEEK_END)
        while time.monotonic() - since < QUIET_SECONDS and time.monotonic() - start < PATIENCE_SECONDS:
            if any(word in line for line in lines for word in ACTIVITY):
                since = time.monotonic()
            time.sleep(0.05)
