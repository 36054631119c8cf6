"""The authenticated caller: subject, teams and role. All come from the token, never from the request body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Forbidden, Invalid
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

TEAM_PREFIX = "team:"
TEAM = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
"""The name of a team. It has no character that separates it from something else in a key or a token."""
TEAM_GROUP = re.compile(TEAM_PREFIX + TEAM)
GROUP = re.compile(r"[^\s,\[\]\"'\\]+")
"""A group whose name could not be mistaken for several groups, or for a part of a list."""


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


@dataclass(frozen=True)
class Caller:
    subject: str
    teams: tuple[str, ...]
    """The teams that the caller acts for, in alphabetical order. Only teams own jobs; a subject is never an owner."""
    role: Role | None

    @property
    def actions(self) -> list[Action]:
        """What the role permits: nothing without a role, and nothing for own teams without a team."""
        permitted = _PERMITTED[self.role] if self.role else []
        return [one for one in permitted if self.teams or one not in (Action.SUBMIT, Action.MANAGE_OWN)]

    @property
    def named_teams(self) -> str:
        return " and ".join(map(repr, self.teams)) or "no team"

    def acts_for(self, team: str) -> bool:
        """Whether the caller may use the permissions of its role for the jobs of ``team``."""
        return self.role is Role.ADMIN or team in self.teams

    def require_role(self, least: Role) -> None:
        """Raise ``Forbidden`` if the caller's role is lower than ``least``."""
        if self.role is None:
            raise Forbidden(f"you have no role: ask an administrator to add you to one of {', '.join(Role)}")
        if _RANKS.index(self.role) < _RANKS.index(least):
            raise Forbidden(f"this requires the role {least}; yours is {self.role}")

    def require_can_manage(self, job: Job | Execution) -> None:
        """Raise ``Forbidden`` unless the caller may change ``job``, or the job of the given execution."""
        self.require_role(Role.OPERATOR)
        if not self.acts_for(job.owner):
            message = f"job {job.job_id!r} belongs to {job.owner!r}; you can manage only jobs of {self.named_teams}"
            raise Forbidden(message)

    def require_can_transfer(self, job: Job, owner: str) -> None:
        """Raise ``Forbidden`` unless the caller may change ``job``, and submit jobs for its new ``owner``."""
        self.require_can_manage(job)
        if not self.acts_for(owner):
            message = "a transfer requires an operator of both teams, or an admin"
            raise Forbidden(f"{message}; you can act only for {self.named_teams}")

    def owner_of(self, submission: Mapping[str, Any]) -> str:
        """Return the owner of a submitted job.

        Raises ``Forbidden`` if the caller is in no team, and ``Invalid`` if the owner is not unique, or not one of the
        caller's teams.
        """
        if not self.teams:
            raise Forbidden("you are in no team, and a job belongs to a team: ask an administrator to add you to one")
        known, owner = ", ".join(self.teams), submission.get("owner")
        if owner is None:
            if len(self.teams) > 1:
                raise Invalid("owner", f"is required, because you are in several teams: give one of {known}")
            return self.teams[0]
        if owner not in self.teams:
            raise Invalid("owner", f"you can submit jobs only for {known}: give one of them, or omit owner")
        return str(owner)


def caller_in(claims: Mapping[str, Any]) -> Caller:
    """Return the caller that a verified token names. Raises ``Forbidden`` unless every part of it is clear."""
    if claims.get("token_use") != "access":
        raise Forbidden("this is no access token: send the access token of the sign-in, not its id token")
    subject = claims.get("username")
    if not isinstance(subject, str) or not subject:
        raise Forbidden("the token names no user: sign in as a user of the pool")
    return caller_of(subject, _groups_in(claims.get("cognito:groups")))


def caller_of(subject: str, groups: Iterable[str]) -> Caller:
    """Build the caller from a subject and its groups: the highest role, and all teams. Raises ``Forbidden``."""
    groups = set(groups)
    for group in groups:
        if not GROUP.fullmatch(group) or (group.startswith(TEAM_PREFIX) and not TEAM_GROUP.fullmatch(group)):
            raise Forbidden(
                f"your group {group!r} is not clear: ask an administrator to remove you from it. The name of a team is "
                "up to 64 letters, digits, dots, hyphens and underscores, in a group team:<name>"
            )
    roles = [role for role in Role if role in groups]
    teams = sorted(group.removeprefix(TEAM_PREFIX) for group in groups if group.startswith(TEAM_PREFIX))
    return Caller(subject, tuple(teams), roles[-1] if roles else None)


def _groups_in(claim: Any) -> list[str]:
    """Parse the groups: API Gateway turns the list in the token into text such as ``[admin team:a]``."""
    if claim is None:
        return []
    if not isinstance(claim, str) or not (claim.startswith("[") and claim.endswith("]")):
        raise Forbidden("the groups in the token cannot be read: sign in again")
    inner = claim[1:-1]
    return inner.split(" ") if inner else []
