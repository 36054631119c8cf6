"""Which starts get a timer for their check, and which executions count as unclaimed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.horizon import SWEEP_HORIZON
from punctual.domain.executions.start_check import is_unclaimed, start_check
from punctual.domain.executions.timer import Timer, TimerReason
from punctual.domain.identity import execution_id, new_job_id
from punctual.domain.lane import Lane
from punctual.domain.status import Status

DUE = datetime(2026, 11, 15, 7, tzinfo=UTC)
SECOND = timedelta(seconds=1)
JOB = new_job_id(DUE, "a")
ONE = Execution(
    job_id=JOB,
    execution_id=execution_id(JOB, DUE),
    owner="o",
    task="t",
    scheduled_at=DUE,
    status=Status.QUEUED,
    queued_at=DUE - 180 * SECOND,
)


def checked_after(timer: Timer | None) -> float:
    """Seconds from the due instant to the check: the sweep reads a timer that long before its instant."""
    assert timer is not None
    assert timer.reason is TimerReason.START
    return (timer.at - SWEEP_HORIZON - DUE).total_seconds()


@pytest.mark.parametrize("sent_after", [-200, 0, 30])
def test_the_start_at_a_due_instant_needs_no_timer(sent_after: int) -> None:
    assert start_check(ONE, DUE, DUE + sent_after * SECOND) is None


def test_a_late_order_is_checked_a_minute_after_it_was_sent() -> None:
    late = replace(ONE, queued_at=DUE + 31 * SECOND)
    assert checked_after(start_check(late, DUE, DUE + 31 * SECOND)) == 91


def test_a_start_after_the_due_instant_is_checked_a_minute_after_it() -> None:
    retrying = replace(ONE, status=Status.RETRYING, attempt=1, retry_at=DUE + 200 * SECOND)
    assert checked_after(start_check(retrying, DUE + 200 * SECOND, DUE + 5 * SECOND)) == 260


def test_the_time_until_the_next_check_doubles() -> None:
    assert checked_after(start_check(ONE, DUE, DUE + 70 * SECOND)) == 140
    assert checked_after(start_check(ONE, DUE, DUE + 150 * SECOND)) == 300


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"status": Status.RETRYING, "retry_at": DUE}, True),
        ({"status": Status.RUNNING}, False),
        ({"status": Status.WAITING}, False),
        ({"status": Status.SUCCEEDED}, False),
        ({"lane": Lane.LONG}, False),
        ({"retry_at": DUE + 600 * SECOND}, False),
        ({"delay_seconds": 600}, False),
        ({"woken_at": DUE + 50 * SECOND}, False),
        ({"sent_again_at": DUE + 50 * SECOND}, False),
        ({"sent_again_at": DUE + 5 * SECOND}, True),
    ],
)
def test_an_execution_that_could_have_started_is_unclaimed(changes: dict[str, object], expected: bool) -> None:
    assert is_unclaimed(replace(ONE, **changes), DUE + 61 * SECOND) is expected  # type: ignore[arg-type]
