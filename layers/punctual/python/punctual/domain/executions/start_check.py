"""Start checks: after each work order that was sent, look whether a worker has claimed the execution.

A worker that dies before its claim leaves the message invisible for 16 minutes. An execution that starts at its due
instant is checked without a write: the dispatcher reads the executions that came due a minute ago. For any other start,
the planner sets a timer. Each time an execution is sent again, the time until its next check doubles.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from punctual.domain.executions.execution import Execution
from punctual.domain.executions.horizon import SWEEP_HORIZON
from punctual.domain.executions.timer import Timer, TimerReason, timer_for
from punctual.domain.identity import due_of
from punctual.domain.lane import Lane
from punctual.domain.status import Status

UNCLAIMED_AFTER = timedelta(seconds=60)
"""The first check of a start comes this long after it, with the next tick."""

IN_TIME = UNCLAIMED_AFTER / 2
"""A work order that is sent within this time after the due instant is seen by the check of the due instant."""

CHECKED_SINCE = timedelta(minutes=16)
"""How far back due instants are checked: SQS delivers the message of a dead worker again after this time."""

MAX_QUEUE_LENGTH = 1000
"""An execution behind this many messages waits for a free worker. Orders that are sent again never exceed it."""


def start_check(execution: Execution, start: datetime, now: datetime) -> Timer | None:
    """Return the timer that checks a start whose order is sent ``now``; ``None`` if its due instant is checked."""
    if start == due_of(execution.execution_id) and now <= start + IN_TIME:
        return None
    wait = max(UNCLAIMED_AFTER, now - _ready_at(execution))
    # the sweep reads timers this long before their instant
    return timer_for(execution.execution_id, max(start, now) + wait + SWEEP_HORIZON, TimerReason.START)


def is_unclaimed(execution: Execution, now: datetime) -> bool:
    """Whether no worker has claimed an execution that could start. A later order has a check of its own."""
    if execution.lane is not Lane.SHORT or execution.status not in (Status.QUEUED, Status.RETRYING):
        return False
    # not ``UNCLAIMED_AFTER``: the clocks of planner and dispatcher differ
    return now - _sent_at(execution) > IN_TIME


def is_unchecked(execution: Execution, now: datetime) -> bool:
    """Whether a start check should have found an unclaimed execution by now.

    It has no check if the planner never processed the record of its last change.
    """
    sent_at = _sent_at(execution)
    return is_unclaimed(execution, now) and now - sent_at > max(2 * UNCLAIMED_AFTER, sent_at - _ready_at(execution))


def _sent_at(execution: Execution) -> datetime:
    return max(filter(None, (_ready_at(execution), execution.sent_again_at)))


def _ready_at(execution: Execution) -> datetime:
    """Return the instant since which an execution could start, if it has not started."""
    instants = (execution.queued_at, execution.woken_at, execution.retry_at, execution.earliest_start)
    return max(filter(None, instants))
