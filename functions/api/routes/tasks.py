"""``/tasks``, ``/calendars``, ``/me`` and ``/config``: what a client needs to know before it submits."""

from __future__ import annotations

from typing import Annotated

from answers.tasks import Config, Me, NamedCalendars, Tasks, Team
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from openapi import openapi_responses
from services import authorize, caller_of_request, catalog, settings, task_usage
from views.tasks import calendars_view, tasks_view

router = APIGatewayHttpRouter()


UsageQuery = Annotated[
    bool, Query(description="Also return how live jobs use each task, and the tasks that they use but no module has.")
]


@router.get("/tasks", summary="List the tasks", tags=["tasks"], responses=openapi_responses(Tasks))
def list_tasks(usage: UsageQuery = False) -> Tasks:
    """Without `usage`, this reads no table: tasks are deployed with the function."""
    authorize(router)
    return tasks_view(catalog, task_usage.read() if usage else None)


@router.get(
    "/calendars",
    summary="List the calendars that a schedule can skip",
    tags=["schedules"],
    responses=openapi_responses(NamedCalendars),
)
def list_calendars() -> NamedCalendars:
    """Reads no table: calendars are deployed with the function. A job keeps the dates as of its submission."""
    authorize(router)
    return calendars_view(catalog)


@router.get(
    "/me",
    summary="Get the caller's role, teams and permitted actions",
    tags=["about"],
    responses=openapi_responses(Me),
)
def get_me() -> Me:
    """Answers callers without a role, too."""
    me = caller_of_request(router)
    teams = [Team(name=team, role=me.role) for team in me.teams]
    return Me(subject=me.subject, role=me.role, teams=teams, actions=me.actions)


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
