"""The load that an execution shares with others: limits, queue backlogs and the state of the long lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from punctual.domain.forecasts.queue_backlog import Backlog
from punctual.domain.long_lane.lane_forecast import LaneOutlook
from punctual.domain.long_lane.laxity import LaneLimits


@dataclass(frozen=True, kw_only=True)
class SystemLoad:
    """A snapshot of the shared capacity. An unknown queue or lane is treated as free: it adds no wait."""

    limits: LaneLimits
    concurrency: Mapping[str, int]
    """Maximum number of workers per queue."""
    queues: Mapping[str, Backlog] = field(default_factory=dict)
    lane: LaneOutlook | None = None
