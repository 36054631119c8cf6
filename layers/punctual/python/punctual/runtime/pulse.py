"""Keeps a container's part alive: beats, tells its progress, and hands in its checkpoints."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from punctual.aws.desk import Deaf
from punctual.domain.progress import Progress

if TYPE_CHECKING:
    from punctual.aws.desk import Desk

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
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self.lost = False
        """Another attempt has taken over, or the execution was cancelled: what this one says is refused."""
        self.leaving = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
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
        if self.leaving or self.lost:
            raise Leaving
        if time.monotonic() - self._kept_at >= self._every:
            self._keep()
            if self.leaving or self.lost:
                raise Leaving

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
        while not self._over.wait(self._every) and not self.lost:
            if self._state is not None:
                self._keep()
            progress = asdict(self._progress) if self._progress and self._untold else None
            self._untold = False
            try:
                self._heed(self._desk.tell("beat", progress=progress))
            except Exception as error:  # whatever it is, the next beat must come
                self._untold = self._untold or progress is not None
                self._warn(f"the beat was not heard, trying again: {error}")

    def _heed(self, answer: dict[str, Any]) -> None:
        self.lost = self.lost or not answer["ok"]
        self.leaving = self.leaving or bool(answer.get("leave"))


@contextmanager
def leaving_on_term(pulse: Pulse, grace_seconds: float) -> Iterator[None]:
    """On SIGTERM, have the task leave at its next checkpoint, or when the grace is over.

    Inside a time limit: the same alarm rings, for another reason.
    """

    def leave(*_: object) -> None:
        _asked.set()
        pulse.leaving = True
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, grace_seconds)

    before = signal.signal(signal.SIGTERM, leave)
    if _asked.is_set():
        leave()
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_asked = threading.Event()


def remember_term() -> None:
    """From now on SIGTERM ends nothing by itself: before the task it is remembered, after it the word gets out."""
    _asked.clear()
    signal.signal(signal.SIGTERM, lambda *_: _asked.set())


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise Leaving
