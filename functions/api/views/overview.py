"""Convert what the overview shows to its response models."""

from __future__ import annotations

from collections.abc import Iterable

from answers import overview as answers

from punctual.domain.attention.acknowledgement import Acknowledgement, AttentionState
from punctual.domain.executions.execution import Execution
from punctual.domain.instant import to_text
from punctual.ports.attention import RaisedAlarm
from punctual.stages.api.agenda import Late
from punctual.stages.api.attention import Attention
from punctual.stages.api.today import Today
from views import deadline_view
from views.instants import text_of


def attention_answer(item_id: str, one: Acknowledgement | None) -> answers.AttentionAnswer:
    return answers.AttentionAnswer(id=item_id, state=_state(one), acknowledgement=_acknowledgement_view(one))


def attention_views(found: Iterable[Attention]) -> list[answers.AttentionItem]:
    return [_attention_view(one) for one in found]


def _attention_view(attention: Attention) -> answers.AttentionItem:
    item = attention.item
    return answers.AttentionItem(
        id=item.id,
        kind=item.kind,
        subject=answers.Subject(
            type=item.type,
            id=item.subject,
            job_name=item.job_name,
            timezone=item.execution.timezone if item.execution else None,
            owner=item.owner,
        ),
        deadline=deadline_view(item.execution, item.execution.outlook) if item.execution else None,
        cause=item.cause,
        remedy=item.remedy,
        since=to_text(item.since) if item.since else None,
        state=_state(attention.acknowledgement),
        acknowledgement=_acknowledgement_view(attention.acknowledgement),
    )


def _state(one: Acknowledgement | None) -> AttentionState:
    return one.state if one else AttentionState.OPEN


def _acknowledgement_view(one: Acknowledgement | None) -> answers.Acknowledgement | None:
    if one is None:
        return None
    return answers.Acknowledgement(by=one.by, at=to_text(one.at), until=to_text(one.until), note=one.note)


def due_views(executions: Iterable[Execution]) -> list[answers.DueExecution]:
    return [
        answers.DueExecution(
            execution_id=one.execution_id,
            job_id=one.job_id,
            job_name=one.job_name,
            owner=one.owner,
            task=one.task,
            status=one.status,
            reason=one.reason,
            scheduled_at=to_text(one.scheduled_at),
            timezone=one.timezone,
            earliest_start=to_text(one.earliest_start),
            deadline=deadline_view(one, one.outlook),
        )
        for one in executions
    ]


def late_view(late: Late) -> answers.LateExecutions:
    since = late.examined_since
    return answers.LateExecutions(items=due_views(late.items), examined_since=to_text(since) if since else None)


def failed_view(today: Today, latest: Iterable[Execution]) -> answers.FailedToday:
    items = [
        answers.FailedExecution(
            execution_id=one.execution_id,
            job_id=one.job_id,
            job_name=one.job_name,
            owner=one.owner,
            task=one.task,
            status=one.status,
            reason=one.reason,
            scheduled_at=to_text(one.scheduled_at),
            timezone=one.timezone,
            ended_at=text_of(one.ended_at),
        )
        for one in latest
    ]
    return answers.FailedToday(since=to_text(today.since), count=today.failed, items=items)


def alarm_views(raised: Iterable[RaisedAlarm] | None) -> list[answers.RaisedAlarm] | None:
    if raised is None:
        return None
    return [
        answers.RaisedAlarm(name=one.name, description=one.description, reason=one.reason, since=to_text(one.since))
        for one in raised
    ]
