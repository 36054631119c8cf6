"""Horizons: how far ahead executions are queued, and which component queues later ones."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from punctual.domain.lane import Lane

if TYPE_CHECKING:
    from punctual.domain.executions.execution import Execution

TICK = timedelta(minutes=1)
"""How often the dispatcher, the monitor and admission are invoked."""

SWEEP_HORIZON = timedelta(seconds=180)
"""The dispatcher queues executions due within this time. Two missed ticks delay no execution."""

PLANNER_HORIZON = timedelta(seconds=240)
"""The planner queues executions due within this time directly, without a timer.

It exceeds ``SWEEP_HORIZON`` by a margin for a slow planner and for clock skew, so that a timer is never set in a range
that the sweep has already passed.
"""

MAX_SQS_DELAY = timedelta(seconds=900)
"""The longest delay of an SQS message."""


class StartTrigger(StrEnum):
    """What starts an execution that has not been queued."""

    NOW = "now"
    """It is due within the planner's horizon: queue it."""
    TIMER = "timer"
    """The dispatcher queues it when its timer is due."""
    SCHEDULE = "schedule"
    """An EventBridge schedule starts its state machine. Only in the long lane, and only without pending upstreams."""


def start_trigger(execution: Execution, now: datetime) -> StartTrigger:
    if execution.earliest_start <= now + PLANNER_HORIZON:
        return StartTrigger.NOW
    if execution.lane is Lane.LONG and not execution.has_pending_upstreams:
        return StartTrigger.SCHEDULE
    return StartTrigger.TIMER
