"""Convert counts of deadlines to their response model."""

from __future__ import annotations

from collections.abc import Mapping

from answers.deadlines import LiveDeadlines

from punctual.domain.executions.deadline_outlook import DeadlineState


def deadline_counts(counts: Mapping[DeadlineState, int]) -> LiveDeadlines:
    return LiveDeadlines(**{str(state): count for state, count in counts.items()})
