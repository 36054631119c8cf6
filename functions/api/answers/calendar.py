"""Response models of the calendar."""

from __future__ import annotations

from pydantic import BaseModel, Field

from answers.lane import HourOfSlots
from answers.page import CountedPage
from answers.probability import Probability
from punctual.domain.executions.deadline_outlook import DeadlineResult, DeadlineState
from punctual.domain.executions.execution import Origin
from punctual.domain.jobs.job import JobState
from punctual.domain.lane import Lane
from punctual.domain.schedules.cron import OccurrenceFlag
from punctual.domain.status import Status


class CalendarDeadline(BaseModel):
    at: str
    state: DeadlineState | DeadlineResult | None = Field(
        description="Of an execution: as in its record. Of a due instant without one: `on_track` if its 95% forecast"
        " is in time, `will_miss` if not even its median forecast is, otherwise `at_risk`; null without a forecast."
    )
    probability: Probability | None = Field(description="Of meeting it: of a live execution, as of its last check.")


class CalendarEntry(BaseModel):
    """An execution that ran, a due instant that is to come, or a date or local time that is skipped."""

    at: str = Field(description="The due instant; of a skipped date, the instant of its local time.")
    local: str = Field(description="The local time in the time zone of the job.")
    flag: OccurrenceFlag | None = Field(
        description="At a clock change `shifted`, `skipped` or `repeated`; on a skipped date `moved` or `excluded`."
    )
    execution_id: str | None = Field(description="Null if nothing runs: a skipped date or local time.")
    status: Status | None = Field(description="Null if the execution is not planned yet.")
    reason: str | None
    origin: Origin | None = Field(description="Null if the execution is not planned yet.")
    started_at: str | None
    ended_at: str | None
    median_end: str | None = Field(description="Of an execution that has not ended: the median of its forecasts.")
    p95_end: str | None
    deadline: CalendarDeadline | None
    tasks: int | None = Field(description="In the long lane: the slots that it needs, or needed, at once.")
    vcpus: float | None = Field(description="In the long lane: of all these slots together.")


class CalendarJob(BaseModel):
    job_id: str
    job_name: str | None
    tags: dict[str, str]
    owner: str
    task: str
    state: JobState
    lane: Lane
    timezone: str
    takes_messages: bool = Field(description="Whether it runs one execution per message: its future is unknown.")
    entries: list[CalendarEntry] = Field(description="By `at`.")
    complete_from: str = Field(description="Of a job with more entries, earlier ones are missing.")
    complete_to: str = Field(description="Of a job with more entries, later ones are missing.")


class ClockChange(BaseModel):
    timezone: str
    at: str
    shift_minutes: int = Field(description="Positive if the clocks are set forward.")


class CalendarSlots(BaseModel):
    """The capacity of the long lane, and the demand of all its executions in the next seven days."""

    tasks: int
    vcpus: float
    hours: list[HourOfSlots] = Field(description="As in `GET /lane`.")
    hours_until: str


class CalendarView(CountedPage):
    items: list[CalendarJob] = Field(description="The jobs that have entries in the range, newest first.")
    clock_changes: list[ClockChange] = Field(description="In the range, of the time zones of these jobs.")
    long_lane: CalendarSlots | None = Field(description="Only with `long_lane=true`.")
