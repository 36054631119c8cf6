"""A function invocation that can be suspended before any of its AWS calls, and then resumed or killed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from punctual.domain.executions.attempt_decision import AttemptResult
from punctual.domain.executions.execution import Execution, Failure, Outcome
from tests.integration.fixture_tasks import Killed


class Manner(StrEnum):
    """How a task behaves."""

    THROUGH = "through"
    FAILS = "fails"
    STAYS = "stays"


@dataclass
class Run:
    """A started task."""

    execution: Execution
    lease_until: datetime
    stopping: bool = False
    returned: bool = False


class Process:
    """A function invocation in a thread. It runs only while the test waits, so that the order is deterministic."""

    def __init__(self, name: str, act: Callable[[], Any], ends_at: datetime) -> None:
        self.name, self.ends_at = name, ends_at
        self.over = self.died = False
        self.answer: Any = None
        self.run: Run | None = None
        """The task that it is running."""
        self.manner = Manner.STAYS
        self._act, self._error = act, None
        self._calls: int | None = None
        self._may_go, self._rests = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._live, name=name, daemon=True).start()

    def go(self, calls: int | None = None) -> None:
        """Resume until it ends, enters a long task, or is about to make the AWS call with this number."""
        self._calls = calls
        self._may_go.release()
        self._rests.acquire()
        if self._error is not None:
            raise self._error

    def die(self) -> None:
        self.died = True
        self.go()

    def rest(self) -> None:
        """Suspend. Called in the thread of the process."""
        self._rests.release()
        self._may_go.acquire()
        if self.died:
            raise Killed

    def about_to_call(self) -> None:
        if self.died:
            raise Killed
        if self._calls is not None:
            self._calls -= 1
            if self._calls == 0:
                self.rest()

    def _live(self) -> None:
        self._may_go.acquire()
        PROCESS.set(self)
        try:
            if not self.died:
                self.answer = self._act()
        except Killed:
            pass
        except BaseException as error:
            self._error = error
        self.over = True
        self._rests.release()


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


def about_to_call(**_: Any) -> None:
    if process := PROCESS.get():
        process.about_to_call()


@dataclass
class Runner:
    """A replacement of the task runner that reports the start of a task and lets the test decide how it ends.

    The real runner renews its lease in a thread of its own, in real time. Here a step of the test renews it.
    """

    started: Callable[[Execution], Run]

    def run(self, execution: Execution, _seconds_left: float) -> AttemptResult:
        process = PROCESS.get()
        assert process is not None
        run = self.started(execution)
        if process.manner == Manner.STAYS:
            process.run = run
            process.rest()
        run.returned, process.run = True, None
        failed = process.manner == Manner.FAILS
        outcome = Outcome.CANCELLED if run.stopping else Outcome.FAILED if failed else Outcome.SUCCEEDED
        return AttemptResult(outcome=outcome, error=Failure(type="Error", message="no") if failed else None)
