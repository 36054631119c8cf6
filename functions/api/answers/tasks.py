"""Response models of ``/tasks``, ``/calendars``, ``/me`` and ``/config``."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import BaseModel, Field

from answers.page import CountedPage
from punctual.domain.lane import Lane
from punctual.domain.requests.caller import Action, Role


class TaskUsage(BaseModel):
    """The use of a task by live jobs."""

    live_jobs: int
    outcomes: dict[str, int] = Field(description="Of the last 20 ended executions of each of these jobs, by status.")
    last_ended_at: str | None = Field(description="When the last one of these executions ended.")


class Task(BaseModel):
    name: str
    description: str | None = Field(description="The first paragraph of the docstring of its function.")
    parameters: dict[str, Any] | None = Field(description="The JSON Schema of its parameters; null: not validated.")
    has_collect_step: bool = Field(description="Whether a partitioned job can combine the results of its partitions.")
    lane: Lane | None = Field(
        description="`long` if it has a collect step, which only the long lane runs; null: runs in both lanes."
    )
    file: str | None = Field(description="The module that defines it; null if no module does.")
    is_available: bool = Field(description="False if its module cannot be imported, or no module registers it.")
    reason: str | None = Field(description="Why it is not available: file, line, cause and fix.")
    usage: TaskUsage | None = Field(description="Only with `usage=true`.")


class BrokenModule(BaseModel):
    """A module that cannot be imported: its tasks are unavailable."""

    module: str
    reason: str = Field(description="File, line, cause and fix.")


class Tasks(CountedPage):
    items: list[Task] = Field(description="In alphabetical order, including unavailable tasks.")
    unavailable: list[BrokenModule]
    usage_is_exact: bool | None = Field(
        description="False if there are more live jobs than the newest 500, which `usage` regards. Null without it."
    )


class NamedCalendar(BaseModel):
    """Dates that a schedule can name in `skip`."""

    name: str
    dates: list[date] = Field(description="In order; empty for `weekends`.")
    file: str | None = Field(description="The module that defines it; null: built in.")


class NamedCalendars(CountedPage):
    items: list[NamedCalendar] = Field(description="In alphabetical order.")


class Team(BaseModel):
    """A team that the caller acts for."""

    name: str
    role: Role | None = Field(description="The caller's role in this team.")


class Me(BaseModel):
    subject: str
    role: Role | None = Field(description="The highest role of the caller; null: none, and every request is refused.")
    teams: list[Team] = Field(description="The caller's teams, in alphabetical order.")
    actions: list[Action] = Field(
        description="What the highest role permits; without a team, neither submitting nor managing own jobs."
    )


class Config(BaseModel):
    """What a client needs to sign a person in with an authorization code and PKCE."""

    stage: str
    issuer: str = Field(description="The issuer of the tokens; OpenID discovery is below it.")
    client_id: str
    sign_in_url: str = Field(description="The address of the sign-in page; empty: the origin of the API itself.")
