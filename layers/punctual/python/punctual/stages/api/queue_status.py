"""Queue status: the latest sample of the queues, and the latest measurement of the queue jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample, sample_of
from punctual.domain.forecasts.queue_history import QueueHistory, history_of, hours_read
from punctual.domain.jobs.job_backlog import JobBacklog

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.monitoring import QueueDepths, Samples
    from punctual.ports.queue_history import QueueHours
    from punctual.ports.queue_jobs import MeasuredBacklogs

MAX_JOBS = 50


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

    def jobs(self) -> tuple[list[JobBacklog], int]:
        """The fullest ``MAX_JOBS`` queue jobs, the fullest first, and the number of the others."""
        measured = sorted(self.backlogs.latest().jobs.values(), key=lambda one: (-one.depth, -one.oldest_seconds))
        return measured[:MAX_JOBS], max(len(measured) - MAX_JOBS, 0)

    def histories(self, queues: Iterable[str]) -> Mapping[str, QueueHistory]:
        """Return the history of each of these queues."""
        now = self.clock()
        hours = self.hours.read(hours_read(now))
        return {queue: history_of(queue, hours, now) for queue in queues}
