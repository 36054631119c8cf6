"""``/tasks``, ``/calendars``, ``/me`` and ``/config``: what a client needs to know before it submits."""

from __future__ import annotations

from answers.tasks import BrokenModule, Config, Me, NamedCalendar, NamedCalendars, Task, Tasks
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, caller_in, catalog, settings

from punctual.domain.requests.caller import actions_of
from punctual.domain.schedules.calendar import WEEKENDS

router = APIGatewayHttpRouter()


@router.get("/tasks", summary="List the registered tasks", tags=["tasks"], responses=openapi_responses(Tasks))
def list_tasks() -> Tasks:
    """Reads no table: tasks are deployed with the function."""
    authorize(router)
    return Tasks(
        items=[
            Task(
                name=task.name,
                description=task.description,
                parameters=dict(task.parameters) if task.parameters is not None else None,
                has_collect_step=catalog.collects(task.name),
                file=task.file,
            )
            for task in catalog.tasks
        ],
        unavailable=[BrokenModule(module=one.name, reason=str(one)) for one in catalog.broken],
    )


@router.get(
    "/calendars",
    summary="List the calendars that a schedule can skip",
    tags=["schedules"],
    responses=openapi_responses(NamedCalendars),
)
def list_calendars() -> NamedCalendars:
    """Reads no table: calendars are deployed with the function. A job keeps the dates as of its submission."""
    authorize(router)
    declared = [
        NamedCalendar(name=one.name, dates=sorted(one.dates), file=one.file) for one in catalog.declared_calendars
    ]
    built_in = NamedCalendar(name=WEEKENDS, dates=[], file=None)
    return NamedCalendars(items=sorted([*declared, built_in], key=lambda one: one.name))


@router.get(
    "/me", summary="Get the caller's role, teams and permitted actions", tags=["about"], responses=openapi_responses(Me)
)
def get_me() -> Me:
    """Answers callers without a role, too."""
    me = caller_in(router)
    return Me(subject=me.subject, role=me.role, teams=list(me.owners), actions=actions_of(me.role))


@router.get(
    "/config",
    summary="Get what a client needs to sign in",
    tags=["about"],
    responses=openapi_responses(Config, is_open=True),
)
def get_config() -> Config:
    return Config(
        stage=settings.punctual_stage,
        issuer=settings.issuer,
        client_id=settings.sign_in_client_id,
        sign_in_url=settings.sign_in_url,
    )
