"""Virtual time and cooperative processes. Only one process runs at a time; it is suspended before each AWS request.

A process is an invocation of a function. It runs in a greenlet of its own and is resumed by the kernel, so that any
number of processes interleave between any two requests, in an order that depends on the events' times alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter
from greenlet import getcurrent, greenlet

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Killed(BaseException):
    """The process dies here. Not an ``Exception``: no code of the process may handle it."""


class Process:
    """A running invocation. ``result`` or ``error`` is set when it has ended by itself."""

    def __init__(self, kernel: Kernel, name: str, act: Callable[[], Any], ends: Callable[[Process], None]) -> None:
        self.name, self.is_dead, self.has_ended = name, False, False
        self.skew, self.started_at = timedelta(), kernel.now
        self.deadline = datetime.max.replace(tzinfo=UTC)
        """When the function's timeout kills it."""
        self.result: Any = None
        self.error: Exception | None = None
        self.calls = 0
        self._is_blocked = False
        self._kernel, self._act, self._ends = kernel, act, ends
        self._greenlet = greenlet(self._run, parent=kernel.hub)
        self._greenlet.process = self  # type: ignore[attr-defined]

    def resume(self) -> None:
        """Run until the next suspension or the end. No effect on a process that has ended or was killed."""
        if self.has_ended or self.is_dead:
            return
        if self._kernel.now > self.deadline:
            self.kill("timeout")
            return
        self._greenlet.switch()

    def suspend(self, seconds: float) -> None:
        """Let other processes run. Called by the process itself. Raises ``Killed`` if it was killed meanwhile."""
        self._kernel.after(seconds, self.resume)
        self._switch()
        if self.is_dead:
            raise Killed

    def block(self) -> None:
        """Let other processes run until the next ``poke``, which may come for another reason than the expected one."""
        self._is_blocked = True
        self._switch()
        self._is_blocked = False
        if self.is_dead:
            raise Killed

    def _switch(self) -> None:
        """Return to the kernel. Powertools keeps the request of a process in a variable, which processes share here."""
        request = vars(BaseRouter).get("current_event")
        self._kernel.hub.switch()
        BaseRouter.current_event = request

    def poke(self) -> None:
        """Resume the process if it is blocked."""
        self._kernel.after(0, self._unblock)

    def poke_at(self, when: datetime) -> None:
        self._kernel.at(when, self._unblock)

    def _unblock(self) -> None:
        if self._is_blocked:
            self.resume()

    def kill(self, why: str) -> None:
        """End the process: where it is suspended, or here if it kills itself."""
        if self.has_ended or self.is_dead:
            return
        self._kernel.log(f"{self.name} is killed: {why}")
        self.is_dead = True
        if self._kernel.current is self:
            raise Killed
        if self._kernel.current is None:
            self._greenlet.switch()
        else:
            self._kernel.after(0, self._continue_to_die)

    def _continue_to_die(self) -> None:
        if not self.has_ended:
            self._greenlet.switch()

    def die(self) -> None:
        """Continue to die: code that runs while the exception propagates must have no effect."""
        raise Killed

    def _run(self) -> None:
        try:
            if not self.is_dead:
                self.result = self._act()
        except Killed:
            self.is_dead = True
        except Exception as error:
            self.error = error
        self.has_ended = True
        self._kernel.running.pop(self, None)
        self._ends(self)


class Kernel:
    def __init__(self) -> None:
        self.now = START
        self.hub = getcurrent()
        """The greenlet of the kernel, to which every process returns."""
        self.running: dict[Process, None] = {}
        self.tracing = False
        self.trace: list[str] = []
        self.steps = 0
        self._events: list[tuple[datetime, int, Callable[[], None]]] = []
        self._numbers = count()

    def at(self, when: datetime, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(when, self.now), next(self._numbers), act))

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        self.at(self.now + timedelta(seconds=seconds), act)

    def start(
        self,
        name: str,
        act: Callable[[], Any],
        *,
        ends: Callable[[Process], None] = lambda _: None,
        skew: timedelta = timedelta(),
        timeout: float | None = None,
    ) -> Process:
        """Start a process: it runs as the next event."""
        process = Process(self, name, act, ends)
        process.skew = skew
        if timeout is not None:
            process.deadline = self.now + timedelta(seconds=timeout)
        self.running[process] = None
        self.after(0, process.resume)
        return process

    def step(self) -> None:
        """Handle the next event."""
        self.now, _, act = heapq.heappop(self._events)
        self.steps += 1
        act()

    @property
    def current(self) -> Process | None:
        """The process that runs now; ``None`` in the kernel itself."""
        return getattr(getcurrent(), "process", None)

    def clock(self) -> datetime:
        """The time as the running process sees it, in whole milliseconds."""
        process = self.current
        now = self.now + process.skew if process else self.now
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def log(self, text: str) -> None:
        if self.tracing:
            self.trace.append(f"{self.now:%H:%M:%S.%f}"[:-3] + f"  {text}")
