"""Notices about deadlines: in danger, missed, or on track again."""

from __future__ import annotations

from typing import Any

from punctual.domain.executions.deadline_outlook import IN_DANGER, DeadlineState, Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import Event
from punctual.domain.notices.execution_notice import cause_of_end, execution_notice, local_time, remedy_of_end
from punctual.domain.notices.notice import Notice, format_duration
from punctual.domain.status import WITHOUT_OUTCOME, Status

_TITLES = {
    Event.DEADLINE_AT_RISK: "may miss its deadline",
    Event.WILL_MISS: "will most likely miss its deadline",
    Event.DEADLINE_MISSED: "has missed its deadline",
    Event.RECOVERED: "is on track again",
}
_EVENTS = {
    DeadlineState.AT_RISK: Event.DEADLINE_AT_RISK,
    DeadlineState.WILL_MISS: Event.WILL_MISS,
    DeadlineState.MISSED: Event.DEADLINE_MISSED,
}
_BY_SEVERITY = list(DeadlineState)


def event_of_change(before: DeadlineState, after: DeadlineState) -> Event | None:
    """The event of a state change; ``None`` without one, as from ``will_miss`` to ``at_risk``: still in danger."""
    if after is DeadlineState.ON_TRACK:
        return Event.RECOVERED if before in IN_DANGER else None
    return _EVENTS[after] if _BY_SEVERITY.index(after) > _BY_SEVERITY.index(before) else None


def outlook_notice(execution: Execution, job: Job, outlook: Outlook, event: Event) -> Notice:
    """The notice of a change that a deadline check found. Its id contains the check, so a repetition is a duplicate."""
    assert execution.check_at is not None
    median, p95 = local_time(outlook.median_end, job), local_time(outlook.p95_end, job)
    latest_start = outlook.latest_safe_start
    lines = [
        ("Probability of meeting the deadline", f"{outlook.probability:.0%}"),
        ("Expected end", f"{median} (median), {p95} (95th percentile)"),
        ("Latest safe start", local_time(latest_start, job) if latest_start else None),
    ]
    return execution_notice(
        execution,
        job,
        event,
        _TITLES[event],
        at=outlook.checked_at,
        cause=outlook.cause,
        remedy=outlook.remedy,
        lines=lines,
        facts=_facts(execution, outlook),
        id_suffix=_id_suffix(event, to_text(execution.check_at)),
    )


def deadline_end_notice(execution: Execution, job: Job) -> Notice | None:
    """The notice of an ended execution: recovered, or missed unless that was reported before; else ``None``."""
    outlook = execution.outlook
    event = _event_at_end(execution, outlook.state if outlook else DeadlineState.ON_TRACK)
    if event is None or execution.ended_at is None or execution.deadline_at is None:
        return None
    remedy = None
    if event is Event.RECOVERED:
        cause = f"succeeded {format_duration(execution.deadline_at - execution.ended_at)} before its deadline"
    elif execution.status is Status.SUCCEEDED:
        cause = f"succeeded {format_duration(execution.ended_at - execution.deadline_at)} after its deadline"
        remedy = "schedule it earlier, reduce its work, or set a later deadline"
    else:
        cause = f"ended as {execution.status}" + (f": {ending}" if (ending := cause_of_end(execution)) else "")
        remedy = remedy_of_end(execution)
    return execution_notice(
        execution,
        job,
        event,
        _TITLES[event],
        at=execution.ended_at,
        cause=cause,
        remedy=remedy,
        facts=_facts(execution, outlook),
        id_suffix=_id_suffix(event, "end"),
    )


def _event_at_end(execution: Execution, state: DeadlineState) -> Event | None:
    if execution.deadline_at is None or execution.ended_at is None or state is DeadlineState.MISSED:
        return None
    if execution.status is Status.SUCCEEDED and execution.ended_at <= execution.deadline_at:
        return Event.RECOVERED if state in IN_DANGER else None
    return None if execution.status in WITHOUT_OUTCOME else Event.DEADLINE_MISSED


def _id_suffix(event: Event, origin: str) -> str:
    """Nothing for a missed deadline, which is missed once: a check and the end of the execution share the id."""
    return "" if event is Event.DEADLINE_MISSED else f"#{origin}"


def _facts(execution: Execution, outlook: Outlook | None) -> dict[str, Any]:
    assert execution.deadline_at is not None
    return {
        "deadline_at": to_text(execution.deadline_at),
        "status": str(execution.status),
        "state": str(outlook.state) if outlook else None,
        "probability": round(outlook.probability, 4) if outlook else None,
        "median_end": to_text(outlook.median_end) if outlook else None,
        "p95_end": to_text(outlook.p95_end) if outlook else None,
    }
