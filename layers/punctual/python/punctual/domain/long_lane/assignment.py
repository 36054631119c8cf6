"""An assignment: identifies one attempt of one part, and authenticates the container that runs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from punctual.domain.errors import Unreadable
from punctual.domain.long_lane.part import Part

VARIABLE = "PUNCTUAL_ASSIGNMENT"
"""The environment variable of a container that contains its assignment."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    job_id: str
    execution_id: str
    part: str
    attempt: int
    key: str
    """A secret of this attempt's container. With it, the container can report for this attempt and no other."""

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    def matches(self, part: Part | None) -> bool:
        """Whether ``part`` is still at the assigned attempt."""
        return part is not None and part.attempt == self.attempt and part.key == self.key


def assignment_of(part: Part) -> Assignment:
    return Assignment(
        job_id=part.job_id,
        execution_id=part.execution_id,
        part=part.name,
        attempt=part.attempt,
        key=part.key or "",
    )


def assignment_and_token_of(task: Mapping[str, Any]) -> tuple[Assignment | None, str]:
    """The assignment and task token in the environment of an ECS task; ``None`` for a task of another origin."""
    overrides = (task.get("overrides") or {}).get("containerOverrides") or ()
    given = {one["name"]: one["value"] for override in overrides for one in override.get("environment") or ()}
    try:
        return assignment_in(given), given.get("PUNCTUAL_TASK_TOKEN", "")
    except Unreadable:
        return None, ""


def assignment_in(environment: Mapping[str, str]) -> Assignment:
    """Parse the assignment in the environment variables of a container. Raises ``Unreadable`` if there is none."""
    return read_assignment(environment.get(VARIABLE, ""))


def read_assignment(payload: str | Mapping[str, Any]) -> Assignment:
    """Parse an assignment. Raises ``Unreadable`` if it is not one."""
    try:
        fields = json.loads(payload) if isinstance(payload, str) else payload
        return Assignment(
            job_id=str(fields["job_id"]),
            execution_id=str(fields["execution_id"]),
            part=str(fields["part"]),
            attempt=int(fields["attempt"]),
            key=str(fields["key"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise Unreadable(f"not an assignment: {type(error).__name__}: {error}") from error
