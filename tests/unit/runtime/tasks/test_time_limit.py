from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from punctual.runtime.tasks.time_limit import TimeLimitReached, time_limit


def test_code_over_the_time_limit_is_stopped_even_while_it_sleeps() -> None:
    started = time.monotonic()
    with pytest.raises(TimeLimitReached), time_limit(0.05):
        time.sleep(100)
    assert time.monotonic() - started < 60


def test_code_that_catches_every_exception_is_stopped_too() -> None:
    with pytest.raises(TimeLimitReached), time_limit(0.05), suppress(Exception):
        time.sleep(100)


def test_code_within_the_time_limit_completes() -> None:
    with time_limit(5):
        answer = 42
    assert answer == 42


def test_outside_the_main_thread_there_is_no_limit() -> None:
    ran: list[bool] = []

    def run() -> None:
        with time_limit(0.001):
            threading.Event().wait(0.01)
            ran.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ran == [True]
