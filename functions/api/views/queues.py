"""Convert samples and histories of queues to their response models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import answers

from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_history import QueueHistory
from punctual.domain.instant import to_text

NO_HISTORIES: Mapping[str, QueueHistory] = {}


def queue_views(sample: Sample, histories: Mapping[str, QueueHistory] = NO_HISTORIES) -> list[answers.QueueStatus]:
    return [
        answers.QueueStatus(
            queue=name, **asdict(backlog), history=_history_view(histories[name]) if name in histories else None
        )
        for name, backlog in sample.queues.items()
    ]


def _history_view(history: QueueHistory) -> answers.QueueHistory:
    points = [
        answers.QueuePoint(
            at=to_text(one.at),
            depth=one.depth,
            arrival_per_minute=_rounded(one.arrival_per_minute),
            finished_per_minute=_rounded(one.finished_per_minute),
        )
        for one in history.points
    ]
    return answers.QueueHistory(
        points=points,
        usual_arrival_per_minute=_rounded(history.usual_arrival_per_minute),
        usual_finished_per_minute=_rounded(history.usual_finished_per_minute),
    )


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 2)
