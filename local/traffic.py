"""Letting the functions come to rest before the emulator stops or they are replaced, and go on afterwards.

What the emulator saves when it stops is one service after the other, while the functions still run; and it
saves no stream records. A message could be gone from its queue while its execution still waits for it, and a
record that nobody has read yet would never be read. And it kills a function that is replaced while it works.
So first nothing new may begin, then what was begun ends and the streams run dry.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.aws import client

# The planner and the settler are not among these: they only follow the streams, and finish their work.
CALLED = ("api", "dispatcher")
READING_QUEUES = ("worker", "intake")
QUIET_SECONDS = 1.5
PATIENCE_SECONDS = 15.0


class Traffic:
    """Holds and releases the functions of one deployed stack. Repeating either changes nothing."""

    def __init__(self, endpoint: str, functions: Mapping[str, str]) -> None:
        self._lambda: Any = client("lambda", endpoint)
        self._functions = functions

    def hold_all(self, log: Path) -> None:
        """Nothing begins any more, and what followed from before has happened."""
        self._refuse("api")
        self.hold_scheduling(log)

    def hold_scheduling(self, log: Path) -> None:
        """The API answers, and what it accepts is kept for later."""
        self._refuse("dispatcher")
        self._read_queues(False)
        _wait_until_quiet(log)

    def release_api(self) -> None:
        self._accept("api")

    def release_all(self) -> None:
        for name in CALLED:
            self._accept(name)
        self._read_queues(True)

    def _refuse(self, name: str) -> None:
        self._lambda.put_function_concurrency(FunctionName=self._functions[name], ReservedConcurrentExecutions=0)

    def _accept(self, name: str) -> None:
        # A function that is not there will come without a limit.
        with suppress(self._lambda.exceptions.ResourceNotFoundException):
            self._lambda.delete_function_concurrency(FunctionName=self._functions[name])

    def _read_queues(self, enabled: bool) -> None:
        """Not by a limit: a message that was received but refused would stay hidden for minutes."""
        for source in self._queue_sources():
            self._lambda.update_event_source_mapping(UUID=source, Enabled=enabled)

    def _queue_sources(self) -> Iterator[str]:
        for name in READING_QUEUES:
            reply = self._lambda.list_event_source_mappings(FunctionName=self._functions[name])
            yield from (mapping["UUID"] for mapping in reply["EventSourceMappings"])


def _wait_until_quiet(log: Path) -> None:
    """The emulator logs each batch of a stream: when it says nothing for a while, there are none left."""
    end = time.monotonic() + PATIENCE_SECONDS
    size, since = -1, time.monotonic()
    while time.monotonic() < end and time.monotonic() - since < QUIET_SECONDS:
        now = log.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.05)
