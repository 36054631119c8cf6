"""Notices about deadlines: in danger, missed, or on track again."""

from __future__ import annotations

from datetime import datetime

from punctual.domain.executions.deadline_outlook import IN_DANGER, DeadlineState, Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT_RULE, Event
from punctual.domain.notices.notice import Notice, format_duration
from punctual.domain.status import WITHOUT_OUTCOME, Status

_TITLES = {
    Event.DEADLINE_AT_RISK: "may miss its deadline",
    Event.WILL_MISS: "will most likely miss its deadline",
    Event.MISSED: "has missed its deadline",
    Event.RECOVERED: "is on track again",
}
_EVENTS = {
    DeadlineState.AT_RISK: Event.DEADLINE_AT_RISK,
    DeadlineState.WILL_MISS: Event.WILL_MISS,
    DeadlineState.MISSED: Event.MISSED,
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
    lines: list[tuple[str, str | None]] = [
        ("Cause", outlook.cause),
        ("Remedy", outlook.remedy),
        ("Probability of meeting the deadline", f"{outlook.probability:.0%}"),
        ("Expected end", f"{to_text(outlook.median_end)} (median), {to_text(outlook.p95_end)} (95th percentile)"),
        ("Latest safe start", to_text(outlook.latest_safe_start) if outlook.latest_safe_start else None),
    ]
    return _notice(
        execution, job, event, outlook, at=outlook.checked_at, id_suffix=to_text(execution.check_at), lines=lines
    )


def deadline_end_notice(execution: Execution, job: Job) -> Notice | None:
    """The notice of an ended execution: recovered, or missed unless that was reported before; else ``None``."""
    outlook = execution.outlook
    event = _event_at_end(execution, outlook.state if outlook else DeadlineState.ON_TRACK)
    if event is None or execution.ended_at is None or execution.deadline_at is None:
        return None
    if event is Event.RECOVERED:
        cause = f"succeeded {format_duration(execution.deadline_at - execution.ended_at)} before its deadline"
    elif execution.status is Status.SUCCEEDED:
        cause = f"succeeded {format_duration(execution.ended_at - execution.deadline_at)} after its deadline"
    else:
        cause = f"ended as {execution.status}" + (f": {execution.reason}" if execution.reason else "")
    return _notice(execution, job, event, outlook, at=execution.ended_at, id_suffix="end", lines=[("Cause", cause)])


def _event_at_end(execution: Execution, state: DeadlineState) -> Event | None:
    if execution.deadline_at is None or execution.ended_at is None or state is DeadlineState.MISSED:
        return None
    if execution.status is Status.SUCCEEDED and execution.ended_at <= execution.deadline_at:
        return Event.RECOVERED if state in IN_DANGER else None
    return None if execution.status in WITHOUT_OUTCOME else Event.MISSED


def _notice(
    execution: Execution,
    job: Job,
    event: Event,
    outlook: Outlook | None,
    *,
    at: datetime,
    id_suffix: str,
    lines: list[tuple[str, str | None]],
) -> Notice:
    assert execution.deadline_at is not None
    title = f"{job.name} {_TITLES[event]}"
    always = [
        ("Deadline", to_text(execution.deadline_at)),
        ("Due", to_text(execution.scheduled_at)),
        ("Started", to_text(execution.started_at) if execution.started_at else None),
        ("Owner", execution.owner),
        ("Execution", execution.execution_id),
    ]
    shown = [(name, text) for name, text in [*lines, *always] if text]
    return Notice(
        # a deadline is missed once: a check and the end of the execution share the id
        id=f"{execution.execution_id}#{event}" + ("" if event is Event.MISSED else f"#{id_suffix}"),
        event=event,
        at=at,
        job_id=execution.job_id,
        job_name=job.name,
        owner=execution.owner,
        execution_id=execution.execution_id,
        to=(job.notify or DEFAULT_RULE).to,
        title=title,
        text=f"{title}\n\n" + "\n".join(f"{name}: {text}" for name, text in shown),
        facts={
            "deadline_at": to_text(execution.deadline_at),
            "status": str(execution.status),
            "state": str(outlook.state) if outlook else None,
            "cause": dict(shown).get("Cause"),
            "remedy": outlook.remedy if outlook else None,
            "probability": round(outlook.probability, 4) if outlook else None,
            "median_end": to_text(outlook.median_end) if outlook else None,
            "p95_end": to_text(outlook.p95_end) if outlook else None,
        },
    )
