"""Overruns: an execution that runs far longer than its job usually takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from punctual.domain.forecasts.run_history import MIN_RUNS, expected_seconds

OVERRUN_FACTOR = 2
"""A run that takes longer than this multiple of the usual time is an overrun."""
MIN_OVERRUN = timedelta(minutes=2)
"""Shorter runs are not reported: the monitor looks once a minute."""


def usual_time(run_times: Sequence[int], declared: int | None) -> timedelta | None:
    """The 90th percentile of the recent run times, else the declared one; ``None`` if neither is known."""
    if len(run_times) < MIN_RUNS and declared is None:
        return None
    return timedelta(seconds=expected_seconds(run_times, declared, timeout=0))


def overrun_after(usual: timedelta) -> timedelta:
    """The run time from which a run is an overrun."""
    return max(OVERRUN_FACTOR * usual, MIN_OVERRUN)
