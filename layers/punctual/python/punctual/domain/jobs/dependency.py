"""What a job waits for: other jobs, each until it has ended in a certain way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from punctual.domain.errors import Invalid
from punctual.domain.status import Status

MOST_UPSTREAMS = 100
"""Of one job. A job that only waits for others, and does nothing, gathers more."""


class Condition(StrEnum):
    """How an upstream has to end."""

    SUCCEEDED = "succeeded"
    FINISHED = "finished"
    """It ran to its end, whichever: succeeded, failed or timed out."""
    FAILED = "failed"
    """It failed or timed out: for what cleans up, or tells somebody."""

    def is_met_by(self, status: Status) -> bool:
        return status in _MEETING[self]


_FAILURES = frozenset({Status.FAILED, Status.TIMED_OUT})
_MEETING = {
    Condition.SUCCEEDED: frozenset({Status.SUCCEEDED}),
    Condition.FINISHED: _FAILURES | {Status.SUCCEEDED},
    Condition.FAILED: _FAILURES,
}


@dataclass(frozen=True)
class Dependency:
    """One upstream: the id of its job, or in a batch that is being submitted the name of another job of it."""

    job: str
    condition: Condition = Condition.SUCCEEDED

    def to_spec(self) -> dict[str, Any]:
        return {"job": self.job, "condition": str(self.condition)}


def parse_dependencies(specs: Iterable[Mapping[str, Any]] | None) -> tuple[Dependency, ...]:
    """From the API's form. Raises ``Invalid`` that names the field."""
    found: dict[str, Dependency] = {}
    for number, spec in enumerate(specs or ()):
        job = spec["job"]
        if job in found:
            raise Invalid(f"depends_on.{number}.job", f"{job!r} is there twice: keep one, with the condition you mean")
        found[job] = Dependency(job, Condition(spec.get("condition", Condition.SUCCEEDED)))
    if len(found) > MOST_UPSTREAMS:
        message = f"has {len(found)} jobs, the limit is {MOST_UPSTREAMS}: gather some of them in a job between"
        raise Invalid("depends_on", message)
    return tuple(found.values())
