"""Queue status: the latest sample of the queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.forecasts.queue_backlog import BacklogLimits, Sample, sample_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.monitoring import QueueDepths, Samples


@dataclass(frozen=True)
class QueueStatus:
    samples: Samples
    depths: QueueDepths
    concurrency: Mapping[str, int]
    """Maximum number of workers per queue."""
    limits: BacklogLimits
    clock: Clock

    def current(self) -> Sample:
        """Return the monitor's latest sample. Before its first one, read the depths now: there are no rates yet."""
        sample = self.samples.latest()
        if sample is None:
            now = self.clock()
            sample = sample_of(now, self.depths.read(), {}, None, concurrency=self.concurrency, limits=self.limits)
        return sample
