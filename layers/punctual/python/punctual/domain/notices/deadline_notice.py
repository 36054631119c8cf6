"""What the people of a job are told of its deadlines."""

from __future__ import annotations

from datetime import datetime

from punctual.domain.executions.deadline_outlook import IN_DANGER, DeadlineState, Outlook
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.domain.jobs.job import Job
from punctual.domain.jobs.notify_rule import DEFAULT, Event
from punctual.domain.notices.notice import Notice, spelled
from punctual.domain.status import WITHOUT_A_RUN, Status

_TITLES = {
    Event.DEADLINE_AT_RISK: "may miss its deadline",
    Event.WILL_MISS: "will most likely miss its deadline",
    Event.MISSED: "has missed its deadline",
    Event.RECOVERED: "is on track again",
}
_WORSE = {
    DeadlineState.AT_RISK: Event.DEADLINE_AT_RISK,
    DeadlineState.WILL_MISS: Event.WILL_MISS,
    DeadlineState.MISSED: Event.MISSED,
}
_ORDER = list(DeadlineState)


def event_between(before: DeadlineState, after: DeadlineState) -> Event | None:
    """What there is to tell of a change. From bad to less bad there is nothing: the danger is not over."""
    if after is DeadlineState.ON_TRACK:
        return Event.RECOVERED if before in IN_DANGER else None
    return _WORSE[after] if _ORDER.index(after) > _ORDER.index(before) else None


def danger_notice(execution: Execution, job: Job, outlook: Outlook, event: Event) -> Notice:
    """Of a change that a look found. Its id is that of the look, so whoever looks twice tells once."""
    assert execution.check_at is not None
    lines: list[tuple[str, str | None]] = [
        ("Cause", outlook.cause),
        ("What would help", outlook.remedy),
        ("Probability of making it", f"{outlook.probability:.0%}"),
        ("Expected end", f"{to_text(outlook.median_end)}, by {to_text(outlook.p95_end)} in 19 of 20 cases"),
        ("Latest safe start", to_text(outlook.latest_safe_start) if outlook.latest_safe_start else None),
    ]
    return _notice(execution, job, event, outlook, at=outlook.checked_at, mark=to_text(execution.check_at), lines=lines)


def ending_notice(execution: Execution, job: Job) -> Notice | None:
    """Of a deadline whose execution has ended: made after all, or missed, if that was not told before."""
    outlook = execution.outlook
    event = _event_at_end(execution, outlook.state if outlook else DeadlineState.ON_TRACK)
    if event is None or execution.ended_at is None or execution.deadline_at is None:
        return None
    if event is Event.RECOVERED:
        cause = f"it has succeeded, {spelled(execution.deadline_at - execution.ended_at)} before its deadline"
    elif execution.status is Status.SUCCEEDED:
        cause = f"it succeeded {spelled(execution.ended_at - execution.deadline_at)} too late"
    else:
        cause = f"it ended as {execution.status}" + (f": {execution.reason}" if execution.reason else "")
    return _notice(execution, job, event, outlook, at=execution.ended_at, mark="end", lines=[("Cause", cause)])


def _event_at_end(execution: Execution, state: DeadlineState) -> Event | None:
    if execution.deadline_at is None or execution.ended_at is None or state is DeadlineState.MISSED:
        return None
    if execution.status is Status.SUCCEEDED and execution.ended_at <= execution.deadline_at:
        return Event.RECOVERED if state in IN_DANGER else None
    return None if execution.status in WITHOUT_A_RUN else Event.MISSED


def _notice(
    execution: Execution,
    job: Job,
    event: Event,
    outlook: Outlook | None,
    *,
    at: datetime,
    mark: str,
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
    told = [(name, words) for name, words in [*lines, *always] if words]
    return Notice(
        # a deadline is missed once, whoever sees it first
        id=f"{execution.execution_id}#{event}" + ("" if event is Event.MISSED else f"#{mark}"),
        event=event,
        at=at,
        job_id=execution.job_id,
        job_name=job.name,
        owner=execution.owner,
        execution_id=execution.execution_id,
        to=(job.notify or DEFAULT).to,
        title=title,
        text=f"{title}\n\n" + "\n".join(f"{name}: {words}" for name, words in told),
        facts={
            "deadline_at": to_text(execution.deadline_at),
            "status": str(execution.status),
            "state": str(outlook.state) if outlook else None,
            "cause": dict(told).get("Cause"),
            "remedy": outlook.remedy if outlook else None,
            "probability": round(outlook.probability, 4) if outlook else None,
            "median_end": to_text(outlook.median_end) if outlook else None,
            "p95_end": to_text(outlook.p95_end) if outlook else None,
        },
    )
