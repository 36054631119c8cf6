"""Convert the calendar to its response models."""

from __future__ import annotations

from datetime import timedelta

from answers.calendar import (
    CalendarDeadline,
    CalendarEntry,
    CalendarJob,
    CalendarSlots,
    CalendarView,
    ClockChange,
)

from punctual.domain.executions.deadline_outlook import DeadlineResult, DeadlineState, state_at_end
from punctual.domain.executions.execution import Execution
from punctual.domain.forecasts import job_calendar
from punctual.domain.instant import to_text
from punctual.domain.long_lane.laxity import LaneLimits
from punctual.domain.requests.page import Page
from punctual.domain.schedules import clock_changes
from punctual.domain.status import FINAL, Status
from punctual.stages.api.calendar import CalendarPage
from punctual.stages.api.lane_status import LaneState
from views.instants import text_of
from views.lane import lane_view
from views.pages import page_fields

MINUTE = timedelta(minutes=1)


def calendar_view(page: CalendarPage, cursor: str | None, long_lane: CalendarSlots | None = None) -> CalendarView:
    return CalendarView(
        items=[_job_view(one) for one in page.jobs],
        **page_fields(Page(page.jobs, page.cursor), cursor),
        clock_changes=[_change_view(one) for one in page.clock_changes],
        long_lane=long_lane,
    )


def calendar_slots(lane: LaneState, limits: LaneLimits) -> CalendarSlots:
    view = lane_view(lane, limits, 0)
    return CalendarSlots(tasks=view.slots.tasks, vcpus=view.slots.vcpus, hours=view.hours, hours_until=view.hours_until)


def _job_view(calendar: job_calendar.JobCalendar) -> CalendarJob:
    job = calendar.job
    return CalendarJob(
        job_id=job.job_id,
        job_name=job.name,
        tags=dict(job.tags),
        owner=job.owner,
        task=job.task,
        state=job.state,
        lane=job.lane,
        timezone=calendar.timezone,
        takes_messages=job.schedule.kind == "queue",
        entries=[_entry_view(one) for one in calendar.entries],
        complete_from=to_text(calendar.complete_since),
        complete_to=to_text(calendar.complete_until),
    )


def _entry_view(entry: job_calendar.CalendarEntry) -> CalendarEntry:
    execution = entry.execution
    return CalendarEntry(
        at=to_text(entry.at),
        local=entry.local.isoformat(),
        flag=entry.flag,
        execution_id=entry.execution_id,
        status=execution.status if execution else None,
        reason=execution.reason if execution else None,
        origin=execution.origin if execution else None,
        started_at=text_of(execution.started_at) if execution else None,
        ended_at=text_of(execution.ended_at) if execution else None,
        median_end=text_of(entry.median_end),
        p95_end=text_of(entry.p95_end),
        deadline=_deadline_of(entry),
        tasks=entry.tasks,
        vcpus=entry.vcpus,
    )


def _deadline_of(entry: job_calendar.CalendarEntry) -> CalendarDeadline | None:
    at = entry.execution.deadline_at if entry.execution else entry.deadline_at
    if at is None:
        return None
    outlook = entry.execution.outlook if entry.execution and entry.execution.status not in FINAL else None
    return CalendarDeadline(
        at=to_text(at),
        state=_state(entry.execution) or entry.deadline_state,
        probability=outlook.probability if outlook else None,
    )


def _state(execution: Execution | None) -> DeadlineState | DeadlineResult | None:
    if execution is None or execution.deadline_at is None:
        return None
    if execution.status in FINAL:
        succeeded = execution.status is Status.SUCCEEDED
        return state_at_end(execution.deadline_at, execution.ended_at, succeeded=succeeded)
    return execution.outlook.state if execution.outlook else None


def _change_view(change: clock_changes.ClockChange) -> ClockChange:
    return ClockChange(timezone=change.timezone, at=to_text(change.at), shift_minutes=round(change.shift / MINUTE))
