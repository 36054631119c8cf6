"""The authenticated caller: subject, teams and role. All come from the token, never from the request body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Forbidden, Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

TEAM_PREFIX = "team:"


class Role(StrEnum):
    """What a caller may do. Each role includes the permissions of the roles before it."""

    VIEWER = "viewer"
    """Read every job and execution."""

    OPERATOR = "operator"
    """Submit jobs, and manage the jobs of the caller's own teams."""

    ADMIN = "admin"
    """Manage the jobs of all teams."""


class Action(StrEnum):
    """What a role permits."""

    READ = "read"
    """Read every job and execution."""
    SUBMIT = "submit"
    """Submit jobs for the caller's own teams."""
    MANAGE_OWN = "manage_own"
    """Edit, run, pause, cancel and retry the jobs of the caller's own teams."""
    MANAGE_ALL = "manage_all"
    """The same for the jobs of all teams."""


_RANKS = list(Role)
_PERMITTED = {
    Role.VIEWER: [Action.READ],
    Role.OPERATOR: [Action.READ, Action.SUBMIT, Action.MANAGE_OWN],
    Role.ADMIN: list(Action),
}


def actions_of(role: Role | None) -> list[Action]:
    """Return what ``role`` permits: nothing without a role."""
    return _PERMITTED[role] if role else []


@dataclass(frozen=True)
class Caller:
    subject: str
    owners: tuple[str, ...]
    """The owners that the caller acts for: the caller's teams in alphabetical order, or the subject without a team."""
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
        if self.role is not Role.ADMIN and job.owner not in self.owners:
            own = " and ".join(map(repr, self.owners))
            raise Forbidden(f"job {job.job_id!r} belongs to {job.owner!r}; you can manage only jobs of {own}")

    def require_can_transfer(self, job: Job, owner: str) -> None:
        """Raise ``Forbidden`` unless the caller may change ``job``, and submit jobs for its new ``owner``."""
        self.require_can_manage(job)
        if self.role is not Role.ADMIN and owner not in self.owners:
            own = " and ".join(map(repr, self.owners))
            raise Forbidden(f"a transfer requires an operator of both teams, or an admin; you can act only for {own}")

    def owner_of(self, submission: Mapping[str, Any]) -> str:
        """Return the owner of a submitted job. Raises ``Invalid`` if it is not unique, or not one of the caller's."""
        known, owner = ", ".join(self.owners), submission.get("owner")
        if owner is None:
            if len(self.owners) > 1:
                raise Invalid("owner", f"is required, because you are in several teams: give one of {known}")
            return self.owners[0]
        if owner not in self.owners:
            raise Invalid("owner", f"you can submit jobs only for {known}: give one of them, or omit owner")
        return str(owner)


def caller_of(subject: str, groups: Iterable[str]) -> Caller:
    """Build the caller from a token's subject and groups: the highest role, and all teams."""
    groups = set(groups)
    roles = [role for role in Role if role in groups]
    teams = sorted(group.removeprefix(TEAM_PREFIX) for group in groups if group.startswith(TEAM_PREFIX))
    return Caller(subject, tuple(filter(None, teams)) or (subject,), roles[-1] if roles else None)
