"""How much of its work a running execution has usually done after the time that it has run."""

from __future__ import annotations

from collections.abc import Sequence

from punctual.domain.forecasts.run_history import MIN_RUNS


def usual_progress(run_times: Sequence[int], elapsed: float) -> float | None:
    """The percentage that earlier runs had done after ``elapsed`` seconds, if each worked steadily.

    The mean over these runs. ``None`` without enough recorded runs.
    """
    if len(run_times) < MIN_RUNS:
        return None
    shares = [min(elapsed / seconds, 1.0) if seconds else 1.0 for seconds in run_times]
    return 100 * sum(shares) / len(shares)
