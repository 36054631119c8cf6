"""Convert counts of deadlines to their response model."""

from __future__ import annotations

from collections.abc import Mapping

from answers.deadlines import DeadlineCounts

from punctual.domain.executions.deadline_outlook import DeadlineResult, DeadlineState
from punctual.stages.api.today import Today


def deadline_counts(live: Mapping[DeadlineState, int], today: Today | None) -> DeadlineCounts:
    """The counts of live executions and, unless ``today`` is ``None``, of those that have ended today."""
    counts = {str(state): count for state, count in live.items()}
    missed = live[DeadlineState.MISSED]
    ended = today.deadlines(DeadlineResult.MISSED) if today else 0
    met = today.deadlines(DeadlineResult.MET) if today else None
    return DeadlineCounts(**{**counts, "met": met, "missed": missed + ended, "missed_live": missed})
