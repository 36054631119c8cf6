"""Who calls, for which team, and what they may do. All of it comes from their token, none from what they send."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from punctual.domain.errors import Forbidden
from punctual.domain.executions.execution import Execution
from punctual.domain.jobs.job import Job

TEAM_PREFIX = "team:"


class Role(StrEnum):
    """What a person may do; each role may do what those before it may."""

    VIEWER = "viewer"
    """See every job and execution."""

    OPERATOR = "operator"
    """Submit jobs, and manage those of the own team."""

    ADMIN = "admin"
    """Manage everybody's jobs."""


_RANKS = list(Role)


@dataclass(frozen=True)
class Caller:
    subject: str
    owner: str
    """The team that what they submit belongs to; a person without a team stands for themselves."""
    role: Role | None

    def must_be(self, least: Role) -> None:
        """Raises ``Forbidden`` for a lesser role."""
        if self.role is None:
            raise Forbidden(f"you have no role: ask to be added to one of {', '.join(Role)}")
        if _RANKS.index(self.role) < _RANKS.index(least):
            raise Forbidden(f"this needs the role {least}; yours is {self.role}")

    def must_manage(self, job: Job | Execution) -> None:
        """Raises ``Forbidden`` unless the caller may change ``job``, or the one that an execution is of."""
        self.must_be(Role.OPERATOR)
        if self.role is not Role.ADMIN and job.owner != self.owner:
            raise Forbidden(f"job {job.job_id!r} belongs to {job.owner!r}; you manage those of {self.owner!r}")


def caller_of(subject: str, groups: Iterable[str]) -> Caller:
    """From a token's subject and groups: the highest role counts, and the first team in the order of the alphabet."""
    groups = set(groups)
    roles = [role for role in Role if role in groups]
    teams = sorted(group.removeprefix(TEAM_PREFIX) for group in groups if group.startswith(TEAM_PREFIX))
    return Caller(subject, teams[0] if teams else subject, roles[-1] if roles else None)
