"""Convert samples and histories of queues to their response models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import answers
import bodies
from answers.queues import QueueJob

from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_history import QueueHistory
from punctual.domain.instant import to_text
from punctual.domain.jobs.backlog_rule import MAX_BACKLOG_MESSAGES
from punctual.domain.jobs.job_backlog import JobBacklog

NO_HISTORIES: Mapping[str, QueueHistory] = {}


def queue_views(sample: Sample, histories: Mapping[str, QueueHistory] = NO_HISTORIES) -> list[answers.QueueStatus]:
    return [
        answers.QueueStatus(
            queue=name, **asdict(backlog), history=_history_view(histories[name]) if name in histories else None
        )
        for name, backlog in sample.queues.items()
    ]


def queue_job_view(backlog: JobBacklog) -> QueueJob:
    since = backlog.exceeded_since
    return QueueJob(
        job_id=backlog.job_id,
        job_name=backlog.job_name,
        owner=backlog.owner,
        state=backlog.state,
        at=to_text(backlog.at),
        depth=min(backlog.depth, MAX_BACKLOG_MESSAGES),
        depth_is_exact=backlog.depth <= MAX_BACKLOG_MESSAGES,
        oldest_seconds=round(backlog.oldest_seconds, 3),
        arrival_per_minute=backlog.arrival_per_minute,
        finished_per_minute=backlog.finished_per_minute,
        backlog=bodies.BacklogRule(**backlog.limits.to_spec()) if backlog.limits else None,
        exceeded_since=to_text(since) if since else None,
    )


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
