"""The data window of an execution: the stretch of time that it answers for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from punctual.domain.cron import Cron
from punctual.domain.schedule import Every, Schedule


@dataclass(frozen=True)
class Window:
    """From ``start``, inclusive, to ``end``, exclusive."""

    start: datetime
    end: datetime


def window_of(schedule: Schedule, due: datetime) -> Window | None:
    """From the due instant before ``due`` to ``due``; None for a schedule that does not recur.

    The windows of successive due instants join without gap or overlap. The first of an interval starts at its
    anchor. A cron that had no due instant within its horizon has no window.
    """
    start = _start(schedule, due)
    return None if start is None or start >= due else Window(start, due)


def _start(schedule: Schedule, due: datetime) -> datetime | None:
    match schedule:
        case Cron():
            return schedule.previous_before(due)
        case Every():
            return schedule.previous_before(due) or schedule.anchor
        case _:
            return None
