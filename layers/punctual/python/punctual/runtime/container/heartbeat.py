"""Keeps a container's part alive: beats, tells its progress, and hands in its checkpoints."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from punctual.aws.reporter_client import Deaf
from punctual.domain.executions.progress import Progress

if TYPE_CHECKING:
    from punctual.aws.reporter_client import Desk

LARGEST_STATE = 4_000_000
"""Bytes: it is handed over in one call of a function."""


class Leaving(BaseException):
    """The container is leaving, its last checkpoint is kept. Not an ``Exception``: it is not the task's to catch."""


class Pulse:
    """A thread that beats while the ``with`` block runs. With each beat go the progress and the newest checkpoint."""

    def __init__(self, desk: Desk, beat_seconds: float, warn: Callable[[str], None]) -> None:
        self._desk, self._every, self._warn = desk, beat_seconds, warn
        self._progress: Progress | None = None
        self._untold = False
        self._state: str | None = None
        self._kept_at = 0.0
        self._keeping = threading.Lock()
        self._over = False
        self._wake: SimpleQueue[None] = SimpleQueue()  # a signal's handler may put into it
        self._told = False
        self._arming = threading.Lock()
        self._alarm: Callable[[float], object] | None = None
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self.lost = False
        """Another attempt has taken over, or the execution was cancelled: what this one says is refused."""
        self.leaving = False
        """It is to go for now: at its next checkpoint."""
        self.stopping = False
        """It is to stop for good: what it returns in time is kept."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over = True
        self._wake.put(None)
        self._thread.join()

    def report(self, progress: Progress) -> None:
        self._progress, self._untold = progress, True

    def checkpoint(self, state: Any) -> None:
        """Remember ``state``, and hand it in if the last one was a while ago, or if this is the last."""
        text = json.dumps(state, ensure_ascii=False, allow_nan=False)
        if len(text.encode()) > LARGEST_STATE:
            raise ValueError(
                f"a checkpoint takes at most {LARGEST_STATE:,} bytes: store the data, and keep where it is"
            )
        self._state = text
        self._leave_if_told()
        if time.monotonic() - self._kept_at >= self._every:
            self._keep()
            self._leave_if_told()

    def _leave_if_told(self) -> None:
        """Whoever is to stop for good may bring it to an end by itself, in the time that it was given."""
        if self.lost or (self.leaving and not self.stopping):
            raise Leaving

    def ask_why(self) -> None:
        """Somebody told the container to stop: hear from the reporter what for. If it does not know, just leave."""
        self._told = True
        self._wake.put(None)

    @contextmanager
    def ringing(self, alarm: Callable[[float], object]) -> Iterator[None]:
        """While this lasts, have ``alarm`` set when the time to stop is known."""
        self._alarm = alarm
        try:
            yield
        finally:
            with self._arming:
                self._alarm = None

    def hand_in(self) -> None:
        """Hand in the newest checkpoint, if it has not been: the container is about to leave."""
        if not self.lost:
            self._keep(insist=True)

    def _keep(self, *, insist: bool = False) -> None:
        with self._keeping:
            text, self._state = self._state, None
            if text is None:
                return
            try:
                say = self._desk.insist if insist else self._desk.tell
                self._heed(say("checkpoint", state=json.loads(text)))
                self._kept_at = time.monotonic()
            except Deaf as error:
                self._state = self._state or text
                self._warn(f"the checkpoint could not be handed in, trying again: {error}")

    def _beat(self) -> None:
        while not self._is_over() and not self.lost:
            if self._state is not None:
                self._keep()
            progress = asdict(self._progress) if self._progress and self._untold else None
            self._untold, told = False, self._told
            try:
                self._heed(self._desk.tell("beat", progress=progress))
            except Exception as error:  # whatever it is, the next beat must come
                self._untold = self._untold or progress is not None
                self._warn(f"the beat was not heard, trying again: {error}")
            self.leaving = self.leaving or told

    def _is_over(self) -> bool:
        """Wait until the next beat is due, or wanted at once."""
        with suppress(Empty):
            self._wake.get(timeout=self._every)
        return self._over

    def _heed(self, answer: dict[str, Any]) -> None:
        self.lost = self.lost or not answer["ok"]
        self.leaving = self.leaving or bool(answer.get("leave"))
        seconds = answer.get("stop_in")
        if seconds is None or self.stopping:
            return
        self.stopping = True
        with self._arming:
            if self._alarm is not None:
                self._alarm(max(seconds, 0.001))


@contextmanager
def leaving_on_term(pulse: Pulse, grace_seconds: float) -> Iterator[None]:
    """On SIGTERM, have the task leave at its next checkpoint, or when the grace is over. One that is to stop for good
    has as long as whoever wants that gave it.

    Inside a time limit: the same alarm rings, for another reason.
    """

    def told(*_: object) -> None:
        _Term.came = True
        signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        pulse.ask_why()

    def ring(number: int, frame: FrameType | None) -> None:
        if _Term.came or pulse.stopping:
            raise Leaving
        time_is_up(number, frame)

    time_is_up: Any = signal.signal(signal.SIGALRM, ring)
    before = signal.signal(signal.SIGTERM, told)
    if _Term.came:
        told()
    try:
        with pulse.ringing(lambda seconds: signal.setitimer(signal.ITIMER_REAL, min(seconds, grace_seconds))):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Term:
    came = False


def remember_term() -> None:
    """From now on SIGTERM ends nothing by itself: before the task it is remembered, after it the word gets out."""

    def remember(*_: object) -> None:
        _Term.came = True

    _Term.came = False
    signal.signal(signal.SIGTERM, remember)
