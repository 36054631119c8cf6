"""How long a job's recent runs took, as it is kept with the job."""

from __future__ import annotations

from collections.abc import Sequence

RunTimes = tuple[int, ...]
"""In seconds, the newest last."""

KEPT_RUNS = 50
FEWEST_RELIED_ON = 5
QUANTILE = 90
"""Percent of the runs that took no longer than the forecast. The median would serve as well if all jobs varied alike;
where some vary more than others it loses three times as many deadlines (docs/benchmarks.md)."""


def noted(run_times: Sequence[int], *seconds: int) -> RunTimes:
    """``run_times`` and the newest; the oldest are forgotten."""
    return (*run_times, *seconds)[-KEPT_RUNS:]


def expected_seconds(run_times: Sequence[int], declared: int | None, timeout: int) -> int:
    """What admission relies on: the runs when there are enough of them, else what was declared, else the time-out.

    The longest run never counts by itself, so one outlier moves the forecast no further than to the next longest.
    """
    if len(run_times) < FEWEST_RELIED_ON:
        return timeout if declared is None else declared
    rank = -(-len(run_times) * QUANTILE // 100)  # rounded up
    return sorted(run_times)[min(rank, len(run_times) - 1) - 1]
