"""Record the history of the queues: once a minute, add the monitor's sample to the points of its hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from punctual.domain.forecasts.queue_backlog import Sample
from punctual.domain.forecasts.queue_history import hour_of, with_sample

if TYPE_CHECKING:
    from punctual.ports.queue_history import QueueHours


@dataclass(frozen=True)
class QueueRecorder:
    hours: QueueHours

    def record(self, sample: Sample) -> None:
        """Not idempotent: a sample that is recorded twice counts twice in the means of its interval."""
        hour = hour_of(sample.at)
        stored = self.hours.read([hour])
        self.hours.store(hour, with_sample(stored[0] if stored else {}, sample))
