"""The slots of the long lane that executions without parts will request."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.planned_runs import has_no_parts, later_runs
from punctual.domain.forecasts.slot_use import planned_slots
from punctual.domain.long_lane.lane_forecast import PlannedSlots

if TYPE_CHECKING:
    from punctual.ports.executions import ExecutionIndex
    from punctual.ports.jobs import Jobs

MAX_PLANNED_SLOTS = 100
"""Groups of slots that the lane's outlook keeps, and executions that are read for it: the first to be due."""


@dataclass(frozen=True)
class PlannedDemand:
    index: ExecutionIndex
    jobs: Jobs

    def executions(self, limit: int) -> list[Execution]:
        """The live executions of the lane that have requested no slot: the first to be due."""
        ids = list(islice(heapq.merge(*map(chain.from_iterable, self.index.ids_long())), limit))
        found = self.index.fetch(ids)
        return [found[one] for one in ids if one in found and has_no_parts(found[one])]

    def slots(self, now: datetime) -> tuple[PlannedSlots, ...]:
        """The slots that these executions and those that the schedules will add request, the earliest first."""
        planned = self.executions(MAX_PLANNED_SLOTS)
        jobs = self.jobs.get_many(dict.fromkeys(one.job_id for one in planned))
        runs = [*planned, *islice(later_runs(planned, jobs, now), MAX_PLANNED_SLOTS)]
        uses = (planned_slots(one, jobs[one.job_id], now) for one in runs if one.job_id in jobs)
        return tuple(sorted(chain.from_iterable(uses), key=lambda one: one.at)[:MAX_PLANNED_SLOTS])
