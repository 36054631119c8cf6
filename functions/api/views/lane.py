"""Convert the state of the long lane to its response models."""

from __future__ import annotations

from collections.abc import Iterable

from answers import SlotUsage
from answers.lane import HourOfSlots, LanePart, LaneView, ReleasedSlot, YieldForecast

from punctual.domain.instant import to_text
from punctual.domain.long_lane.lane_forecast import ONE_VCPU
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.long_lane.part import Part
from punctual.stages.api.lane_status import LanePart as PartInLane
from punctual.stages.api.lane_status import LaneState
from punctual.stages.api.yield_slot import YieldedSlots
from views import progress_view
from views.instants import text_of


def lane_view(lane: LaneState, limits: LaneLimits, shown: int) -> LaneView:
    return LaneView(
        at=to_text(lane.at),
        slots=SlotUsage(
            tasks=limits.tasks,
            vcpus=limits.cpu / ONE_VCPU,
            taken_tasks=lane.occupancy.tasks,
            taken_vcpus=lane.occupancy.cpu / ONE_VCPU,
            waiting_tasks=lane.waiting_total,
        ),
        holding=[_part_view(one) for one in lane.holding[:shown]],
        waiting=[_part_view(one) for one in lane.waiting[:shown]],
        hours=[
            HourOfSlots(at=to_text(hour.at), mean_tasks=round(hour.tasks, 2), mean_vcpus=round(hour.cpu / ONE_VCPU, 2))
            for hour in lane.slots
        ],
        hours_until=to_text(lane.slots_until),
    )


def yield_forecast_view(yielded: YieldedSlots) -> YieldForecast:
    return YieldForecast(releases=_slots(yielded.parts), grants=_slots(yielded.next_parts))


def _slots(parts: Iterable[Part]) -> list[ReleasedSlot]:
    return [ReleasedSlot(execution_id=part.execution_id, part=part.name) for part in parts]


def _part_view(one: PartInLane) -> LanePart:
    part = one.part
    return LanePart(
        execution_id=part.execution_id,
        part=part.name,
        job_id=part.job_id,
        job_name=one.job_name,
        timezone=one.timezone,
        owner=part.owner,
        status=part.status,
        priority=part.priority,
        preemptible=part.preemptible,
        vcpus=part.cpu / ONE_VCPU,
        latest_start=to_text(part.latest_start),
        laxity_seconds=round(one.laxity.total_seconds()),
        requested_at=text_of(part.requested_at),
        granted_at=text_of(part.granted_at),
        started_at=text_of(part.started_at),
        expected_start=to_text(one.expected_start),
        expected_end=to_text(one.expected_end),
        progress=progress_view(part.progress, part.status),
        stopping=part.stopping,
    )
