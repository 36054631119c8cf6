"""The run times of a job's recent executions, as stored with the job."""

from __future__ import annotations

from collections.abc import Sequence

RunTimes = tuple[int, ...]
"""Seconds, in the order of the runs, newest last."""

KEPT_RUNS = 50
KEPT_PARTITION_RUNS = 400
"""Run times of partitions that are kept: 50 executions with eight partitions each, or the last two with 200."""
MIN_RUNS = 5
"""With fewer recorded runs, forecasts use the declared run time or the timeout instead."""
QUANTILE = 90
"""Percentile of the run times that admission expects. The median would do as well if all jobs varied alike; where some
vary more than others, it misses three times as many deadlines (docs/benchmarks.md)."""


def append_run_times(run_times: Sequence[int], *seconds: int, kept: int = KEPT_RUNS) -> RunTimes:
    """Append the newest run times and drop the oldest beyond ``kept``."""
    return (*run_times, *seconds)[-kept:]


def expected_seconds(run_times: Sequence[int], declared: int | None, timeout: int) -> int:
    """The run time that admission relies on: from enough recorded runs, else as declared, else the timeout.

    The longest run is never the result, so a single outlier moves it no further than to the next longest run.
    """
    if len(run_times) < MIN_RUNS:
        return timeout if declared is None else declared
    rank = -(-len(run_times) * QUANTILE // 100)  # rounded up
    return sorted(run_times)[min(rank, len(run_times) - 1) - 1]
