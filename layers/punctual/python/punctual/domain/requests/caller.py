"""The authenticated caller: subject, team and role. All come from the token, never from the request body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from punctual.domain.errors import Forbidden
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

TEAM_PREFIX = "team:"


class Role(StrEnum):
    """What a caller may do. Each role includes the permissions of the roles before it."""

    VIEWER = "viewer"
    """Read every job and execution."""

    OPERATOR = "operator"
    """Submit jobs, and manage the jobs of the caller's own team."""

    ADMIN = "admin"
    """Manage the jobs of all teams."""


_RANKS = list(Role)


@dataclass(frozen=True)
class Caller:
    subject: str
    owner: str
    """The team that owns the jobs which the caller submits: the caller's subject if they have no team."""
    role: Role | None

    def require_role(self, least: Role) -> None:
        """Raise ``Forbidden`` if the caller's role is lower than ``least``."""
        if self.role is None:
            raise Forbidden(f"you have no role: ask an administrator to add you to one of {', '.join(Role)}")
        if _RANKS.index(self.role) < _RANKS.index(least):
            raise Forbidden(f"this requires the role {least}; yours is {self.role}")

    def require_can_manage(self, job: Job | Execution) -> None:
        """Raise ``Forbidden`` unless the caller may change ``job``, or the job of the given execution."""
        self.require_role(Role.OPERATOR)
        if self.role is not Role.ADMIN and job.owner != self.owner:
            raise Forbidden(f"job {job.job_id!r} belongs to {job.owner!r}; you can manage only jobs of {self.owner!r}")


def caller_of(subject: str, groups: Iterable[str]) -> Caller:
    """Build the caller from a token's subject and groups: the highest role, and the alphabetically first team."""
    groups = set(groups)
    roles = [role for role in Role if role in groups]
    teams = sorted(group.removeprefix(TEAM_PREFIX) for group in groups if group.startswith(TEAM_PREFIX))
    teams = [team for team in teams if team]
    return Caller(subject, teams[0] if teams else subject, roles[-1] if roles else None)
