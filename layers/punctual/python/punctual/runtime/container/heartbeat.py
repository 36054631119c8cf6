"""The heartbeat of a container: renews the lease of its part, and sends progress and checkpoints.

The reporter's replies carry the requests to the container. Preempted, or superseded by another attempt: stop
at the next checkpoint. Cancelled: stop by ``cancel_at``.
"""

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

from punctual.aws.reporter_client import ReporterUnreachable
from punctual.domain.executions.progress import Progress

if TYPE_CHECKING:
    from punctual.aws.reporter_client import ReporterClient

MAX_CHECKPOINT_BYTES = 4_000_000
"""A checkpoint is sent in one invocation of the reporter, whose payload is limited."""


class TaskInterrupted(BaseException):
    """Unwinds the task when its container has to stop. Not an ``Exception``, so that a task does not catch it."""


class Heartbeat:
    """A thread that sends a heartbeat every ``interval_seconds`` while the ``with`` block runs.

    Each heartbeat is preceded by the newest checkpoint and carries the newest progress, if they have not been sent.
    A failed heartbeat is logged with ``warn`` and repeated after the interval.
    """

    def __init__(self, reporter: ReporterClient, interval_seconds: float, warn: Callable[[str], None]) -> None:
        self._reporter, self._interval, self._warn = reporter, interval_seconds, warn
        self._progress: Progress | None = None
        self._progress_is_unsent = False
        self._unsent_checkpoint: str | None = None
        self._checkpoint_sent_at = 0.0
        self._checkpoint_lock = threading.Lock()
        self._is_over = False
        self._wake: SimpleQueue[None] = SimpleQueue()  # its put() is reentrant: a signal handler may call it
        self._got_signal = False
        self._alarm_lock = threading.Lock()
        self._set_alarm: Callable[[float], object] | None = None
        self._stop_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.superseded = False
        """Another attempt has taken over, or the execution was cancelled: the reporter refuses this container."""
        self.is_preempted = False
        """Preempted, or stopped by AWS: the task is interrupted at its next checkpoint."""
        self.should_stop = False
        """Cancelled, to stop by ``cancel_at``: a result that the task returns in time is still stored."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over = True
        self._wake.put(None)
        self._thread.join()

    def report(self, progress: Progress) -> None:
        """Send ``progress`` with the next heartbeat. A newer one replaces it."""
        self._progress, self._progress_is_unsent = progress, True

    def checkpoint(self, state: Any) -> None:
        """Store ``state`` as the newest checkpoint. Safe to call often.

        It is sent at once if the last one was sent at least one interval ago, else with the next heartbeat. Raises
        ``TaskInterrupted`` when the container has to stop; ``flush_checkpoint`` then sends the newest checkpoint.
        Raises ``TypeError`` or ``ValueError`` for a state that is not JSON or is too large.
        """
        text = json.dumps(state, ensure_ascii=False, allow_nan=False)
        if len(text.encode()) > MAX_CHECKPOINT_BYTES:
            raise ValueError(
                f"a checkpoint has at most {MAX_CHECKPOINT_BYTES:,} bytes: store the data elsewhere, and checkpoint its"
                " location"
            )
        self._unsent_checkpoint = text
        self._interrupt_if_asked()
        if time.monotonic() - self._checkpoint_sent_at >= self._interval:
            self._send_checkpoint()
            self._interrupt_if_asked()

    def _interrupt_if_asked(self) -> None:
        """A cancelled task is not interrupted here: it may finish by ``cancel_at``."""
        if self.superseded or (self.is_preempted and not self.should_stop):
            raise TaskInterrupted

    def on_sigterm(self) -> None:
        """Ask the reporter at once why the container has to stop. Without an answer, it stops as if preempted.

        Safe to call from a signal handler.
        """
        self._got_signal = True
        self._wake.put(None)

    @contextmanager
    def stop_alarm(self, set_alarm: Callable[[float], object]) -> Iterator[None]:
        """Within this block, call ``set_alarm`` with the seconds until ``cancel_at`` when the task is cancelled.

        A task that was cancelled before gets its alarm at once.
        """
        try:
            with self._alarm_lock:
                self._set_alarm = set_alarm
                self._alarm()
            yield
        finally:
            with self._alarm_lock:
                self._set_alarm = None

    def flush_checkpoint(self) -> None:
        """Send the newest checkpoint, with retries, unless it was sent. For a container that is about to stop."""
        if not self.superseded:
            self._send_checkpoint(retry=True)

    def _send_checkpoint(self, *, retry: bool = False) -> None:
        with self._checkpoint_lock:
            text, self._unsent_checkpoint = self._unsent_checkpoint, None
            if text is None:
                return
            try:
                call = self._reporter.call_with_retries if retry else self._reporter.call
                self._handle(call("checkpoint", state=json.loads(text)))
                self._checkpoint_sent_at = time.monotonic()
            except ReporterUnreachable as error:
                self._unsent_checkpoint = self._unsent_checkpoint or text
                self._warn(f"the checkpoint could not be sent, it is repeated with the next heartbeat: {error}")

    def _run(self) -> None:
        while not self._wait_is_over() and not self.superseded:
            if self._unsent_checkpoint is not None:
                self._send_checkpoint()
            progress = asdict(self._progress) if self._progress and self._progress_is_unsent else None
            self._progress_is_unsent, got_signal = False, self._got_signal
            try:
                self._handle(self._reporter.call("heartbeat", progress=progress))
            except Exception as error:  # no error may end the heartbeats: the lease would expire
                self._progress_is_unsent = self._progress_is_unsent or progress is not None
                self._warn(f"the heartbeat failed, it is repeated after {self._interval} seconds: {error}")
            self.is_preempted = self.is_preempted or got_signal

    def _wait_is_over(self) -> bool:
        """Wait until the next heartbeat is due or requested. Returns whether the ``with`` block has ended."""
        with suppress(Empty):
            self._wake.get(timeout=self._interval)
        return self._is_over

    def _handle(self, reply: dict[str, Any]) -> None:
        self.superseded = self.superseded or not reply["ok"]
        self.is_preempted = self.is_preempted or bool(reply.get("preempt_reason"))
        seconds = reply.get("stop_in")
        if seconds is None or self.should_stop:
            return
        self.should_stop = True
        with self._alarm_lock:
            self._stop_at = time.monotonic() + seconds
            self._alarm()

    def _alarm(self) -> None:
        if self._set_alarm is not None and self._stop_at is not None:
            self._set_alarm(max(self._stop_at - time.monotonic(), 0.001))


@contextmanager
def interrupt_on_sigterm(heartbeat: Heartbeat, grace_seconds: float) -> Iterator[None]:
    """On SIGTERM, interrupt the task at its next checkpoint, or after ``grace_seconds``.

    A cancelled task has the time until ``cancel_at``, at most ``grace_seconds``. Use inside
    ``time_limit``: both share the SIGALRM timer, and its handler tells the two reasons apart.
    """

    def on_term(*_: object) -> None:
        _Sigterm.received = True
        signal.setitimer(signal.ITIMER_REAL, grace_seconds)
        heartbeat.on_sigterm()

    def on_alarm(number: int, frame: FrameType | None) -> None:
        if _Sigterm.received or heartbeat.should_stop:
            raise TaskInterrupted
        on_time_limit(number, frame)

    on_time_limit: Any = signal.signal(signal.SIGALRM, on_alarm)
    before = signal.signal(signal.SIGTERM, on_term)
    if _Sigterm.received:
        on_term()
    try:
        with heartbeat.stop_alarm(lambda seconds: signal.setitimer(signal.ITIMER_REAL, min(seconds, grace_seconds))):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Sigterm:
    received = False


def record_sigterm() -> None:
    """Record SIGTERM instead of ending the process.

    A signal that arrives before the task starts is applied once it starts. A signal that arrives after the task has
    ended is ignored, so that the result can still be reported.
    """

    def record(*_: object) -> None:
        _Sigterm.received = True

    _Sigterm.received = False
    signal.signal(signal.SIGTERM, record)
