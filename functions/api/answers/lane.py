"""Response models of the long lane."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers import Execution, Progress, SlotUsage
from punctual.domain.lane import Priority
from punctual.domain.status import Status


class LanePart(BaseModel):
    """A part of an execution that holds a slot, or waits for one."""

    execution_id: str
    part: str = Field(description="`all`, the number of a partition, or `collect` for the final step.")
    job_id: str
    job_name: str | None = Field(description="Null if the job has expired.")
    timezone: str = Field(description="The time zone of the schedule; `UTC` if it has none.")
    owner: str
    status: Status
    priority: Priority
    preemptible: bool
    vcpus: float
    latest_start: str = Field(description="When it has to start to meet its deadline.")
    laxity_seconds: int = Field(
        description="How long it can still wait; negative if it is late. Of a part that holds a slot: how long it could"
        " wait if it released the slot now."
    )
    requested_at: str | None = Field(description="When it first requested a slot.")
    granted_at: str | None = Field(description="When it last got a slot.")
    started_at: str | None
    expected_start: str = Field(description="Of a waiting part, from a simulation of the lane.")
    expected_end: str
    progress: Progress | None
    stopping: str | None = Field(description="Why it was asked to release its slot; null if it was not.")


class HourOfSlots(BaseModel):
    at: str = Field(description="The beginning of the hour, in UTC.")
    mean_tasks: float = Field(
        description="The average number of containers within this hour; of the current hour, within what is left of it."
    )
    mean_vcpus: float


class LaneView(BaseModel):
    """The long lane now, and the slots that its executions are expected to need over the next seven days."""

    at: str
    slots: SlotUsage
    holding: list[LanePart] = Field(description="Least laxity first: the last one would be preempted first.")
    waiting: list[LanePart] = Field(description="In the order of admission.")
    hours: list[HourOfSlots] = Field(
        description="The demand in each of 168 hours, beginning with the current one. Where it exceeds `slots`,"
        " executions will wait."
    )
    hours_until: str = Field(description="Until then, `hours` contains all planned executions; later some are missing.")


class ReleasedSlot(BaseModel):
    execution_id: str
    part: str


class YieldForecast(BaseModel):
    """The result of a dry run: who would release slots, and who would get them. Nothing was written."""

    dry_run: bool = True
    releases: list[ReleasedSlot] = Field(description="The parts that would stop at their next checkpoint.")
    grants: list[ReleasedSlot] = Field(
        description="The waiting parts that would get the slots, in the order of admission. If it is empty, the"
        " execution itself would get them again."
    )


YieldAnswer = Execution | YieldForecast
