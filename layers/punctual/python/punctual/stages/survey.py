"""Survey: once a minute, look at every queue and say how fast it fills and drains.

Coming twice in a moment, or at once with another, adds a sample without rates, or counts a minute's figures twice:
nothing is decided here but what people and alarms are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from punctual.domain.backlog import Limits, Sample, sample_of
from punctual.domain.flow import LONG

if TYPE_CHECKING:
    from punctual.ports.monitoring import Flows, QueueDepths, Samples


@dataclass(frozen=True)
class Survey:
    depths: QueueDepths
    flows: Flows
    samples: Samples
    concurrency: Mapping[str, int]
    """How many workers each queue may have at once. Its queues are those that are looked at."""
    limits: Limits

    def tick(self, now: datetime) -> Sample:
        sample = sample_of(
            now,
            self.depths.read(),
            self.flows.read((*self.concurrency, LONG)),
            self.samples.latest(),
            concurrency=self.concurrency,
            limits=self.limits,
        )
        self.samples.keep(sample)
        return sample
