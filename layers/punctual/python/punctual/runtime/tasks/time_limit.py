"""A time limit for the code of a task."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeLimitReached(BaseException):
    """Not an ``Exception``: a task's own ``except Exception`` must not catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeLimitReached`` inside the block once ``seconds`` have passed.

    Python delivers signals to the main thread only, in which Lambda calls the handler. In another thread there is no
    limit: the function's own timeout and the expiry of the lease end the attempt.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise TimeLimitReached
