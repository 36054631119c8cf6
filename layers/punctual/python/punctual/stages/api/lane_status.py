"""Lane status: the holders of slots, the waiting parts in order, and the demand for slots of the next seven days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts.planned_runs import HORIZON, later_runs
from punctual.domain.forecasts.slot_use import (
    HOUR,
    HourOfSlots,
    SlotUse,
    by_hour,
    start_of_hour,
    uses_of_execution,
    uses_of_parts,
)
from punctual.domain.jobs.job import Job
from punctual.domain.long_lane.lane_forecast import expected_release, expected_starts
from punctual.domain.long_lane.laxity import LaneLimits, Occupancy, slack
from punctual.domain.long_lane.part import Part
from punctual.domain.schedules.due_window import zone_of

if TYPE_CHECKING:
    from punctual.ports.clock import Clock
    from punctual.ports.jobs import Jobs
    from punctual.ports.long_lane import Slots
    from punctual.ports.monitoring import LaneOutlooks
    from punctual.stages.watch.planned_demand import PlannedDemand

HORIZON_HOURS = HORIZON // HOUR
MAX_HOLDERS, MAX_WAITING = 500, 200
"""Parts that one request reads."""
MAX_PLANNED, MAX_RUNS = 300, 2000
"""Live executions that one request reads, and later due instants of their jobs that it computes."""


@dataclass(frozen=True)
class LanePart:
    part: Part
    job_name: str | None
    """``None`` if the job has expired."""
    timezone: str
    """Of the schedule of the job."""
    laxity: timedelta
    """How long it can still wait; of a holder, how long it could if it was preempted now."""
    expected_start: datetime
    expected_end: datetime


@dataclass(frozen=True, kw_only=True)
class LaneState:
    at: datetime
    occupancy: Occupancy
    holding: list[LanePart]
    waiting: list[LanePart]
    """In the order of admission."""
    waiting_total: int
    """As of the last minute if there are more than ``MAX_WAITING``."""
    slots: list[HourOfSlots]
    slots_until: datetime
    """Until then, all planned executions are in ``slots``; later ones may be missing."""


@dataclass(frozen=True)
class LaneStatus:
    slots: Slots
    outlooks: LaneOutlooks
    demand: PlannedDemand
    jobs: Jobs
    limits: LaneLimits
    clock: Clock

    def current(self) -> LaneState:
        """Read the lane. The reads are bounded: see the constants of this module."""
        now = self.clock()
        holders, waiting = list(islice(self.slots.holders(), MAX_HOLDERS)), self._waiting()
        planned = self.demand.executions(MAX_PLANNED)
        jobs = self.jobs.get_many(
            dict.fromkeys([*(part.job_id for part in [*holders, *waiting]), *(one.job_id for one in planned)])
        )
        later = list(islice(later_runs(planned, jobs, now), MAX_RUNS + 1))
        end = start_of_hour(now) + HORIZON
        return LaneState(
            at=now,
            occupancy=self.slots.occupancy(),
            holding=sorted((_holder(part, jobs, now) for part in holders), key=lambda one: one.part.latest_start),
            waiting=list(self._waiters(holders, waiting, jobs, now)),
            waiting_total=self._total(waiting),
            slots=by_hour(
                chain(
                    uses_of_parts(holders, waiting, self.limits, now), _uses([*planned, *later[:MAX_RUNS]], jobs, now)
                ),
                now,
                HORIZON_HOURS,
            ),
            slots_until=later[MAX_RUNS].scheduled_at if len(later) > MAX_RUNS else end,
        )

    def _waiting(self) -> list[Part]:
        return list(islice(self.slots.waiting(), MAX_WAITING))

    def _waiters(
        self, holders: Sequence[Part], waiting: Sequence[Part], jobs: Mapping[str, Job], now: datetime
    ) -> Iterator[LanePart]:
        for part, start in zip(waiting, expected_starts(holders, waiting, self.limits, now), strict=True):
            end = start + timedelta(seconds=part.expected_seconds)
            yield LanePart(part, *_name_and_zone(part, jobs), part.latest_start - now, start, end)

    def _total(self, waiting: Sequence[Part]) -> int:
        if len(waiting) < MAX_WAITING:
            return len(waiting)
        outlook = self.outlooks.latest()
        return max(len(waiting), outlook.waiting if outlook else 0)


def _uses(executions: Sequence[Execution], jobs: Mapping[str, Job], now: datetime) -> Iterator[SlotUse]:
    for execution in executions:
        if execution.job_id in jobs:
            yield from uses_of_execution(execution, jobs[execution.job_id], now)


def _holder(part: Part, jobs: Mapping[str, Job], now: datetime) -> LanePart:
    start = part.started_at or max(part.start_at or now, now)
    return LanePart(part, *_name_and_zone(part, jobs), slack(part, now), start, expected_release(part, now))


def _name_and_zone(part: Part, jobs: Mapping[str, Job]) -> tuple[str | None, str]:
    job = jobs.get(part.job_id)
    return (job.name, zone_of(job.schedule)) if job else (None, "UTC")
