"""Queue status: the latest sample of the queues, and the latest measurement of the queue jobs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample, sample_of
from punctual.domain.forecasts.queue_history import QueueHistory, history_of, hours_read
from punctual.domain.jobs.job_backlog import MAX_QUEUE_JOBS, JobBacklog
from punctual.domain.requests.page import Page, Total, decode_cursor, page_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.monitoring import QueueDepths, Samples
    from punctual.ports.queue_history import QueueHours
    from punctual.ports.queue_jobs import MeasuredBacklogs

JOB_POSITION = re.compile(r"\d{5}-\d{10}-[0-9a-z]{26}")
"""The position of a queue job: its depth, the age of its oldest message in seconds, and its id."""


@dataclass(frozen=True)
class QueueStatus:
    samples: Samples
    depths: QueueDepths
    concurrency: Mapping[str, int]
    """Maximum number of workers per queue."""
    limits: BacklogLimits
    hours: QueueHours
    backlogs: MeasuredBacklogs
    clock: Clock

    def current(self) -> Sample:
        """Return the monitor's latest sample. Before its first one, read the depths now: there are no rates yet."""
        sample = self.samples.latest()
        if sample is None:
            now = self.clock()
            sample = sample_of(now, self.depths.read(), {}, None, concurrency=self.concurrency, limits=self.limits)
        return sample

    def jobs(self, limit: int, cursor: str | None) -> tuple[Page[JobBacklog], Total]:
        """List the queue jobs, the fullest first, and count them. Raises ``Invalid`` for an unknown cursor.

        The cursor is a position in this order, so a job that was measured again between two pages may be on both, or on
        none.
        """
        position = decode_cursor(cursor, JOB_POSITION)
        measured = self.backlogs.latest().jobs.values()
        ordered = sorted(((_position(one), one) for one in measured), key=itemgetter(0), reverse=True)
        left = [(name, one) for name, one in ordered if position is None or name < position]
        page = page_of(iter(left), limit, size_of=lambda _: 0)
        total = Total(len(measured), is_exact=len(measured) < MAX_QUEUE_JOBS)
        return replace(page, cursor=page.cursor if len(left) > limit else None), total

    def histories(self, queues: Iterable[str]) -> Mapping[str, QueueHistory]:
        """Return the history of each of these queues."""
        now = self.clock()
        hours = self.hours.read(hours_read(now))
        return {queue: history_of(queue, hours, now) for queue in queues}


def _position(backlog: JobBacklog) -> str:
    return f"{backlog.depth:05d}-{round(backlog.oldest_seconds):010d}-{backlog.job_id}"
