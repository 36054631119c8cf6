"""Letting the functions come to rest before the emulator stops or they are replaced, and go on afterwards.

What the emulator saves when it stops is one service after the other, while the functions still run; and it
saves no stream records. A message could be gone from its queue while its execution still waits for it, and a
record that nobody has read yet would never be read. And it kills a function that is replaced while it works.
So first nothing new may begin, then what was begun ends and the streams run dry.

Containers are under way for hours. When the emulator stops, they leave at their next checkpoint; when functions are
replaced, they go on, and repeat a report that was lost.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from os import SEEK_END
from pathlib import Path
from typing import Any

from local.aws import client

# What begins something new. The planner and the settler are not among these: they only follow the streams, and
# finish their work. Nor are the conductor and the reporter: they answer what is under way. Containers report as they
# leave, and a state machine that was refused would take it for a failure.
SCHEDULING = ("dispatcher", "admission", "reconciler")
CALLED = ("api", *SCHEDULING)
# Not by a limit alone: a message that was received but refused would stay hidden for minutes, and a record would be
# tried again and again.
READING = ("worker", "intake", "admission")
QUIET_SECONDS = 1.5
PATIENCE_SECONDS = 15.0
# What the emulator writes of a batch from a stream or a queue, and of a function that a schedule or an event woke.
# The other calls of functions do not count: containers report on and on.
STIR = (b"ESM: Lambda", b"async output", b"EventBridge ")


class Traffic:
    """Holds and releases the functions of one deployed stack. Repeating either changes nothing."""

    def __init__(self, endpoint: str, functions: Mapping[str, str]) -> None:
        self._lambda: Any = client("lambda", endpoint)
        self._functions = functions

    def hold_all(self) -> None:
        """Nothing begins any more; what is under way goes on."""
        self._refuse("api")
        self.hold_scheduling()

    def hold_scheduling(self) -> None:
        """The API answers, and what it accepts is kept for later; what is under way goes on."""
        for name in SCHEDULING:
            self._refuse(name)
        self._read(False)

    def release(self, name: str) -> None:
        """Let one function be called, before all others."""
        # One that is not there will come without a limit.
        if name in self._functions:
            with suppress(self._lambda.exceptions.ResourceNotFoundException):
                self._lambda.delete_function_concurrency(FunctionName=self._functions[name])

    def release_all(self) -> None:
        for name in CALLED:
            self.release(name)
        self._read(True)

    def _refuse(self, name: str) -> None:
        if name in self._functions:  # not yet in a stack of last month
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
    """The emulator logs each batch of a stream: when it tells of none for a while, there are none left."""
    since = start = time.monotonic()
    with log.open("rb") as lines:
        lines.seek(0, SEEK_END)
        while time.monotonic() - since < QUIET_SECONDS and time.monotonic() - start < PATIENCE_SECONDS:
            if any(word in line for line in lines for word in STIR):
                since = time.monotonic()
            time.sleep(0.05)
